#include <pthread.h>
#include <stdio.h>
unsigned long fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
unsigned long even(unsigned n);
unsigned long odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
unsigned long even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
void *work(void *of) { unsigned long s = 0; for (int i = 0; i < 20000; i++) s += even(400); s += fib(35); return (void *)s; }
int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0); unsigned long s = fib(36); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); printf("%lu\n", s); }
