"""Cars refuel at two pumps of one tank, for which a truck is called when it is nearly empty."""

import asyncio
from itertools import count
from random import Random

from holdfast import clock, simulate

CAPACITY = 200


class Tank:
    """The station's tank; who asks first gets fuel first, however little others want."""

    def __init__(self) -> None:
        self.level, self.turn, self.filled = CAPACITY, asyncio.Lock(), asyncio.Event()

    async def get(self, amount: int) -> None:
        async with self.turn:
            while self.level < amount:
                self.filled.clear()
                await self.filled.wait()
            self.level -= amount


async def car(name: str, pumps: asyncio.Semaphore, tank: Tank, rng: Random) -> None:
    """Take a pump, and fill up a tank of 50 litres, two litres a second."""
    needs = 50 - rng.randint(5, 25)
    print(f"{clock():.1f} {name} arrives")
    async with pumps:
        await tank.get(needs)
        await asyncio.sleep(needs / 2)
        print(f"{clock():.1f} {name} leaves with {needs} litres")


async def control(tank: Tank) -> None:
    """Look at the level every ten seconds; below a quarter, call a truck, which takes 300."""
    while True:
        if tank.level / CAPACITY < 0.25:
            print(f"{clock():.1f} a truck is called")
            await asyncio.sleep(300)
            print(f"{clock():.1f} a truck brings {CAPACITY - tank.level} litres")
            tank.level = CAPACITY
            tank.filled.set()
        await asyncio.sleep(10)


async def station(rng: Random) -> None:
    """Let a car come every 30 to 300 seconds."""
    tank, pumps = Tank(), asyncio.Semaphore(2)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(control(tank))
        for number in count():
            await asyncio.sleep(rng.randint(30, 300))
            tasks.create_task(car(f"car {number}", pumps, tank, rng))


async def day(seed: int, until: float) -> None:
    """Run the station until that time."""
    open_ = asyncio.create_task(station(Random(seed)))
    await asyncio.sleep(until)
    open_.cancel()


def main(seed: int = 42, until: float = 1999.5) -> None:
    """Run the example with this seed, and print what happens."""
    simulate(day(seed, until))


if __name__ == "__main__":
    main()
