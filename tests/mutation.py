"""Change one thing in `policies/` or `actors/` at a time, and see whether its tests notice.

    python tests/mutation.py 300 SEED       # so many mutants, drawn by SEED; survivors on stdout

Each mutant is a copy of the tree with one operator, comparison, constant or statement changed; the
tests of its own module's folder run first, then the golden logs and the cases, up to the first
failure. Killed is also what takes LIMIT.
"""

from __future__ import annotations

import ast
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import hypothesis  # noqa: F401  # the forks need not
import numpy  # noqa: F401
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401

ROOT = Path(__file__).parents[1]
PARTS = ("actors", "policies", "sims", "tests")
LIMIT = 60, 200
"""Seconds of CPU time, of golden logs and of a stage after them; an endless loop takes all."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """What can be changed, and how."""
    return ((node, what) for node in ast.walk(tree) for what in _changes(node))


def _changes(node: ast.AST) -> Iterator[str]:
    """Names of what can be changed about the node."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        yield "operator"
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield "comparison"
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield "constant"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not"
    elif isinstance(node, ast.If | ast.While):
        yield "condition"
    body = getattr(node, "body", None)
    for place, statement in enumerate(body if isinstance(body, list) else ()):
        call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        if call or isinstance(statement, ast.AugAssign):
            yield f"delete {place}"


def _apply(node: ast.AST, what: str) -> None:
    match what:
        case "operator":
            node.op = SWAPS[type(node.op)]()  # type: ignore[attr-defined]
        case "comparison":
            node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[attr-defined]
        case "constant":
            value = node.value  # type: ignore[attr-defined]
            node.value = (not value) if isinstance(value, bool) else value + 1  # type: ignore
        case "not":
            node.op = ast.UAdd()  # type: ignore[attr-defined]
            node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])  # type: ignore
        case "condition":
            node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]
        case _:
            node.body[int(what.split()[1])] = ast.Pass()  # type: ignore[attr-defined]


def population() -> list[tuple[Path, int]]:
    """Every mutant there could be: file, and its number within."""
    files = [it for part in ("actors", "policies") for it in sorted((ROOT / part).rglob("*.py"))]
    return [(it, k) for it in files for k, _ in enumerate(places(ast.parse(it.read_text())))]


def tests_of(module: Path) -> list[list[str]]:
    """Stages of tests, the nearest first: its folder's mirror, then golden logs and cases."""
    folder = module.parent
    while not (ROOT / "tests" / folder).is_dir():
        folder = folder.parent
    mirror = f"tests/{folder}"
    cases = [
        str(it.relative_to(ROOT)) for it in sorted((ROOT / "tests/sims").glob("test_*cases.py"))
    ]
    more = ["tests/sims/audit/test_laws_hold.py", "tests/sims/test_queue_policies.py"]
    return [["tests/golden"], [mirror], cases, ["tests/actors"], more]


def in_child(tree: Path, stage: list[str], limit: int) -> int:
    """Exit code of pytest in a fork of this process, which has imported what takes long."""
    child = os.fork()
    if not child:
        os.chdir(tree)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        os._exit(int(pytest.main(["-x", "-p", "no:cacheprovider", "--rootdir", str(tree), *stage])))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(tree: Path, module: Path) -> str:
    """The stage that noticed, or nothing."""
    for number, stage in enumerate(tests_of(module)):
        limit = LIMIT[min(number, 1)]
        code = in_child(tree, stage, limit)
        if code:
            return stage[0] if code == 1 else f"{stage[0]} ({code})"
    return ""


def main(many: int, seed: int) -> None:
    """Try `many` mutants; tell of each, and how many were killed."""
    found, dead = population(), 0
    chosen = Random(seed).sample(found, many)
    print(f"{len(found)} mutants, {many} tried", flush=True)
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for part in PARTS:
            shutil.copytree(ROOT / part, tree / part)
        shutil.copy(ROOT / "pyproject.toml", tree)
        for tried, (file, number) in enumerate(chosen, start=1):
            module = file.relative_to(ROOT)
            changed = ast.parse(file.read_text())
            node, what = list(places(changed))[number]
            line = getattr(node, "lineno", 0)
            _apply(node, what)
            (tree / module).write_text(ast.unparse(ast.fix_missing_locations(changed)))
            by = killed(tree, module)
            dead += bool(by)
            shutil.copy(file, tree / module)
            fate = f"killed by {by}" if by else "SURVIVED"
            print(f"{dead}/{tried} {module}:{line} {what}: {fate}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
