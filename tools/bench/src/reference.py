"""The same figures by scipy, statsmodels and krippendorff; prints seconds, the fastest of several runs, as JSON."""

import json
import time

import krippendorff
import numpy
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar


def scores(n):
    """The values of the Rust benchmark: 0 to 10."""
    index = numpy.arange(n, dtype=numpy.uint64)
    return ((index * 2654435761 % 2**32) >> 16).astype(float) % 11


def seconds(times, what):
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        what()
        found.append(time.perf_counter() - begun)
    return min(found)


cases = scores(10_000)
ratings = scores(126_000).reshape(-1, 3).T
discordant = [[400_000, 499_000], [501_000, 400_000]]
found = {
    "bootstrap": seconds(5, lambda: stats.bootstrap(
        (cases,), numpy.mean, n_resamples=10_000, batch=100, method="BCa", rng=numpy.random.default_rng(1))),
    "mcnemar": seconds(20, lambda: mcnemar(discordant, exact=True)),
}
for metric in ["nominal", "ordinal", "interval", "ratio"]:
    found[metric] = seconds(
        5, lambda: krippendorff.alpha(reliability_data=ratings, level_of_measurement=metric))
print(json.dumps(found))
