"""People queue for tickets of three films, and leave the queue when theirs is sold out."""

import asyncio
from random import Random

from holdfast import clock, simulate


class Film:
    """Tickets of a film, and those who left the queue as it was sold out at the time `end`."""

    def __init__(self) -> None:
        self.tickets, self.gone, self.end, self.sold_out = 50, 0, 0.0, asyncio.Event()


async def visitor(film: Film, tickets: int, counter: asyncio.Lock) -> None:
    """Wait for the turn at the counter or the end of the tickets, whichever is first."""
    turn = asyncio.create_task(counter.acquire())
    end = asyncio.create_task(film.sold_out.wait())
    await asyncio.wait((turn, end), return_when=asyncio.FIRST_COMPLETED)
    if not turn.done():
        film.gone += turn.cancel()
        return
    end.cancel()
    enough = film.tickets >= tickets
    if enough and (left := film.tickets - tickets) >= 2:
        film.tickets = left
    elif enough:
        film.tickets, film.end = 0, clock()
        film.sold_out.set()
    await asyncio.sleep(1 if enough else 0.5)
    counter.release()


async def cinema(seed: int, until: float) -> None:
    """Let people come every half minute, in the mean, for one to six tickets of a film."""
    rng, counter, tasks = Random(seed), asyncio.Lock(), list[asyncio.Task[None]]()
    films = {name: Film() for name in ("Brazil", "Metropolis", "Stalker")}
    while clock() < until:
        await asyncio.sleep(rng.expovariate(2))
        film, tickets = films[rng.choice(list(films))], rng.randint(1, 6)
        if film.tickets:
            tasks.append(asyncio.create_task(visitor(film, tickets, counter)))
    for name, film in films.items():
        if film.sold_out.is_set():
            print(f"{name} is sold out at {film.end:.1f}; {film.gone} leave the queue")


def main(seed: int = 42, until: float = 120) -> None:
    """Run the example with this seed, and print what happens."""
    simulate(cinema(seed, until))


if __name__ == "__main__":
    main()
