"""What is no file of its format is refused with its place: a line, or a JSON key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sims.errors import InputError
from sims.readers.files import LONGEST
from sims.readers.spot import read_spot_trace
from sims.readers.swf import read_swf
from sims.readers.traces import read_fta_trace, read_intervals, read_simgrid_profile

FTA = "# comment\n1 1 1 1 n1 1 1000 1010 NULL\n"
SWF = "1 0 5 100 4 98.5 2048 4 120 -1 1 1 1 1 1 -1 -1 -1"


def swf(field: int, word: str) -> str:
    """A log whose second job has one field (from 1) replaced."""
    words = SWF.split()
    words[field - 1] = word
    return f"; Version: 2.2\n\n{SWF}\n{' '.join(words)}\n"


LINES: dict[Callable[[Path], object], list[tuple[str, str, str]]] = {
    read_fta_trace: [
        (FTA + "1 1 1 1 n1 1 1000.0", "line 3", "7 columns"),
        (FTA + "1 1 one 1 n1 1 1000 1010 NULL", "line 3", "'one' is not a whole number"),
        (FTA + "1 1 1 1 n1 2 1000 1010 NULL", "line 3", "event_type 2"),
        (FTA + "1 1 1 1 n1 1 1010 1000 NULL", "line 3", "from 1010 to 1000"),
        (FTA + "1 1 1 1 n1 1 nan 1000 NULL", "line 3", "'nan' is not finite"),
        (FTA + "1 1 1 1 n1 1 1000 inf NULL", "line 3", "'inf' is not finite"),
        (FTA + "1 1 1 1 n1 1 1000 late NULL", "line 3", "'late' is not a number"),
        ("# nothing\n1 1 1 1 n1 1 1000 1000 NULL\n", "", "no event"),
    ],
    read_simgrid_profile: [
        ("1 0 0\n", "line 1", "3 words"),
        ("1 off\n", "line 1", "off"),
        ("nan 1\n", "line 1", "not finite"),
        ("5 0\n4 1\n", "line 2", "date 4"),
        ("-1 0\n", "line 1", "date -1"),
        ("1 0\nLOOPAFTER -1\n", "line 2", "negative"),
        ("LOOPAFTER 1\n1 0\nPERIODICITY 4\n", "line 3", "one repetition"),
        ("1 0\n5 1\nPERIODICITY 4\n", "PERIODICITY", "up to 5"),
        ("0 0\nLOOPAFTER 0\n", "LOOPAFTER", "repetition of 0"),
        ("# nothing\n", "", "no event"),
    ],
    read_intervals: [
        ("a,0,10,u\na,5,20,d\n", "line 2", "the worker has another interval until 10"),
        ("a,5,5,u\n", "line 1", "the interval lasts from 5 to 5"),
        ("a,0,x,u\n", "line 1", "'x' is not a number"),
        ("a,0,1,off\n", "line 1", "'off' is no state"),
        ("a,0,1\n", "line 1", "3 columns"),
        (f"worker,start,end,state\n{'a' * LONGEST},0,1,u\n", "line 2", "longer than 131,072"),
        ("worker,start,end,state\n", "", "no interval"),
    ],
    read_swf: [
        (f"; Version: 2.2\n\n{SWF}\n1 0 5 100\n", "line 4", "4 fields"),
        (swf(2, "soon"), "line 4", "soon"),
        (swf(4, "nan"), "line 4", "nan"),
        (swf(4, "-inf"), "line 4", "-inf"),
        (swf(5, "2.5"), "line 4", "2.5"),
        (swf(11, "7"), "line 4", "status 7 is not one of -1 to 5"),
        (swf(1, "-1"), "line 4", "job number unknown"),
        (swf(1, "1"), "line 4", "job 1 is also on line 3"),
        ("; Version: 2.2\n", "", "no job"),
    ],
    read_spot_trace: [
        ('{"data": [1]}', "metadata", "missing"),
        ('{"metadata": {}, "data": [1]}', "metadata.gap_seconds", "missing"),
        ('{"metadata": {"gap_seconds": 0}, "data": [1]}', "metadata.gap_seconds", "0"),
        ('{"metadata": {"gap_seconds": 195}}', "data", "missing"),
        ('{"metadata": {"gap_seconds": 195}, "data": []}', "data", "at least one"),
        ('{"metadata": {"gap_seconds": 195}, "data": [1, 0.5]}', r"data[1]", "0.5"),
        ('{"metadata": {"gap_seconds": 195}, "data": [1, 0, -1]}', r"data[2]", "-1"),
        ('{"metadata": {"gap_seconds": 1}, "data": [1], "prices": [1, 2]}', "prices", "2 prices"),
        ("[]", "", "a table"),
        ('{"a": 1,\n "b": }\n', "line 2", "not JSON"),
    ],
}
CASES = [
    pytest.param(read, *case, id=f"{read.__name__}-{case[2]}")
    for read, cases in LINES.items()
    for case in cases
]


@pytest.mark.parametrize(("read", "text", "key", "problem"), CASES)
def test_a_malformed_file_is_refused_with_its_place(
    tmp_path: Path, read: Callable[[Path], object], text: str, key: str, problem: str
) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert (caught.value.source, caught.value.key) == (str(path), key)
    assert problem in str(caught.value)
