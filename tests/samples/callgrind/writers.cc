// Recorded by gperftools: recursion, a circle of two functions, a template, a lambda, two threads.
#include <cstdio>
#include <thread>

volatile unsigned long sink;

namespace box {
template <class T> struct Box {
  T value;
  __attribute__((noinline)) unsigned long operator()(unsigned long n) const {
    unsigned long sum = value;
    for (unsigned long i = 0; i < n; i++)
      sum = sum * 31 + (i ^ sink);
    sink = sum;
    return sum;
  }
};
} // namespace box

__attribute__((noinline)) int fib(int n) {
  if (n < 2) {
    sink++;
    return n;
  }
  int one = fib(n - 1);
  return one + fib(n - 2);
}

__attribute__((noinline)) unsigned long even(int n);

__attribute__((noinline)) unsigned long odd(int n) {
  unsigned long found = n ? even(n - 1) : box::Box<int>{3}(30000000);
  sink += found;
  return found;
}

unsigned long even(int n) {
  unsigned long found = n ? odd(n - 1) : fib(32);
  sink += found;
  return found;
}

__attribute__((noinline)) void work(int rounds) {
  for (int i = 0; i < rounds; i++) {
    even(5);
    odd(5);
    auto local = [](int n) __attribute__((noinline)) { return box::Box<long>{n}(20000000); };
    sink += local(i);
  }
  sink += fib(33);
}

int main() {
  std::thread other([] { work(6); });
  work(4);
  fib(34);
  other.join();
  std::printf("%lu\n", sink);
}
