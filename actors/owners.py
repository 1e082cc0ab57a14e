"""Availability of workers: streams of (time, new state)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import log

from numpy.random import Generator

from policies.availability import WorkerState
from policies.maths.markov import MarkovChain

Change = tuple[float, WorkerState]

STATES = (WorkerState.UP, WorkerState.RECLAIMED, WorkerState.DOWN)
OTHERS = ((1, 2), (0, 2), (0, 1))
"""By state: the two that can follow."""

FIRST_BLOCK, LARGEST_BLOCK = 8, 1024
"""Random numbers drawn at once: few at first, because most of 100,000 workers need few."""


def markov_changes(
    chain: MarkovChain, rng: Generator, first: WorkerState = WorkerState.UP
) -> Iterator[Change]:
    """A realisation of the chain from slot 0 in state `first` (volatile13, section V.A): (slot, new
    state).

    Sojourns are drawn whole, geometric with the state's probability to stay; slots in which
    nothing changes cost nothing. Ends where a state is never left.
    """
    draws = _uniforms(rng)
    rows = chain.rows
    time, now = 0, STATES.index(first)
    yield time, first
    while (row := rows[now])[now] < 1.0:
        time += _sojourn(row[now], next(draws))
        now = _successor(row, now, next(draws))
        yield time, STATES[now]


def _uniforms(rng: Generator) -> Iterator[float]:
    for doubling in count():
        yield from rng.random(min(FIRST_BLOCK << doubling, LARGEST_BLOCK)).tolist()


def _sojourn(stay: float, draw: float) -> int:
    """Slots in a state: P(more than k) = stay^k, by inversion of 1 - draw, which is never 0."""
    return 1 + int(log(1.0 - draw) / log(stay)) if stay else 1


def _successor(row: tuple[float, float, float], now: int, draw: float) -> int:
    low, high = OTHERS[now]
    return low if draw * (row[low] + row[high]) < row[low] else high
