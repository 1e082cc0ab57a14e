"""Ask a policy of yours random questions of its kind, and tell what it does wrong."""

from __future__ import annotations

import argparse
from typing import Any

from sims.errors import InputError
from sims.options import COMMAND_LINE, not_negative, positive_int
from sims.scenario.loader import split_override, value_of
from sims.telling import counted

ABOUT = """\
The decision point is recognised by the policy's signature (policies/interface). Every kind of
fault is told once, with the smallest view that shows it: an answer that cannot be carried out (a
worker that is DOWN, more processors than there are), an exception, a change of what it is shown,
another answer to the same question or under another PYTHONHASHSEED, an answer that takes too long.
Exit code 1 if there is one."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = ABOUT
    parser.add_argument("policy", metavar="MODULE:NAME", help="your class, function or object")
    parser.add_argument("--point", metavar="POINT", help="what it decides, where that is not clear")
    about = "a parameter of the class, as in [policy.parameters] (repeatable)"
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=about)
    parser.add_argument("--views", type=positive_int, default=200, help="how many are tried")
    about = "seconds that an answer may take (default: 1)"
    parser.add_argument("--within", metavar="SECONDS", type=not_negative, default=1.0, help=about)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; returns the exit code."""
    _need_hypothesis()
    from sims.kit.hashing import Named, hash_findings
    from sims.kit.recognition import recognised
    from sims.kit.trial import Trial

    parameters: dict[str, Any] = {}
    for word in arguments.set:
        key, text = split_override(word)
        parameters[key] = value_of(text)
    named = Named(arguments.policy, parameters)
    policy = named.load()
    point = recognised(policy, arguments.point)
    trial = Trial(policy, point, arguments.views, arguments.within)
    findings = trial.findings()
    if not findings:  # what is wrong anyhow tells nothing by being so in two ways
        findings = hash_findings(named, trial)
    for it in findings:
        print(f"{it.wrong.value}: {it.told}\nthe smallest view found:\n{it.view}\n")
    faults = counted(len(findings), "fault") if findings else "no fault"
    print(f"{arguments.policy} as {point.value}: {counted(arguments.views, 'view')}, {faults}")
    return 1 if findings else 0


def _need_hypothesis() -> None:
    try:
        import hypothesis  # noqa: F401
    except ImportError:
        accepted = "pip install 'holdfast[kit]'"
        raise InputError(COMMAND_LINE, "check-policy", "hypothesis is missing", accepted) from None
