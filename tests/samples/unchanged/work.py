"""A program whose runs differ by nothing but noise."""
import json
import re


def primes(limit):
    found = []
    for number in range(2, limit):
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
    return found


def words(text, times):
    counts = {}
    for _ in range(times):
        for word in re.findall(r"[a-z]+", text):
            counts[word] = counts.get(word, 0) + 1
    return counts


def tree(depth):
    return [tree(depth - 1), tree(depth - 1)] if depth else []


def size(node):
    return 1 + sum(size(child) for child in node)


def encode(rows):
    return json.loads(json.dumps([{"row": row, "square": row * row} for row in range(rows)]))


def main():
    for _ in range(6):
        primes(2500)
        words("the quick brown fox jumps over the lazy dog " * 40, 60)
        size(tree(13))
        encode(9000)


if __name__ == "__main__":
    main()
