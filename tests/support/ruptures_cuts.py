"""Answers lines of `PENALTY SHORTEST VALUE...` with lines of cuts, computed by ruptures."""

import sys

import numpy
import ruptures

for line in sys.stdin:
    penalty, shortest, *values = line.split()
    penalty, shortest = float(penalty), int(shortest)
    values = numpy.array(list(map(float, values)))
    search = ruptures.Dynp(model="l2", min_size=shortest, jump=1).fit(values)
    cost = search.cost.sum_of_costs
    best = [len(values)]
    for count in range(1, len(values) // shortest):
        found = search.predict(n_bkps=count)
        if cost(found) + penalty * (len(found) - 1) < cost(best) + penalty * (len(best) - 1):
            best = found
    # Its pruned search may miss the best cuts where segments have a shortest length, and finds none that are better.
    pruned = ruptures.KernelCPD(kernel="linear", min_size=shortest).fit(values).predict(pen=penalty)
    assert cost(best) + penalty * len(best) <= cost(pruned) + penalty * len(pruned) + 1e-9
    print(*best[:-1])
