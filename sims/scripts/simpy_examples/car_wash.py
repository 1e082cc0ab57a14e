"""Cars come to a wash that has two machines, and wait where both are taken."""

import asyncio
from itertools import count
from random import Random

from holdfast import clock, simulate


async def car(name: str, machines: asyncio.Semaphore, dirt: int) -> None:
    """Wait for a machine, and use it for five minutes; it removes so many percent of the dirt."""
    print(f"{clock():.0f} {name} arrives")
    async with machines:
        print(f"{clock():.0f} {name} enters")
        await asyncio.sleep(5)
        print(f"{clock():.0f} {name} leaves without {dirt} % of its dirt")


async def arrivals(machines: asyncio.Semaphore, rng: Random) -> None:
    """Let four cars come at once, and then one every five to nine minutes."""
    async with asyncio.TaskGroup() as cars:
        for number in range(4):
            cars.create_task(car(f"car {number}", machines, rng.randint(50, 99)))
        for number in count(4):
            await asyncio.sleep(rng.randint(5, 9))
            cars.create_task(car(f"car {number}", machines, rng.randint(50, 99)))


async def carwash(seed: int, until: float) -> None:
    """Run the wash until that time; what goes on then is cancelled."""
    day = asyncio.create_task(arrivals(asyncio.Semaphore(2), Random(seed)))
    await asyncio.sleep(until)
    day.cancel()


def main(seed: int = 42, until: float = 60.5) -> None:
    """Run the example with this seed, and print what happens."""
    simulate(carwash(seed, until))


if __name__ == "__main__":
    main()
