package work

import (
	"sort"
	"strings"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func words(text string) []string {
	all := strings.Fields(strings.Repeat(text+" ", 400))
	sort.Strings(all)
	return all
}

func sieve(limit int) int {
	composite := make([]bool, limit)
	count := 0
	for n := 2; n < limit; n++ {
		if composite[n] {
			continue
		}
		count++
		for m := n * n; m < limit; m += n {
			composite[m] = true
		}
	}
	return count
}
