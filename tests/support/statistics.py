"""Answers lines of `NAME NUMBER...` with lines of numbers, computed by scipy."""

import itertools
import sys

import numpy
from scipy import special, stats

ANSWERS = {
    "normal_above": lambda z: stats.norm.sf(z),
    "student_two_sided": lambda t, df: 2 * stats.t.sf(abs(t), df),
    "chi_square_median": lambda df: stats.chi2.median(df),
    "digamma": lambda x: special.digamma(x),
    "trigamma": lambda x: special.polygamma(1, x),
    "binomial_two_sided": lambda k, n, q: min(1, 2 * min(stats.binom.cdf(k, n, q), stats.binom.sf(k - 1, n, q))),
    "pooled_test": lambda count, *values: stats.ttest_ind(values[int(count) :], values[: int(count)]).pvalue,
    "paired_test": lambda *values: stats.ttest_1samp(values, 0).pvalue,
    "mann_whitney_exact": lambda count, *values: mann_whitney("exact", count, values),
    "mann_whitney_normal": lambda count, *values: mann_whitney("asymptotic", count, values),
    "mann_whitney_counted": lambda count, *values: mann_whitney_counted(int(count), values),
}


def mann_whitney(method, count, values):
    return stats.mannwhitneyu(values[int(count) :], values[: int(count)], method=method).pvalue


def mann_whitney_counted(count, values):
    """Of all choices of as many ranks as base has, the part whose sum is as far from the mean."""
    ranks = stats.rankdata(values)
    mean = count * (len(values) + 1) / 2
    sums = [sum(choice) for choice in itertools.combinations(ranks, count)]
    return sum(abs(other - mean) >= abs(sum(ranks[:count]) - mean) for other in sums) / len(sums)


for line in sys.stdin:
    name, *numbers = line.split()
    print(*map(repr, numpy.atleast_1d(ANSWERS[name](*map(float, numbers))).tolist()))
