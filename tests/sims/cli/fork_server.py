"""Starts commands in children of a process that has imported their modules.

A command that Python starts anew takes half a second to import what it needs; a forked child takes
some milliseconds. The child has the arguments, current folder, environment, streams, session and
signals that a new process would have, runs the module as `python -m` does, and ends as Python ends.
What Python reads only as it starts cannot be had so: `can_fork` says which commands need a process
of their own.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, TextIO

from attrs import define, field

ROOT = Path(__file__).parents[3]
AT_START = ("PYTHON", "LC_", "LANG", "OPENBLAS", "OMP_")
"""Beginnings of the names of variables that are read as Python or a library starts."""
UNBUFFERED = "PYTHONUNBUFFERED"
"""The one of these that a child follows."""
IGNORABLE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a child ignores if its parent does."""
DASK = ("distributed.cli.dask_scheduler", "distributed.cli.dask_worker")
"""Modules of Dask's own commands, which have a server of their own: ours start without them."""
PAUSE = 0.005
"""Seconds between two looks at a child whose end is waited for until a time."""


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(AT_START) and name not in (UNBUFFERED, "PYTHONPATH")
    }


def can_fork(environment: Mapping[str, str]) -> bool:
    """Return whether a forked child does what a new process would do in this environment."""
    path = environment.get("PYTHONPATH", "").split(os.pathsep)
    same = _at_start(environment) == _at_start(os.environ) and str(ROOT) in path
    return hasattr(os, "pidfd_open") and same


NUMBER = struct.Struct("!i")
"""How the server sends a number: a child may have ended before its own has been read, and texts
would run together."""


# --- the tests' side ------------------------------------------------------------------------------


