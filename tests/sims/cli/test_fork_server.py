"""Commands in forked children do what commands in new processes do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sims.cli.commands import FEW, Shell, begin, ended, environment, spawn
from tests.sims.cli.fork_server import can_fork, fork

ALL = """\
import json, os, signal, sys
if "stop" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
streams = sys.stdin, sys.stdout, sys.stderr
open_files = [it for it in range(3, 100) if os.path.exists(f"/proc/self/fd/{it}")]
print(json.dumps({
    "words": sys.argv[1:],
    "folder": os.getcwd(),
    "environment": {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"},
    "session": os.getsid(0) == os.getpid(),
    "path": sys.path,
    "module": __name__,
    "signals": [str(signal.getsignal(it)) for it in (2, 15, 1, 13)],
    "streams": [(it.encoding, it.errors, it.line_buffering, it.write_through) for it in streams],
    "open files": open_files,
}))
print("told", file=sys.stderr)
raise SystemExit(7)
"""


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("apart", [False, True])
def test_a_child_has_what_a_new_process_has(tmp_path: Path, unbuffered: str, apart: bool) -> None:
    script = tmp_path / "all.py"
    script.write_text(ALL)
    own = environment(PYTHONUNBUFFERED=unbuffered, MINE="yes")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    how = {"env": own, "cwd": tmp_path, "start_new_session": apart, **pipes}
    new = ended(begin(sys.executable, script, "a", "b c", **how))
    child = ended(fork(str(script), ["a", "b c"], **how))  # type: ignore[arg-type]
    assert new.code == 7
    assert (child.code, child.err, child.json()) == (new.code, new.err, new.json())
    assert ended(fork(str(script), ["stop"], **how)).code == -signal.SIGKILL  # type: ignore[arg-type]


def test_a_command_answers_the_same_in_a_child_and_in_a_new_process(shell: Shell) -> None:
    words = ("run", shell.write(FEW), "--log", "none", "--json")
    assert ended(spawn(*words)) == ended(begin(sys.executable, "-m", "sims.cli", *words))


def test_what_python_reads_as_it_starts_needs_a_new_process() -> None:
    assert can_fork(environment()) == hasattr(os, "pidfd_open")
    assert not can_fork(environment(PYTHONHASHSEED="1"))
    assert not can_fork(environment(LC_ALL="C", PYTHONIOENCODING="ascii"))
    assert not can_fork(dict(os.environ) | {"PYTHONPATH": ""})
