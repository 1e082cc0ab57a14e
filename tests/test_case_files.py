"""Folders of expected values that `pytest --cases` takes, and those that it refuses."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.case_files import READ, case_file, checked_folder, first_difference

HERE = Path(__file__).parent
OWN = HERE / "cases"


def test_a_folder_that_does_not_exist_ends_the_tests_with_its_name(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "pytest", "-q", "--collect-only", str(HERE / "test_docs.py"))
    ended = subprocess.run(
        (*command, f"--cases={tmp_path / 'absent'}"),
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--cases={tmp_path / 'absent'}: there is no such folder" in ended.stderr


@pytest.mark.parametrize("name", ["volatil.json", "log/more/d4.toml", "rigid.csv"])
def test_a_file_of_cases_that_no_test_reads_is_refused(tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(OWN, tmp_path / "cases"))
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("{}")
    with pytest.raises(pytest.UsageError, match=f"no test reads {name}; read are "):
        checked_folder(folder)


def test_a_folder_without_any_file_of_cases_is_refused(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("none yet")
    with pytest.raises(pytest.UsageError, match="no file of cases"):
        checked_folder(tmp_path)


def test_part_of_the_files_is_enough(tmp_path: Path) -> None:
    shutil.copy(OWN / "rigid.json", tmp_path)
    assert checked_folder(tmp_path) == tmp_path


@pytest.mark.parametrize("name", READ)
def test_each_file_that_is_taken_is_read_by_a_test(name: str) -> None:
    assert list(OWN.glob(name))
    readers = set(HERE.rglob("*.py")) - {Path(__file__), HERE / "case_files.py"}
    assert any(f'"{name}"' in path.read_text(encoding="utf-8") for path in readers)


def test_a_test_cannot_read_a_file_that_is_not_listed() -> None:
    with pytest.raises(AssertionError):
        case_file(OWN, "absent.json")


@pytest.mark.parametrize(
    ("found", "expected", "told"),
    [
        ([[0, 1], [2, 5.0]], [[0, 1], [2, 4.0]], "[1][1]: 5.0, expected 4.0"),
        ([1], [1, 2], "[1]: nothing, expected 2"),
        ({"a": 1, "b": 2}, {"a": 1}, "['b']: 2, expected nothing"),
        ((1, "x"), (1, "y"), "[1]: 'x', expected 'y'"),
        ([1], [1], ""),
    ],
)
def test_the_first_difference_of_two_values_shows_both_sides(
    found: object, expected: object, told: str
) -> None:
    assert first_difference(found, expected) == told


@pytest.mark.slow
def test_a_case_that_differs_shows_both_sides_without_an_option(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(OWN, tmp_path / "cases"))
    path = folder / "rigid.json"
    cases = json.loads(path.read_text())
    of = next(iter(cases["instances"][0]["makespan"].values()))
    heuristic = next(iter(of))
    right, of[heuristic] = of[heuristic], 12345.5
    path.write_text(json.dumps(cases))
    test = HERE / "sims" / "test_rigid_cases.py"
    command = (sys.executable, "-m", "pytest", "-q", f"--cases={folder}", str(test))
    ended = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"[{heuristic!r}]: {right!r}, expected 12345.5" in ended.stdout
