"""Mean flowtimes that queueing theory knows exactly: what simulations are held against."""

from __future__ import annotations

import math
from itertools import pairwise

from scipy.integrate import quad

from policies.maths.sizes import (
    BoundedPareto,
    Deterministic,
    Exponential,
    Hyperexponential,
    SizeLaw,
)


def mm1_sharing(arrival_rate: float, mean_size: float) -> float:
    """Mean flowtime of M/G/1 processor sharing, 1/(mu - lambda), whatever the law of sizes; also
    of M/M/1 under first come, first served. ValueError where the load is not below 1."""
    _check(arrival_rate * mean_size)
    return mean_size / (1 - arrival_rate * mean_size)


def pollaczek_khinchine(arrival_rate: float, sizes: SizeLaw) -> float:
    """Mean flowtime of M/G/1, first come, first served."""
    load = arrival_rate * sizes.mean
    _check(load)
    second = 2 * _moment(sizes, math.inf)
    return sizes.mean + arrival_rate * second / (2 * (1 - load))


def erlang_c(arrival_rate: float, mean_size: float, servers: int) -> float:
    """Mean flowtime of M/M/c, first come, first served (Erlang's delay formula)."""
    offered = arrival_rate * mean_size
    _check(offered / servers)
    blocked = 1.0
    for k in range(1, servers + 1):  # Erlang's B, by its recursion: no factorial overflows
        blocked = offered * blocked / (k + offered * blocked)
    load = offered / servers
    waits = blocked / (1 - load * (1 - blocked))
    return mean_size + waits * mean_size / (servers * (1 - load))


def schrage_miller(arrival_rate: float, sizes: SizeLaw) -> float:
    """Mean flowtime of M/G/1 under SRPT (Schrage and Miller, 1966).

    A job of size x waits for the residual work of jobs that are (or have become) smaller, then
    runs at 1/(1 - load of the jobs smaller than what it still lacks).
    """
    _check(arrival_rate * sizes.mean)
    if isinstance(sizes, Deterministic):
        return pollaczek_khinchine(arrival_rate, sizes)

    def load(x: float) -> float:
        """Of jobs smaller than x: lambda (integral of P(X > u) up to x, less x P(X > x))."""
        return arrival_rate * (_below(sizes, x) - x * survival(sizes, x))

    def waiting(x: float) -> float:
        # lambda (m2(x) + x^2 P(X > x)) / 2 is lambda times the integral of u P(X > u).
        return arrival_rate * _moment(sizes, x) / (1 - load(x)) ** 2

    def integrand(x: float) -> float:
        return density(sizes, x) * waiting(x) + survival(sizes, x) / (1 - load(x))

    edges = sorted({0.0, _floor(sizes), _top(sizes)})
    parts = (quad(integrand, *pair, limit=200, epsrel=1e-7)[0] for pair in pairwise(edges))
    return math.fsum(parts)


def survival(sizes: SizeLaw, x: float) -> float:
    """P(a size exceeds x)."""
    match sizes:
        case Exponential(mean=mean):
            return math.exp(-max(x, 0) / mean)
        case Hyperexponential(probabilities=shares, means=means):
            parts = zip(shares, means, strict=True)
            return math.fsum(p * math.exp(-max(x, 0) / mean) for p, mean in parts)
        case BoundedPareto(alpha=alpha, low=low, high=high):
            tail, last = (math.pow(low / min(max(it, low), high), alpha) for it in (x, high))
            return (tail - last) / (1 - last)
    return float(x < sizes.mean)


def density(sizes: SizeLaw, x: float) -> float:
    """Probability density at x; of laws that have one."""
    match sizes:
        case Exponential(mean=mean):
            return math.exp(-x / mean) / mean
        case Hyperexponential(probabilities=shares, means=means):
            parts = zip(shares, means, strict=True)
            return math.fsum(p * math.exp(-x / mean) / mean for p, mean in parts)
        case BoundedPareto(alpha=alpha, low=low, high=high) if low <= x <= high:
            return alpha * math.pow(low / x, alpha) / x / (1 - math.pow(low / high, alpha))
    return 0.0


def _floor(sizes: SizeLaw) -> float:
    """Where the smallest sizes begin: a density may jump there."""
    return sizes.low if isinstance(sizes, BoundedPareto) else 0.0


def _below(sizes: SizeLaw, x: float) -> float:
    """Integral of P(X > u) up to x."""
    floor = min(x, _floor(sizes))
    return floor + float(quad(lambda u: survival(sizes, u), floor, x, limit=200)[0])


def _moment(sizes: SizeLaw, x: float) -> float:
    """Integral of u P(X > u) up to x: half of the second moment where x is infinite."""
    top = min(x, _top(sizes))
    floor = min(top, _floor(sizes))
    rest = quad(lambda u: u * survival(sizes, u), floor, top, limit=200)[0]
    return floor * floor / 2 + float(rest)


def _top(sizes: SizeLaw) -> float:
    """A size that is exceeded with probability below 1e-12."""
    if isinstance(sizes, BoundedPareto):
        return sizes.high
    top = sizes.mean
    while survival(sizes, top) > 1e-12:
        top *= 1.5
    return top


def _check(load: float) -> None:
    if not 0 <= load < 1:
        raise ValueError(f"The queue grows for ever at load {load}.")
