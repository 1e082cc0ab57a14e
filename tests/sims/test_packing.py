"""The user's modules travel to processes that do not have them."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from sims.errors import InputError
from sims.packing import Packed, call, dependencies_of, pack, unpacked
from sims.scenario.own_code import imported
from tests.sims.cli.commands import environment, python

MINE = """\
import helper


def key(number):
    import later

    return helper.K * later.K * number
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Holds a function whose module imports one other at once and another one later."""
    for name, text in {"mine": MINE, "helper": "K = 2\n", "later": "K = 3\n"}.items():
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_named_modules_are_found_where_their_folder_is_not(folder: Path) -> None:
    dependencies = dependencies_of(["mine:key"], folder)
    for file in folder.iterdir():
        file.unlink()
    with unpacked(dependencies):
        assert imported("mine:key", folder, "key")(7) == 2 * 3 * 7
    with pytest.raises(InputError, match="no such module there"):
        imported("mine:key", folder, "key")


def test_a_changed_module_is_imported_anew(folder: Path) -> None:
    with unpacked(dependencies_of(["mine:key"], folder)):
        assert imported("mine:key", folder, "key")(1) == 6
    (folder / "later.py").write_text("K = 5\n")
    with unpacked(dependencies_of(["mine:key"], folder)):
        assert imported("mine:key", folder, "key")(1) == 10


def test_a_function_travels_with_the_modules_that_it_needs(folder: Path) -> None:
    """The other process has another folder, and unpickles nothing before it has the modules."""
    sent = pickle.dumps(pack((imported("mine:key", folder, "key"), 7)))
    (away := folder / "away").mkdir()
    (away / "sent").write_bytes(sent)
    code = "import pickle; from sims.packing import call; "
    code += "print(call(pickle.load(open('sent', 'rb'))))"
    process = python("-c", code, cwd=away, env=environment())
    out, err = process.communicate(timeout=60)
    assert (out, err) == ("42\n", "")


def test_a_script_s_own_function_travels_with_what_the_script_imports(folder: Path) -> None:
    pytest.importorskip("cloudpickle", reason="it comes with Dask")
    (folder / "script.py").write_text(
        MINE + "\n\nimport pickle\nfrom pathlib import Path\nfrom sims.packing import pack\n"
        "Path('sent').write_bytes(pickle.dumps(pack((key, 7))))\n"
    )
    (away := folder / "away").mkdir()
    process = python(folder / "script.py", cwd=away, env=environment())
    assert process.communicate(timeout=60) == ("", "")
    packed = pickle.loads((away / "sent").read_bytes())
    assert {it.name for it in packed.dependencies.modules} == {"helper", "later"}
    assert call(packed) == 42


def test_an_error_of_a_worker_is_the_same_error_here() -> None:
    error = InputError("worker on a", "mine", "is not there", "the same")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_what_is_missing_is_named(folder: Path) -> None:
    dependencies = dependencies_of(["mine:key"], folder)
    (folder / "helper.py").write_text("import nowhere_at_all\n")
    broken = dependencies_of(["mine:key"], folder)
    assert dependencies != broken
    with pytest.raises(InputError, match="No module named 'nowhere_at_all'"):
        Packed(broken, b"").open()
    sys.meta_path[:] = [it for it in sys.meta_path if not hasattr(it, "modules")]


def test_a_process_of_a_cluster_imports_no_more_than_it_needs() -> None:
    """Scenario files take 0.4 s to import, in each process and whenever one is replaced."""
    code = "import sys, sims.live.holder; print({'pydantic', 'sims.scenario'} & {*sys.modules})"
    process = python("-c", code, env=environment())
    assert process.communicate(timeout=60) == ("set()\n", "")
