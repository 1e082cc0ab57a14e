"""One sender broadcasts to two receivers, which may be late for what it says."""

import asyncio
from random import Random

from holdfast import clock, simulate

Pipe = list[asyncio.Queue[tuple[float, str]]]


async def sender(pipe: Pipe, rng: Random) -> None:
    """Say something to each receiver every six to ten minutes."""
    while True:
        await asyncio.sleep(rng.randint(6, 10))
        for end in pipe:
            end.put_nowait((clock(), f"the sender says hello at {clock():.0f}"))


async def receiver(name: str, end: asyncio.Queue[tuple[float, str]], rng: Random) -> None:
    """Take a message, and be busy with it for four to eight minutes."""
    while True:
        sent, text = await end.get()
        late = "late" if sent < clock() else "in time"
        print(f"{clock():.0f} {name} is {late}: {text}")
        await asyncio.sleep(rng.randint(4, 8))


async def company(seed: int, until: float) -> None:
    """Let them talk until that time; each draws from numbers of its own."""
    pipe: Pipe = [asyncio.Queue(), asyncio.Queue()]
    names = [f"receiver {it}" for it in "AB"]
    people = [
        receiver(it, end, Random(f"{seed} {it}")) for it, end in zip(names, pipe, strict=True)
    ]
    tasks = [asyncio.create_task(it) for it in (sender(pipe, Random(seed)), *people)]
    await asyncio.sleep(until)
    for it in tasks:
        it.cancel()


def main(seed: int = 42, until: float = 99.5) -> None:
    """Run the example with this seed, and print what happens."""
    simulate(company(seed, until))


if __name__ == "__main__":
    main()
