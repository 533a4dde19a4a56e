function price(n) {
  return n * 2;
}

function main() {
  let total = 0;
  total += price(1);
  return total;
}
