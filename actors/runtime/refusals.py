"""An event loop without an outside world: every operation that would wait for the world is refused
with an error that names it."""

from __future__ import annotations

import asyncio
from typing import NoReturn

from actors.runtime.errors import OutsideWorldError

THREADS = "a thread finishes at a wall-clock time, which virtual time cannot see"
NETWORK = "the network answers at a wall-clock time, which virtual time cannot see"
PROCESSES = "a process of the operating system lives in wall-clock time"
SIGNALS = "signals come at wall-clock times"

# By reason, the methods of asyncio.BaseEventLoop that are refused.
REFUSED = {
    THREADS: ("run_in_executor", "set_default_executor"),
    NETWORK: (
        *("getaddrinfo", "getnameinfo", "create_connection", "create_server"),
        *("create_unix_connection", "create_unix_server", "create_datagram_endpoint"),
        *("connect_accepted_socket", "start_tls", "sendfile", "sock_sendfile"),
        *("sock_recv", "sock_recv_into", "sock_recvfrom", "sock_recvfrom_into"),
        *("sock_sendall", "sock_sendto", "sock_connect", "sock_accept"),
        *("add_reader", "remove_reader", "add_writer", "remove_writer"),
    ),
    PROCESSES: (
        *("subprocess_shell", "subprocess_exec", "connect_read_pipe", "connect_write_pipe"),
    ),
    SIGNALS: ("add_signal_handler", "remove_signal_handler"),
}


class NoOutsideWorld(asyncio.BaseEventLoop):
    """asyncio's base loop, in which every operation that `REFUSED` names raises OutsideWorldError,
    because it would wait for the outside world."""

    def _idle(self) -> bool:
        """Return whether entries from outside the simulation have been added to the loop's heap,
        now that it is empty. In virtual time there never are any."""
        return False


def refusal(name: str, reason: str) -> OutsideWorldError:
    """Return, to be raised, the error that the operation called `name` is refused; `reason` says
    why virtual time cannot serve it."""
    return OutsideWorldError(f"{name} is refused under virtual time: {reason}")


def _refusing(name: str, reason: str) -> object:
    def refuse(self: NoOutsideWorld, *args: object, **options: object) -> NoReturn:
        raise refusal(name, reason)

    refuse.__name__ = name
    refuse.__doc__ = f"Refused: {reason}."
    return refuse


for _reason, _names in REFUSED.items():
    for _name in _names:
        setattr(NoOutsideWorld, _name, _refusing(_name, _reason))
