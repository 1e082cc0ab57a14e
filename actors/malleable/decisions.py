"""Policies propose, actors dispose: what a decision must respect before it is carried out."""

from __future__ import annotations

from collections.abc import Sequence

from actors.malleable.views import Event, Pack
from policies.interface.malleable import Resize


class BadDecision(ValueError):
    """A policy's decision cannot be carried out."""


def _refuse(policy: object, problem: str, view: object) -> BadDecision:
    return BadDecision(f"{policy!r} {problem}; it saw {view!r}")


def check_allocation(policy: object, view: Pack, sizes: Sequence[int]) -> None:
    """Raises BadDecision where `sizes` cannot be the first allocation."""
    if len(sizes) != len(view.applications):
        raise _refuse(policy, f"gave {len(sizes)} sizes", view)
    wrong = [size for size in sizes if size < view.pair or size % view.pair]
    if wrong:
        raise _refuse(policy, f"gave a size of {wrong[0]}", view)
    if sum(sizes) > view.processors:
        raise _refuse(policy, f"gave {sum(sizes)} of {view.processors} processors", view)


def check_resizes(policy: object, view: Event, resizes: Sequence[Resize]) -> None:
    """Raises BadDecision where `resizes`, in order of application, cannot be carried out."""
    sizes = {candidate.index: candidate.size for candidate in view.candidates}
    named = [resize.application for resize in resizes]
    if len(set(named)) < len(named):
        raise _refuse(policy, "resized an application twice", view)
    for resize in resizes:
        if resize.application not in sizes:
            raise _refuse(policy, f"resized application {resize.application}, no candidate", view)
        if resize.size < view.pair or resize.size % view.pair:
            raise _refuse(policy, f"gave a size of {resize.size}", view)
    more = sum(resize.size - sizes[resize.application] for resize in resizes)
    if more > view.idle:
        raise _refuse(policy, f"gave {more} more processors with {view.idle} idle", view)
