"""A stranger's scenario names code: only what its user has put beside it, or installed as such, is
loaded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sims.errors import InputError
from sims.scenario.own_code import imported
from tests.case_files import listed


@pytest.mark.parametrize("name", listed(__file__, "installed"))
def test_installed_modules_are_not_loaded_because_a_file_names_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # ours lie in the current folder here
    with pytest.raises(InputError, match="no such module there"):
        imported(name, tmp_path, "policy.name")


@pytest.mark.parametrize("name", ["orjson:loads", "subprocess:Popen", "sys:exit"])
def test_a_file_called_as_an_installed_module_does_not_open_its_door(
    name: str, tmp_path: Path
) -> None:
    module, _, attribute = name.partition(":")
    (tmp_path / f"{module}.py").write_text(f"{attribute} = None\n")
    with pytest.raises(InputError, match=f"{module} is an installed module"):
        imported(name, tmp_path, "policy.name")


def test_a_module_beside_the_scenario_and_one_of_ours_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("answer = 42\n")
    assert imported("beside_it:answer", tmp_path, "policy.name") == 42
    assert imported("policies.queue.lists:RList", tmp_path, "policy.name").__name__ == "RList"


def test_an_installed_package_is_loaded_that_declares_its_policies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, declared = tmp_path / "site", tmp_path / "site" / "shared-1.dist-info"
    declared.mkdir(parents=True)
    (site / "shared_policies.py").write_text("answer = 42\n")
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: shared\nVersion: 1\n")
    (declared / "entry_points.txt").write_text("[holdfast.policies]\nours = shared_policies\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    assert imported("shared_policies:answer", tmp_path, "policy.name") == 42
