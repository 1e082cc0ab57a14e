"""A master sends tasks to three workers over a link with one channel, in actors of your own."""

import asyncio

from attrs import define, frozen
from holdfast import actors


@actors.message
class Ready:
    """Worker to master: send me a task."""

    worker: actors.Actor


@actors.message
class Task:
    """Master to worker: do this."""

    number: int


@frozen
class TaskDone(actors.Event):
    """A worker has done a task."""

    task: int


@define(eq=False)
class Master(actors.CoroutineActor):
    """Sends each worker that is ready a task, which takes 2 time units and a channel."""

    tasks: int
    link: asyncio.Semaphore

    async def run(self) -> None:
        for number in range(self.tasks):
            ready, cause = await self.receive()
            self.start(self.transfer(Task(number), ready.worker, cause))
        for _ in range(3):
            ready, cause = await self.receive()
        self.system.finish(cause)

    async def transfer(self, task: Task, worker: actors.Actor, cause: int) -> None:
        async with self.link:
            self.send(worker, task, await self.sleep(2, cause))


@define(eq=False)
class Worker(actors.CoroutineActor):
    """Does one task after the other, in 5 time units each."""

    master: actors.Actor

    async def run(self) -> None:
        cause = actors.NOTHING
        while True:
            self.send(self.master, Ready(self), cause)
            task, cause = await self.receive()
            cause = self.record(await self.sleep(5, cause), TaskDone, task.number)


with actors.LogWriter("own_actors.jsonl") as log:
    system = actors.System(sinks=[log], messages=True)
    master = system.spawn(Master("master", 12, asyncio.Semaphore(1)))
    for number in range(3):
        system.spawn(Worker(f"worker {number}", master))
    system.run()
print(f"12 tasks of 5 on three workers take {system.loop.now:g}, as one channel sends each in 2")
actors.ActorLog("own_actors.jsonl").plot("own_actors.svg")
