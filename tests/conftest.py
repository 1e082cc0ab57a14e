"""Options and fixtures that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        metavar="DIR",
        type=Path,
        default=HERE / "cases",
        help="folder of expected values to run the case tests on (default: tests/cases)",
    )


@pytest.fixture(scope="session")
def cases_dir(request: pytest.FixtureRequest) -> Path:
    """Folder with the case files; a test whose file is missing there is skipped."""
    folder: Path = request.config.getoption("--cases")
    return folder
