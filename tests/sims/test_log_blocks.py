"""Blocks of jobs at one offered load."""

from __future__ import annotations

from pathlib import Path

import pytest

import sims
from sims.errors import InputError
from sims.papers.study.log_blocks import blocks_of, synthetic
from sims.readers.swf import read_swf

LOG = Path(sims.__file__).parent / "scenarios" / "batch-small.swf"


def test_each_block_of_a_log_offers_the_load_asked_for() -> None:
    blocks = blocks_of(read_swf(LOG), LOG, None, 3, 19, 0.9)
    assert [(it.number, it.processors, len(it.jobs)) for it in blocks] == [
        (k, 64, 19) for k in range(3)
    ]
    for block in (*blocks, synthetic(1, 50, 0.9)):
        area = sum(job.processors * job.time for job in block.jobs)
        assert block.jobs[0].release == 0
        assert area / block.processors / block.jobs[-1].release == pytest.approx(0.9)
        assert all(job.estimate and job.estimate >= job.time for job in block.jobs)


def test_a_log_that_is_too_short_is_refused() -> None:
    with pytest.raises(InputError, match=r"59 jobs for 4 blocks of 20"):
        blocks_of(read_swf(LOG), LOG, None, 4, 20, 0.9)
