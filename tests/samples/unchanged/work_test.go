package work

import "testing"

func BenchmarkWork(b *testing.B) {
	for i := 0; i < b.N; i++ {
		fib(22)
		words("the quick brown fox jumps over the lazy dog")
		sieve(40000)
	}
}
