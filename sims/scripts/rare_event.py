"""How likely is what happens once in a million times? Five of ten machines are DOWN at once."""

import asyncio
from math import exp, sqrt
from random import Random

from holdfast import simulate
from matplotlib.figure import Figure

MACHINES, MTBF, REPAIR, TRIALS = 10, 100, 1, 1000


async def climbs(level: int, rng: Random) -> bool:
    """Return whether, with `level` machines DOWN, one more fails before all of them are UP."""
    down, over = level, asyncio.Event()

    async def machine(up: bool) -> None:
        nonlocal down
        while not over.is_set():
            await asyncio.sleep(rng.expovariate(1 / (MTBF if up else REPAIR)))
            down, up = down + (1 if up else -1), not up
            if down in (0, level + 1):
                over.set()

    tasks = [asyncio.create_task(machine(number >= level)) for number in range(MACHINES)]
    await over.wait()
    for task in tasks:
        task.cancel()
    return down > 0


async def shares(rng: Random) -> list[float]:
    """Return the share of trials that climb from 1 to 2 machines, from 2 to 3, and so on to 5."""
    return [sum([await climbs(k, rng) for _ in range(TRIALS)]) / TRIALS for k in range(1, 5)]


steps = simulate(shares(Random(1)))
chance = [1.0]
for step in steps:
    chance.append(chance[-1] * step)
width = exp(1.96 * sqrt(sum((1 - step) / (TRIALS * step) for step in steps)))
low, high = chance[-1] / width, chance[-1] * width
print(f"after a first failure, five are DOWN at once with {chance[-1]:.2g} [{low:.2g}, {high:.2g}]")
figure = Figure(layout="constrained")
axes = figure.subplots()
axes.semilogy(range(1, 6), chance, marker="o")
axes.set(xlabel="machines DOWN at once", ylabel="probability", xticks=range(1, 6))
figure.savefig("rare_event.svg")
