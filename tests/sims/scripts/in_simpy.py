"""SimPy's documented examples in SimPy, with the printed lines of our programs of the same name."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from random import Random
from typing import Any

import simpy

Process = Generator[Any, Any, None]
MACHINES, FILMS = 10, ("Brazil", "Metropolis", "Stalker")


# --- bank renege ----------------------------------------------------------------------------------


def bank_renege(seed: int) -> None:
    env, rng = simpy.Environment(), Random(seed)
    counter = simpy.Resource(env)

    def customer(name: str) -> Process:
        arrival = env.now
        print(f"{arrival:7.4f} {name} arrives")
        with counter.request() as turn:
            found = yield turn | env.timeout(rng.uniform(1, 3))
            waited = env.now - arrival
            if turn not in found:
                print(f"{env.now:7.4f} {name} leaves after {waited:.3f}")
                return
            print(f"{env.now:7.4f} {name} has waited {waited:.3f}")
            yield env.timeout(rng.expovariate(1 / 12))
            print(f"{env.now:7.4f} {name} is done")

    def arrivals() -> Process:
        for number in range(5):
            env.process(customer(f"customer {number}"))
            yield env.timeout(rng.expovariate(1 / 10))

    env.process(arrivals())
    env.run()


# --- car wash -------------------------------------------------------------------------------------


def car_wash(seed: int, until: float = 60.5) -> None:
    env, rng = simpy.Environment(), Random(seed)
    machines = simpy.Resource(env, 2)

    def wash(name: str, dirt: int) -> Process:
        yield env.timeout(5)
        print(f"{env.now:.0f} {name} leaves without {dirt} % of its dirt")

    def car(name: str, dirt: int) -> Process:
        print(f"{env.now:.0f} {name} arrives")
        with machines.request() as turn:
            yield turn
            print(f"{env.now:.0f} {name} enters")
            yield env.process(wash(name, dirt))

    def arrivals() -> Process:
        for number in range(4):
            env.process(car(f"car {number}", rng.randint(50, 99)))
        for number in itertools.count(4):
            yield env.timeout(rng.randint(5, 9))
            env.process(car(f"car {number}", rng.randint(50, 99)))

    env.process(arrivals())
    env.run(until)


# --- machine shop ---------------------------------------------------------------------------------


class Machine:
    """A machine that makes parts and breaks down."""

    def __init__(self, env: simpy.Environment, man: simpy.PreemptiveResource, rng: Random) -> None:
        self.env, self.man, self.rng = env, man, rng
        self.parts, self.broken = 0, False
        self.process = env.process(self.work())
        env.process(self.fail())

    def work(self) -> Process:
        while True:
            left = self.rng.normalvariate(10, 2)
            while left:
                start = self.env.now
                try:
                    yield self.env.timeout(left)
                    left = 0
                except simpy.Interrupt:
                    self.broken = True
                    left -= self.env.now - start
                    with self.man.request(priority=1) as turn:
                        yield turn
                        yield self.env.timeout(30)
                    self.broken = False
            self.parts += 1

    def fail(self) -> Process:
        while True:
            yield self.env.timeout(self.rng.expovariate(1 / 300))
            if not self.broken:
                self.process.interrupt()


def machine_shop(seed: int, weeks: float = 4) -> None:
    env, rng = simpy.Environment(), Random(seed)
    man = simpy.PreemptiveResource(env)
    machines = [Machine(env, man, rng) for _ in range(MACHINES)]

    def other_jobs() -> Process:
        for number in itertools.count(1):
            left = 30.0
            while left:
                with man.request(priority=2) as turn:
                    yield turn
                    start = env.now
                    try:
                        yield env.timeout(left)
                        left = 0
                    except simpy.Interrupt:
                        left -= env.now - start
            print(f"{env.now:.3f} other job {number} is done")

    env.process(other_jobs())
    env.run(weeks * 7 * 24 * 60)
    for number, machine in enumerate(machines):
        print(f"machine {number} made {machine.parts} parts")


# --- movie renege ---------------------------------------------------------------------------------


class Cinema:
    """A counter that sells tickets of three films."""

    def __init__(self, env: simpy.Environment) -> None:
        self.env, self.counter = env, simpy.Resource(env)
        self.tickets, self.gone = dict.fromkeys(FILMS, 50), dict.fromkeys(FILMS, 0)
        self.sold_out = {film: env.event() for film in FILMS}
        self.ends: dict[str, float] = {}

    def visitor(self, film: str, wanted: int) -> Process:
        with self.counter.request() as turn:
            found = yield turn | self.sold_out[film]
            if turn in found:
                yield from self.buy(film, wanted)
            else:
                self.gone[film] += 1

    def buy(self, film: str, wanted: int) -> Process:
        if self.tickets[film] < wanted:
            yield self.env.timeout(0.5)
            return
        self.tickets[film] -= wanted
        if self.tickets[film] < 2:
            self.sold_out[film].succeed()
            self.tickets[film], self.ends[film] = 0, self.env.now
        yield self.env.timeout(1)

    def arrivals(self, rng: Random) -> Process:
        while True:
            yield self.env.timeout(rng.expovariate(2))
            film, wanted = rng.choice(FILMS), rng.randint(1, 6)
            if self.tickets[film]:
                self.env.process(self.visitor(film, wanted))


def movie_renege(seed: int, until: float = 120) -> None:
    env = simpy.Environment()
    cinema = Cinema(env)
    env.process(cinema.arrivals(Random(seed)))
    env.run(until)
    for film, end in sorted(cinema.ends.items()):
        print(f"{film} is sold out at {end:.1f}; {cinema.gone[film]} leave the queue")


# --- gas station ----------------------------------------------------------------------------------


def gas_station(seed: int, until: float = 1999.5) -> None:
    env, rng = simpy.Environment(), Random(seed)
    pumps, tank = simpy.Resource(env, 2), simpy.Container(env, 200, init=200)

    def car(name: str) -> Process:
        needs = 50 - rng.randint(5, 25)
        print(f"{env.now:.1f} {name} arrives")
        with pumps.request() as turn:
            yield turn
            yield tank.get(needs)
            yield env.timeout(needs / 2)
            print(f"{env.now:.1f} {name} leaves with {needs} litres")

    def truck() -> Process:
        yield env.timeout(300)
        amount = tank.capacity - tank.level
        print(f"{env.now:.1f} a truck brings {amount} litres")
        yield tank.put(amount)

    def control() -> Process:
        while True:
            if tank.level / tank.capacity < 0.25:
                print(f"{env.now:.1f} a truck is called")
                yield env.process(truck())
            yield env.timeout(10)

    def arrivals() -> Process:
        for number in itertools.count():
            yield env.timeout(rng.randint(30, 300))
            env.process(car(f"car {number}"))

    env.process(control())
    env.process(arrivals())
    env.run(until)


# --- process communication ------------------------------------------------------------------------


def process_communication(seed: int, until: float = 99.5) -> None:
    env, rng = simpy.Environment(), Random(seed)
    pipe = [simpy.Store(env), simpy.Store(env)]

    def sender() -> Process:
        while True:
            yield env.timeout(rng.randint(6, 10))
            message = env.now, f"the sender says hello at {env.now:.0f}"
            yield env.all_of([end.put(message) for end in pipe])

    def receiver(name: str, end: simpy.Store, own: Random) -> Process:
        while True:
            sent, text = yield end.get()
            late = "late" if sent < env.now else "in time"
            print(f"{env.now:.0f} {name} is {late}: {text}")
            yield env.timeout(own.randint(4, 8))

    env.process(sender())
    for letter, end in zip("AB", pipe, strict=True):
        name = f"receiver {letter}"
        env.process(receiver(name, end, Random(f"{seed} {name}")))
    env.run(until)


# --- event latency --------------------------------------------------------------------------------


def event_latency(seed: int, until: float = 99.5) -> None:
    env = simpy.Environment()
    arrived = simpy.Store(env)

    def cable(message: float) -> Process:
        yield env.timeout(10)
        yield arrived.put(message)

    def sender() -> Process:
        while True:
            yield env.timeout(5)
            env.process(cable(env.now))

    def receiver() -> Process:
        while True:
            sent = yield arrived.get()
            print(f"received at {env.now:.0f} what was sent at {sent:.0f}")

    env.process(sender())
    env.process(receiver())
    env.run(until)


EXAMPLES = {
    it.__name__: it
    for it in (
        *(bank_renege, car_wash, machine_shop, movie_renege, gas_station),
        *(process_communication, event_latency),
    )
}
"""Maps the name of each example to the function that runs it with a seed, and prints lines."""
