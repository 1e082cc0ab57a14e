"""The notebooks of the repository run from top to bottom, in a kernel whose loop is running."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "sims" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels, too, take this checkout."""
    places = (str(ROOT), str(ROOT / "sims" / "python"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))


def shown(cell: Any) -> set[str]:
    """The ways in which a cell's outputs can be shown."""
    return {way for output in cell.outputs for way in output.get("data", {})}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_results(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(tmp_path))
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert {"text/html", "text/plain"} <= shown(cells[0])
    assert any("image/png" in shown(cell) for cell in cells)
    assert list(tmp_path.iterdir()) == []


COMPARISON = """
import holdfast
table = holdfast.compare(holdfast.example("batch-rigid"), {"policy.name": ["EASY", "FCFS"]}, runs=2)
table
"""


@pytest.mark.usefixtures("here")
def test_a_comparison_is_shown_once_as_a_table_and_printed_once(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(it) for it in (COMPARISON, "print(table)")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute(cwd=str(tmp_path))
    [shown], [printed] = (cell.outputs for cell in cells)
    html, text = shown["data"]["text/html"], shown["data"]["text/plain"]
    assert html.count("<table>") == 1
    assert ">FCFS</td>" in html
    assert printed["text"].strip() == text.strip()
    assert text.count("EASY") == html.count("EASY")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_lies_in_the_repository_without_outputs(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
