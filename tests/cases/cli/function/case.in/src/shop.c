/* A shop. */

int price(int n) {
    int sum = n * 2;
    if (n < 0) return -1;
    return sum;
}

int tax(int n) { return n / 5; }
int main(void) {
    int total = 0;
    for (int i = 0; i < 3; i++) total += price(i) + (i ? 0 : tax(i));

    return total;
}
