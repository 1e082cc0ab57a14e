"""What is no file of its format is refused with its place: a line, or a JSON key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sims.errors import InputError
from sims.readers.files import LONGEST
from sims.readers.job_logs import read_swf
from sims.readers.spot import read_spot_trace
from sims.readers.traces import read_fta_trace, read_intervals, read_simgrid_profile
from tests.case_files import listed

WORDS = {
    "FTA": "# comment\n1 1 1 1 n1 1 1000 1010 NULL",
    "SWF": "; Version: 2.2\n\n1 0 5 100 4 98.5 2048 4 120 -1 1 1 1 1 1 -1 -1 -1",
    "LONG": "a" * LONGEST,
}
READERS = (read_fta_trace, read_simgrid_profile, read_intervals, read_swf, read_spot_trace)
CASES = [
    pytest.param(read, *case, id=f"{read.__name__}-{case[2]}")
    for read in READERS
    for case in listed(__file__, read.__name__)
]


@pytest.mark.parametrize(("read", "text", "key", "problem"), CASES)
def test_a_malformed_file_is_refused_with_its_place(
    tmp_path: Path, read: Callable[[Path], object], text: str, key: str, problem: str
) -> None:
    path = tmp_path / "file"
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert (caught.value.source, caught.value.key) == (str(path), key)
    assert problem in str(caught.value)
