"""Checks the decision of a pack's policy before it is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter, index
from typing import cast

from actors.deciders.pack.state import Occasion, Pack
from actors.decisions import BadDecision, answer, items, ours, refusal
from policies.interface.pack import AllocationPolicy, RedistributionPolicy, Resize

SHOWN = 10
"""Largest number of candidates of a view that an error names."""


def allocate(policy: AllocationPolicy, view: Pack) -> list[int]:
    """Call the allocation policy and return the size (number of processors) of each application, by
    index, as plain ints. Raises BadDecision where they cannot be carried out."""
    answered = answer(policy, view)
    sizes = _whole(items(policy, answered))
    wrong = _sizes_problem(sizes, view)
    if wrong:
        seen = f"{len(view.applications)} applications, {_platform(view)}"
        raise refusal(policy, repr(answered), wrong, seen)
    return sizes


def redistribute(policy: RedistributionPolicy, view: Occasion) -> list[Resize]:
    """Call the redistribution policy and return the resizes that it wants, sorted by application
    index. Raises BadDecision where they cannot be carried out."""
    answered = answer(policy, view)
    # The papers' policies answer with hundreds of plain numbers, so that checking each of them
    # twice would take noticeable time.
    listed = answered if ours(policy) else _resizes(policy, answered, view)
    resizes = sorted(listed, key=attrgetter("application"))
    problem = _resizes_problem(resizes, view) if resizes else None
    if problem:
        raise _refused(policy, resizes, problem, view)
    return resizes


def _resizes(policy: RedistributionPolicy, answered: object, view: Occasion) -> list[Resize]:
    """Return the resizes in `answered`, what a user's policy has answered, as ones with plain ints.
    Raises BadDecision where the answer is no sequence of Resize."""
    listed = items(policy, answered)
    if listed is None or not all(isinstance(it, Resize) for it in listed):
        problem = "an answer is a sequence of Resize(application, size), () to change nothing"
        raise _refused(policy, answered, problem, view)
    numbers = [_whole((it.application, it.size)) for it in cast(list[Resize], listed)]
    return [Resize(*pair) for pair in numbers]


def _whole(listed: Sequence[object] | None) -> list[int]:
    """Return the items of `listed` as plain ints, which is what a log can hold; -1 stands for an
    item that is no whole number. None gives an empty list."""
    if listed is None:
        return []
    return [index(it) if hasattr(it, "__index__") else -1 for it in listed]


def _sizes_problem(sizes: Sequence[int], view: Pack) -> str | None:
    many = len(view.applications)
    if len(sizes) != many:
        return f"an answer is {many} sizes, one for each application"
    if any(size < view.pair or size % view.pair for size in sizes):
        return f"a size is {_multiple(view.pair)}"
    for size, newcomer in zip(sizes, view.applications, strict=True):
        if size > newcomer.most:
            return _too_large(newcomer.index, newcomer.most)
    if sum(sizes) > view.processors:
        return f"the sizes take {sum(sizes)} processors in all; there are {view.processors}"
    return None


def _resizes_problem(resizes: Sequence[Resize], view: Occasion) -> str | None:
    known = {candidate.index: candidate for candidate in view.candidates}
    named = [resize.application for resize in resizes]
    for application in named:
        if application not in known:
            return f"application {application} is no candidate; view.candidates are accepted"
    if len(set(named)) < len(named):
        return "an application is resized twice; once is accepted"
    if any(resize.size < view.pair or resize.size % view.pair for resize in resizes):
        return f"a size is {_multiple(view.pair)}"
    for resize in resizes:
        if resize.size > known[resize.application].most:
            return _too_large(resize.application, known[resize.application].most)
    more = sum(resize.size - known[resize.application].size for resize in resizes)
    if more > view.idle:
        return f"it gives {more} more processors, and {view.idle} are idle"
    return None


def _refused(policy: object, answered: object, problem: str, view: Occasion) -> BadDecision:
    candidates = [f"{it.index} ({it.size})" for it in view.candidates[:SHOWN]]
    if len(view.candidates) > SHOWN:
        candidates.append(f"{len(view.candidates) - SHOWN} more")
    event = f"now = {view.now!r}, {view.cause}, faulty = {view.faulty}, {view.idle} idle"
    who = f"candidates with their sizes: {', '.join(candidates) or 'none'}"
    return refusal(policy, repr(answered), problem, f"{event}, {who}")


def _platform(view: Pack) -> str:
    return f"{view.processors} processors in groups of {view.pair}"


def _too_large(application: int, most: int) -> str:
    return f"application {application} has times for {most} processors at most"


def _multiple(pair: int) -> str:
    return f"a whole number of processors, a positive multiple of {pair}"
