"""Messages pass through a cable that delays each of them by ten minutes."""

import asyncio

from holdfast import clock, simulate


class Cable:
    """A line of infinite length in which messages travel for `delay` minutes."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.arrived: asyncio.Queue[float] = asyncio.Queue()

    def put(self, message: float) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(self.delay, self.arrived.put_nowait, message)


async def sender(cable: Cable) -> None:
    """Send the time every five minutes."""
    while True:
        await asyncio.sleep(5)
        cable.put(clock())


async def receiver(cable: Cable) -> None:
    """Print what arrives."""
    while True:
        sent = await cable.arrived.get()
        print(f"received at {clock():.0f} what was sent at {sent:.0f}")


async def line(until: float) -> None:
    """Let both ends work until that time."""
    cable = Cable(10)
    ends = [asyncio.create_task(it) for it in (sender(cable), receiver(cable))]
    await asyncio.sleep(until)
    for it in ends:
        it.cancel()


def main(seed: int = 0, until: float = 99.5) -> None:
    """Run the example with this seed, and print what happens."""
    simulate(line(until))


if __name__ == "__main__":
    main()
