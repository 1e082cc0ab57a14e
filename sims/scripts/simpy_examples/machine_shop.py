"""Ten machines break down, and one repairman leaves his other jobs to repair them."""

import asyncio
from random import Random

from holdfast import clock, simulate


class Machine:
    """A machine that makes parts, and how many it has made."""

    def __init__(self) -> None:
        self.parts, self.broken, self.repaired = 0, asyncio.Event(), asyncio.Event()

    async def work(self, calls: "asyncio.Queue[Machine]", rng: Random) -> None:
        """Make part after part; a failure interrupts the work until the machine is repaired."""
        while True:
            left = rng.normalvariate(10, 2)
            while left:
                start = clock()
                try:
                    async with asyncio.timeout(left):
                        await self.broken.wait()
                except TimeoutError:
                    break
                left -= clock() - start
                calls.put_nowait(self)
                await self.repaired.wait()
                self.broken.clear()
            self.parts += 1

    async def fail(self, rng: Random) -> None:
        """Break down now and then, unless it is broken already."""
        while True:
            await asyncio.sleep(rng.expovariate(1 / 300))
            if not self.broken.is_set():
                self.repaired.clear()
                self.broken.set()


async def repairman(calls: asyncio.Queue[Machine]) -> None:
    """Do other jobs of half an hour each, which a call interrupts; a repair takes as long."""
    jobs, left = 0, 30.0
    while True:
        start = clock()
        try:
            async with asyncio.timeout(left):
                machine = await calls.get()
        except TimeoutError:
            jobs, left = jobs + 1, 30
            print(f"{clock():.3f} other job {jobs} is done")
            continue
        left -= clock() - start
        await asyncio.sleep(30)
        machine.repaired.set()


async def shop(seed: int, weeks: float) -> None:
    """Run the shop for so many weeks."""
    rng, calls, machines = Random(seed), asyncio.Queue[Machine](), [Machine() for _ in range(10)]
    lives = [it for machine in machines for it in (machine.work(calls, rng), machine.fail(rng))]
    tasks = [asyncio.create_task(it) for it in (*lives, repairman(calls))]
    await asyncio.sleep(weeks * 7 * 24 * 60)
    for task in tasks:
        task.cancel()
    for number, machine in enumerate(machines):
        print(f"machine {number} made {machine.parts} parts")


def main(seed: int = 42, weeks: float = 4) -> None:
    """Run the example with this seed, and print what happens."""
    simulate(shop(seed, weeks))


if __name__ == "__main__":
    main()
