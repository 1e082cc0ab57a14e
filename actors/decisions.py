"""Asking a policy, and reporting what is wrong with its answer.

Whatever a policy of the user's does wrong ends as one line that names it as a scenario does. The
papers' own policies are trusted where a check would cost time; what they raise is our mistake, and
is left as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from math import isfinite
from numbers import Real
from pathlib import Path
from traceback import extract_tb
from types import FunctionType, MethodType
from typing import NoReturn, TypeVar, TypeVarTuple

Ts = TypeVarTuple("Ts")
R = TypeVar("R")

MOST_ITEMS = 1_000_000
"""Largest number of items that an answer may have: listing an iterator without an end would take
all memory."""
LONGEST_QUOTE = 300
"""Largest number of characters that are quoted of an answer, a view or an exception."""


class BadDecision(ValueError):
    """Raised where a policy's decision cannot be carried out, or a policy of the user's raises an
    error. Its text is one line that names the policy."""


class EndlessAnswer(BadDecision):
    """Raised where a policy's answer has more than MOST_ITEMS items, as an iterator without an end
    has."""


def answer(policy: Callable[[*Ts], R], *arguments: *Ts) -> R:
    """Call `policy` with these arguments and return its answer. Raises BadDecision where a policy
    of the user's raises."""
    try:
        return policy(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        blame(policy, error)


def items(policy: object, answered: object) -> list[object] | None:
    """Return the items of a policy's answer `answered` as a list; None where it cannot be listed.

    Raises BadDecision where it is a generator of the user's that raises, EndlessAnswer where it has
    more than MOST_ITEMS items.
    """
    try:
        iterator = iter(answered)  # type: ignore[call-overload]
    except TypeError:
        return None
    try:
        found = list(islice(iterator, MOST_ITEMS + 1))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        blame(policy, error)
    if len(found) > MOST_ITEMS:
        problem = (
            f"answered with more than {MOST_ITEMS:,} items, as an iterator without an end does"
        )
        raise EndlessAnswer(f"policy {name_of(policy)} {problem}")
    return found


def blame(policy: object, error: BaseException) -> NoReturn:
    """Report that `policy` raised `error`; call this where it is caught.

    Raises BadDecision, with the place in the user's file, or `error` again if `policy` is ours.
    """
    if ours(policy):
        raise error
    raise raised("policy", policy, error) from error


def raised(role: str, blamed: object, error: BaseException) -> BadDecision:
    """Return the error which says that the user's object `blamed`, in the role of a `policy` or an
    `agent`, raised `error`, with the place in the user's file."""
    told = ": ".join(filter(None, (type(error).__name__, short(str(error)))))
    return BadDecision(f"{role} {name_of(blamed)} raised {told}{_place(blamed, error)}")


def refusal(policy: object, answered: str, problem: str, view: str) -> BadDecision:
    """Return the error to raise where a policy's answer cannot be carried out. `answered` is the
    answer as a text; `problem` says what is wrong with it or what would be accepted; `view`
    describes what the policy saw."""
    text = f"answered {short(answered)}: {problem}; it saw {short(view)}"
    return BadDecision(f"policy {name_of(policy)} {text}")


def ours(policy: object) -> bool:
    """Return whether `policy` is one of the papers', not the user's."""
    return _module(policy).partition(".")[0] == "policies"


def finite(number: object) -> bool:
    """Return whether the object is a number, and neither infinite nor NaN."""
    try:
        return isinstance(number, Real) and isfinite(number)
    except OverflowError:  # a whole number beyond all floats
        return False


def short(text: str) -> str:
    """Return the text on one line. If it has more than LONGEST_QUOTE characters, it is cut there,
    and `...` follows."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}..."


def name_of(policy: object) -> str:
    """Return the name of a policy for messages: `package.module:Name`, as a scenario has it, for a
    user's policy; its repr, or a function's name, for one of the papers'."""
    owner = _owner(policy)
    kind = owner if isinstance(owner, FunctionType) else type(owner)
    if ours(owner):
        return kind.__name__ if kind is owner else repr(owner)
    module = _module(owner)
    # An instance, a lambda or a partial function may have a name of its own in its module.
    known = vars(sys.modules[module]) if module in sys.modules else {}
    own = [name for name, value in known.items() if value is policy or value is owner]
    return f"{module}:{own[0] if own else kind.__qualname__}"


def _owner(policy: object) -> object:
    """Return the object in whose module a policy is: for a bound method its object, for a partial
    function the function that it calls, otherwise the policy itself."""
    while isinstance(policy, MethodType | partial):
        policy = policy.__self__ if isinstance(policy, MethodType) else policy.func
    return policy


def _module(policy: object) -> str:
    return str(getattr(_owner(policy), "__module__", ""))


def _place(policy: object, error: BaseException) -> str:
    """Return where the policy raised, as `(file, line n)`: the last line of its own file that was
    being run. If none was, as when it takes other arguments, it is where the policy is defined."""
    file = getattr(sys.modules.get(_module(policy)), "__file__", None)
    frames = extract_tb(error.__traceback__)[1:]
    lines = [frame.lineno for frame in frames if frame.filename == file]
    lines = lines or [_defined(policy)]
    return f" ({Path(file).name}, line {lines[-1]})" if file and lines[-1] else ""


def _defined(policy: object) -> int | None:
    owner = policy if isinstance(policy, MethodType) else _owner(policy)
    if callable(owner) and not isinstance(owner, FunctionType | MethodType):
        owner = owner.__call__
    return getattr(getattr(owner, "__code__", None), "co_firstlineno", None)
