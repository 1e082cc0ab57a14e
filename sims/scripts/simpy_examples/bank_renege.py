"""Customers of a bank with one counter wait no longer than their patience lasts."""

import asyncio
from random import Random

from holdfast import clock, simulate


async def customer(name: str, counter: asyncio.Semaphore, rng: Random) -> None:
    """Wait for the counter; after that patience, leave without having been served."""
    arrival = clock()
    print(f"{arrival:7.4f} {name} arrives")
    try:
        async with asyncio.timeout(rng.uniform(1, 3)):
            await counter.acquire()
    except TimeoutError:
        print(f"{clock():7.4f} {name} leaves after {clock() - arrival:.3f}")
        return
    print(f"{clock():7.4f} {name} has waited {clock() - arrival:.3f}")
    await asyncio.sleep(rng.expovariate(1 / 12))
    counter.release()
    print(f"{clock():7.4f} {name} is done")


async def bank(seed: int, customers: int = 5) -> None:
    """Let so many customers come, ten minutes after each other in the mean."""
    rng, counter = Random(seed), asyncio.Semaphore(1)
    async with asyncio.TaskGroup() as visits:
        for number in range(customers):
            visits.create_task(customer(f"customer {number}", counter, rng))
            await asyncio.sleep(rng.expovariate(1 / 10))


def main(seed: int = 42) -> None:
    """Run the example with this seed, and print what happens."""
    simulate(bank(seed))


if __name__ == "__main__":
    main()