@define
class Child:
    """A command in a forked child, to be used as a `subprocess.Popen` with texts."""

    args: Sequence[str]
    pid: int
    stdout: Any
    stderr: Any
    _server: socket.socket
    """Connection that tells how the child ended."""
    stdin: Any = None
    returncode: int | None = field(init=False, default=None)

    def poll(self) -> int | None:
        """Return the exit code as Popen has it, or None while the child is alive."""
        return self._hear(wait=False)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the child's end and return its exit code. Raises TimeoutExpired."""
        ends = None if timeout is None else time.monotonic() + timeout
        while (code := self._hear(wait=ends is None)) is None:
            if ends is not None and time.monotonic() > ends:
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
            time.sleep(PAUSE)
        return code

    def _hear(self, wait: bool) -> int | None:
        if self.returncode is None:
            self._server.setblocking(wait)
            try:
                told = self._server.recv(NUMBER.size)
            except BlockingIOError:
                return None
            self._server.close()
            self.returncode = os.waitstatus_to_exitcode(*NUMBER.unpack(told))
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str | None, str | None]:
        """Return all that the child writes, once it has ended. Raises TimeoutExpired."""
        read: dict[str, str] = {}
        streams = {"out": self.stdout, "err": self.stderr}
        readers = [
            Thread(target=lambda name, it: read.update({name: it.read()}), args=item, daemon=True)
            for item in streams.items()
            if item[1] is not None
        ]
        for reader in readers:
            reader.start()
        ends = None if timeout is None else time.monotonic() + timeout
        for reader in readers:
            reader.join(None if ends is None else max(ends - time.monotonic(), 0))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
        self.wait(None if ends is None else max(ends - time.monotonic(), PAUSE))
        for stream in filter(None, streams.values()):
            stream.close()
        return read.get("out"), read.get("err")

    def send_signal(self, number: int) -> None:
        """Send a signal, if the child is alive."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def fork(
    program: str,
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | Path | None = None,
    stdin: Any = None,
    stdout: Any = None,
    stderr: Any = None,
    start_new_session: bool = False,
) -> Child:
    """Run a program in a forked child: the path of a script, or `-m MODULE`."""
    pipes: list[Any] = []
    given = []
    for number, stream in enumerate((stdin, stdout, stderr)):
        ours, theirs, passed = None, None, number
        if stream == subprocess.PIPE:
            ours, theirs = os.pipe()
            passed = theirs
        elif stream == subprocess.DEVNULL:
            passed = theirs = os.open(os.devnull, os.O_RDWR)
        elif stream is not None:
            passed = stream if isinstance(stream, int) else stream.fileno()
        pipes.append((ours, theirs))
        given.append(passed)
    request = {
        "program": program,
        "words": list(words),
        "cwd": str(cwd or Path.cwd()),
        "env": dict(env),
        "session": start_new_session,
        "ignored": [it for it in IGNORABLE if signal.getsignal(it) is signal.SIG_IGN],
    }
    server = socket.socket(socket.AF_UNIX)
    server.connect(_address(*(DASK if words[:1] == ["dask"] else ())))
    socket.send_fds(server, [b"."], given)
    server.sendall(json.dumps(request).encode() + b"\n")
    (pid,) = NUMBER.unpack(server.recv(NUMBER.size))
    for _, theirs in pipes:
        if theirs is not None:
            os.close(theirs)
    _, out, err = (None if ours is None else os.fdopen(ours) for ours, _ in pipes)
    return Child([program, *words], pid, out, err, server)


@cache
def _address(*modules: str) -> str:
    """Start this process's server of commands in these modules (default: ours), which ends with it;
    return its address."""
    folder = tempfile.TemporaryDirectory(prefix="fork-")
    address = str(Path(folder.name) / "socket")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", __name__, address, *modules]
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(folder.cleanup)
    atexit.register(process.wait)
    assert process.stdout is not None
    atexit.register(process.terminate)
    assert process.stdout.readline() == b"ready\n"
    return address


# --- the server's side ----------------------------------------------------------------------------


@define
class Server:
    """Forks a child for each request, and tells whoever asked how it ended."""

    listener: socket.socket
    watch: selectors.BaseSelector = field(factory=selectors.DefaultSelector)
    children: dict[int, tuple[int, socket.socket]] = field(factory=dict)
    """Maps a descriptor of each child to its number and to the connection of who asked for it."""

    def serve(self) -> dict[str, Any] | None:
        """Return the request in each child, and None in the server once its stdin has ended."""
        self.watch.register(sys.stdin.fileno(), selectors.EVENT_READ, lambda _: True)
        self.watch.register(self.listener, selectors.EVENT_READ, self._fork)
        while True:
            for key, _ in self.watch.select():
                if told := key.data(key.fd):
                    return None if told is True else told

    def _fork(self, _: int) -> dict[str, Any] | None:
        """Fork a child. Returns the request in the child, and None in the server."""
        connection, _ = self.listener.accept()
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        with connection.makefile() as lines:
            request: dict[str, Any] = json.loads(lines.readline())
        pid = os.fork()
        if pid == 0:
            for child, (_, other) in self.children.items():
                os.close(child)
                other.close()
            for own in (self.watch, self.listener, connection):
                own.close()
            return request | {"streams": streams}
        for stream in streams:
            os.close(stream)
        connection.sendall(NUMBER.pack(pid))
        child = os.pidfd_open(pid)
        self.children[child] = pid, connection
        self.watch.register(child, selectors.EVENT_READ, self._tell_end)
        return None

    def _tell_end(self, child: int) -> None:
        self.watch.unregister(child)
        os.close(child)
        pid, connection = self.children.pop(child)
        _, status = os.waitpid(pid, 0)
        with connection, suppress(BrokenPipeError):  # of who does not want to know
            connection.sendall(NUMBER.pack(status))


def become(request: dict[str, Any]) -> None:
    """Make this process what the request says, as Python would have started it."""
    if request["session"]:
        os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for number in IGNORABLE:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in request["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    for number, stream in enumerate(request["streams"]):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        _stream(number, server) for number, server in enumerate((sys.stdin, sys.stdout, sys.stderr))
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    program, words = request["program"], request["words"]
    places = [it for it in os.environ["PYTHONPATH"].split(os.pathsep) if it not in sys.path]
    first = str(Path.cwd()) if program == "-m" else str(Path(program).parent.absolute())
    sys.path[:] = [first, *places, *sys.path[1:]]
    sys.argv = [program, *words]


def _stream(number: int, server: TextIO) -> io.TextIOWrapper:
    """Return the stream that Python opens for this descriptor as it starts; the server's own says
    how it writes letters."""
    unbuffered = bool(os.environ.get(UNBUFFERED))
    buffering = 0 if unbuffered and number else -1
    binary: Any = os.fdopen(number, "wb" if number else "rb", buffering, closefd=False)
    lines = os.isatty(number) or number == 2
    return io.TextIOWrapper(
        *(binary, server.encoding, server.errors),
        line_buffering=lines and not unbuffered,
        write_through=unbuffered,
    )


def main(address: str, *modules: str) -> None:
    """Serve, and run what was asked for in each child."""
    if not modules:
        from sims.cli.commands import COMMANDS

        modules = tuple({f"sims.cli.{entry['module']}" for entry in COMMANDS.values()})
    for module in modules:
        import_module(module)
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    request = Server(listener).serve()
    if request is None:
        return
    become(request)
    if request["program"] == "-m":
        module, *words = request["words"]
        sys.argv = [module, *words]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(request["program"], run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
