"""`holdfast campaign`: from a file to results, a table and a picture."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.case_files import listed
from tests.sims.campaign.campaigns import MINE, write
from tests.sims.cli.commands import Said, Shell, ended, python

SMALL = ("--replications", "2")
ALONE = ("--processes", "1")
JUDGED = tuple(f" {it}  " for it in ("better", "worse", "no difference shown"))


@pytest.fixture
def own(shell: Shell) -> Shell:
    """The command line beside a campaign."""
    write(shell.folder)
    return shell


def test_one_command_runs_it_prints_the_table_and_draws_the_picture(own: Shell) -> None:
    said = asked(own, "run", *SMALL, *ALONE)
    assert (said.code, said.err) == (0, "")
    judged = [row for row in said.out.splitlines() if row.endswith(JUDGED)]
    assert len(judged) > 12  # of three measures, twelve each
    assert f"hold all together at 95 % ({len(judged)} comparisons, Bonferroni)" in said.out
    assert said.out.count("baseline") == 2 * 3 * 3
    assert Path("kept/small.png").stat().st_size > 10_000
    status = asked(own, "status", *SMALL)
    assert status.out.startswith("small: 36 of 36 runs finished\n")
    said = asked(own, "table", *SMALL, "-o", "table.csv")
    assert said.out == "table.csv: 54 rows\n"
    table = pl.read_csv("table.csv")
    assert set(table["variant"]) == {"LPT", "SPT", "mine"}
    assert table.columns[-4:] == ["ratio", "ratio_low", "ratio_high", "verdict"]
    assert asked(own, "export", *SMALL, "-o", "runs.parquet").code == 0
    runs = pl.read_parquet("runs.parquet")
    assert (len(runs), set(runs["end"])) == (36, {"completed"})
    assert asked(own, "plot", *SMALL, "-o", "own.svg").code == 0


BEST = """\
name = "best"
scenario = "base.toml"
replications = 3
measures = ["makespan", "flowtime"]

[axes]
platform.workers = [4, 6, 8]
errors.average = [0.1, 0.2]

[picture]
x = "platform.workers"
lines = "errors.average"
best = true
"""


def test_of_each_line_of_a_picture_that_marks_the_best_the_best_is_printed(own: Shell) -> None:
    write(own.folder, campaign=BEST)
    head, *rows = rows_of(asked(own, "run", *ALONE).out)
    assert head == [
        *("best platform.workers", "errors.average"),
        *("completed", "makespan, s", "flowtime, s"),
    ]
    assert [row[1] for row in rows] == ["0.1", "0.2"]
    every = rows_of(asked(own, "table", "--all").out)
    assert every[0] == ["platform.workers", "errors.average", "measure", "variant", *every[0][4:]]
    assert len(every) == 1 + 3 * 2 * 2
    for row in rows:
        same = [it for it in every[1:] if it[1:3] == [row[1], "makespan, s"]]
        means = [float(it[5].split(" ")[0].replace(",", "")) for it in same]
        assert row[0] == same[means.index(min(means))][0]
    shortened = "At the platform.workers with the best makespan: 2 of 12 rows"
    said = asked(own, "table").out
    assert shortened in said
    assert [row[0] for row in rows] == ["6", "6"]
    assert "at an end of its axis" not in said
    at_end = "the best platform.workers is at an end of its axis: a better one may lie beyond."
    for values, are in (("[4, 6]", True), ("[6, 4]", True), ("[6, 4, 8]", False)):
        write(own.folder, campaign=BEST.replace("[4, 6, 8]", values))
        assert (f"In 2 of 2 rows {at_end}" in asked(own, "table").out) is are


MANY = """\
name = "many"
scenario = "base.toml"
replications = 1
measures = ["makespan", "flowtime"]

[axes]
errors.average = [0.1, 0.2]
platform.workers = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]

[variants]
SPT.policy.order = "SPT"
LPT.policy.order = "LPT"
"""


def test_of_a_campaign_of_many_rows_the_best_of_each_line_is_printed(own: Shell) -> None:
    write(own.folder, campaign=MANY)
    head, *rows = rows_of(asked(own, "run", *ALONE).out)
    assert head[:3] == ["errors.average", "best platform.workers", "variant"]
    assert [(row[0], row[2]) for row in rows] == [
        *(("0.1", "SPT"), ("0.1", "LPT"), ("0.2", "SPT"), ("0.2", "LPT")),
    ]
    said = asked(own, "table").out
    assert "At the platform.workers with the best makespan: 4 of 104 rows; `holdfast" in said
    every = rows_of(asked(own, "table", "--all").out)
    assert len(every) == 1 + 104
    for row in rows:
        where = row[0], "makespan, s", row[2]
        same = [it for it in every[1:] if (it[0], *it[2:4]) == where]
        means = [float(it[5].split(" ")[0].replace(",", "")) for it in same]
        assert row[1] == same[means.index(min(means))][1]


def test_of_many_rows_without_an_axis_the_first_are_printed(own: Shell) -> None:
    variants = "".join(f"v{k}.errors.average = {k / 1000}\n" for k in range(101))
    start, _, _ = MANY.partition("measures")
    write(own.folder, campaign=f"{start}[variants]\n{variants}")
    assert len(rows_of(asked(own, "run", *ALONE).out)) == 1 + 100
    told = "The first 100 of 101 rows; `holdfast campaign table campaign.toml --all` prints all."
    assert told in asked(own, "table").out


def rows_of(printed: str) -> list[list[str]]:
    """The table's head and rows, columns of which are at least two blanks apart."""
    lines = [line.strip() for line in printed.splitlines()]
    at = next(k for k, line in enumerate(lines) if line.startswith("──"))
    body = lines[at - 1 : at] + lines[at + 1 :]
    return [re.split(r"\s{2,}", line) for line in body[: body.index("")]]


def test_one_variant_is_compared_with_nothing(own: Shell) -> None:
    write(own.folder, campaign=BEST.partition("[picture]")[0])
    head, *rows = rows_of(asked(own, "run", *ALONE).out)
    assert head[-1] == "mean"
    assert {len(row) for row in rows} == {len(head)}


def test_a_table_is_written_for_latex(own: Shell) -> None:
    asked(own, "run", *SMALL, *ALONE)
    assert asked(own, "table", *SMALL, "-o", "table.tex").out == "table.tex: 54 rows\n"
    lines = Path("table.tex").read_text().splitlines()
    rows = [line for line in lines if line.endswith(r" \\")]
    assert len(rows) == 1 + 54
    assert len({row.count(" & ") for row in rows}) == 1
    assert any(r" $\pm$ " in row for row in rows)
    assert not any("±" in row for row in rows)


def asked(own: Shell, action: str, *words: str) -> Said:
    """What is answered of the campaign, whose results are kept."""
    return own("campaign", action, "campaign.toml", "--results", "kept", *words)


@pytest.mark.parametrize(("words", "parts"), listed(__file__, "refused"))
def test_what_cannot_be_is_one_line(own: Shell, words: str, parts: list[str]) -> None:
    line = own.refused("campaign", *words.split())
    assert all(part in line for part in ("holdfast: ", *parts))


MAKER = """
open("it ran", "w")
def make(workers=2):
    job = {"kind": "rigid", "jobs": [{"processors": 1, "time": 1}]}
    return {"name": "made", "platform": {"workers": workers}, "job": job}
def leave():
    raise SystemExit(0)
def leaving(report):
    raise SystemExit(0)
"""


@pytest.mark.parametrize("words", ["status", "table", "plot", "export -o x.csv"])
def test_questions_of_a_campaign_call_no_function_of_its_file(shell: Shell, words: str) -> None:
    shell.write('name = "x"\nscenario = "maker:make"\n', "x.toml")
    shell.write(MAKER, "maker.py")
    command, *options = words.split()
    assert "'maker:make' is a function, which is not called here" in shell.refused(
        "campaign", command, "x.toml", *options
    )
    assert "it ran" not in shell.files()
    shell("campaign", command, "x.toml", *options, "--load")
    assert "it ran" in shell.files()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run campaign.toml", "campaign.toml: scenario: it is a key of campaign files"),
        ("check campaign.toml", "campaign.toml: scenario: it is a key of campaign files"),
        ("campaign run base.toml", "base.toml: job: it is a key of scenario files"),
    ],
)
def test_a_campaign_is_no_scenario_and_the_refusal_names_the_command_for_it(
    own: Shell, words: str, told: str
) -> None:
    said = own(*words.split())
    accepted = "a scenario file; `holdfast campaign run FILE` runs a campaign"
    if words.startswith("campaign"):
        accepted = "a campaign file; `holdfast run FILE` runs a scenario"
    assert (said.code, said.out) == (2, "")
    assert said.err == f"holdfast: {told}; accepted: {accepted}\n"


@pytest.mark.parametrize(("lines", "code", "told"), listed(__file__, "leaving"))
def test_a_campaigns_code_that_leaves_and_a_folder_of_its_own_are_reported(
    shell: Shell, lines: str, code: int, told: str
) -> None:
    shell.write(f'name = "x"\n{lines}\n', "x.toml")
    shell.write(MAKER, "maker.py")
    said = shell("campaign", "run", "x.toml", "--processes", "1", "--replications", "1")
    assert said.code == code
    assert told in said.out + said.err


def test_a_full_disk_is_one_line(own: Shell) -> None:
    """As a limit of the size of files is, which is met while results are written."""
    code = "import resource, signal, sys; from sims.cli import main; "
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); sys.exit(main(sys.argv[1:]))"
    done = ended(python("-c", code, "campaign", "run", "campaign.toml", "--results", "kept"))
    assert done.code == 2
    *_, line = done.err.splitlines()
    assert line.startswith("holdfast: kept/")
    assert "cannot be written: " in line


def test_without_polars_the_pip_command_is_named(
    own: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    told = "polars is missing; accepted: pip install 'holdfast[results]'"
    assert told in own.refused("campaign", "run", "campaign.toml")


TINY_ONE = """\
name = "tiny"
scenario = "base.toml"
replications = 2
measures = ["mine:longest"]

[variants]
LPT.policy.order = "LPT"
SPT.policy.order = "SPT"
"""
FLAKY = MINE.replace(
    "    return max", "    if open('broken').read():\n        1 / 0\n    return max"
)


def test_a_campaign_that_is_half_done_says_what_is_left_and_goes_on(own: Shell) -> None:
    write(own.folder, campaign=TINY_ONE)
    ran = asked(own, "run", *ALONE)
    assert "results  kept: 4 runs" in ran.out
    assert "picture" not in ran.out  # it asks for none
    write(own.folder, campaign=TINY_ONE.replace("replications = 2", "replications = 3"))
    status = asked(own, "status").out.splitlines()
    assert status[0] == "tiny: 4 of 6 runs finished"
    assert status[-1].startswith("  rate      ")
    assert status[-1].endswith(" s left")
    table = asked(own, "table").out
    assert "Unfinished: 2 runs of 6 to go." in table
    assert "results  kept: 6 runs" in asked(own, "resume", *ALONE).out
    again = asked(own, "status").out
    assert again.startswith("tiny: 6 of 6 runs finished\n")
    assert "rate" not in again


@pytest.mark.parametrize(("measure", "told"), listed(__file__, "measures"))
def test_a_measure_that_gives_no_number_ends_the_campaign_with_one_message(
    own: Shell, measure: str, told: str
) -> None:
    write(own.folder, campaign=TINY_ONE.replace("mine:longest", measure))
    more = "\n\ndef nan(report):\n    return float('nan')\n\n\nnumber = 7\n"
    own.write(MINE + more, "mine.py")
    assert told in own.refused("campaign", "run", "campaign.toml", *ALONE)


LAW = """
class Often:
    mtbf, downtime = 1e9, 1.0

    def faults(self, rng, workers):
        for k in range(1, 400):
            yield 100.0 * k, k % workers
"""


def test_a_campaign_compares_a_hazard_of_ones_own_with_none(own: Shell) -> None:
    text = TINY_ONE.replace("LPT.policy.order = ", "none.faults = ")
    text = text.replace("SPT.policy.order = ", "mine.faults = ")
    text = text.replace('"LPT"', '"off"').replace('"SPT"', '"law:Often"')
    own.write(LAW, "law.py")
    write(own.folder, campaign=text.replace("mine:longest", "wasted"))
    said = asked(own, "run", *ALONE)
    assert (said.code, said.err) == (0, "")
    none, mine = (line.split() for line in said.out.splitlines() if " of 2" in line)
    assert (none[0], mine[0]) == ("none", "mine")
    assert none[4] != mine[4]
    own.write("raise SystemExit('it ran')", "law.py")
    assert asked(own, "status").code == 0


def test_only_a_campaign_that_runs_loads_its_measures(own: Shell) -> None:
    write(own.folder, campaign=TINY_ONE)
    asked(own, "run", *ALONE)
    own.write("raise SystemExit('it ran')", "mine.py")
    assert asked(own, "status").code == 0


def test_variants_of_other_jobs_are_not_compared(own: Shell) -> None:
    text = TINY_ONE.replace("SPT.policy", "small.platform.workers = 2\nSPT.policy")
    write(own.folder, campaign=text.replace('"mine:longest"', '"makespan"'))
    said = asked(own, "run", *ALONE).out
    assert "Unlike, and not compared: small: other jobs than the baseline's" in said


def test_files_that_are_others_than_when_it_began_are_named(own: Shell) -> None:
    write(own.folder, campaign=TINY_ONE)
    asked(own, "run", *ALONE)
    write(own.folder, campaign=TINY_ONE, mine=f"{MINE}# of a new mind\n")
    for name in ("mine", "helper"):
        sys.modules.pop(name, None)
    status = asked(own, "status").out
    assert "  changed   mine" in status
    resumed = asked(own, "resume", *ALONE).err
    assert resumed.startswith("holdfast: changed since it began: mine")


def test_what_raised_for_a_reason_that_is_gone_is_run_again_where_asked(own: Shell) -> None:
    write(own.folder, campaign=TINY_ONE, mine=FLAKY)
    Path("broken").write_text("yes")
    said = asked(own, "run", *ALONE)
    assert said.code == 1
    assert "4 runs raised an error, and are in no figure." in said.out
    assert "raised   LPT, seed 0: ZeroDivisionError" in said.out
    told = asked(own, "status").out
    assert told.count("raised    ") == 4
    assert "ZeroDivisionError: division by zero (mine.py, line " in told
    assert "holdfast run base.toml --set policy.order=LPT --seed 0" in told.replace("'", "")
    Path("broken").write_text("")
    assert "4 runs raised" in asked(own, "run", *ALONE).out
    assert "raised" not in asked(own, "run", "--retry", *ALONE).out
    after = asked(own, "status").out
    assert "raised" not in after


def test_of_one_variant_nothing_is_compared_and_how_long_it_ran_is_said(own: Shell) -> None:
    text = TINY_ONE.replace("SPT.policy", "LPT.policy").partition("LPT.policy.order")[0]
    text = text.replace('"mine:longest"', '"makespan"') + 'LPT.policy.order = "LPT"\n'
    write(own.folder, campaign=text + "[precision]\nrelative = 0.5\nfirst = 3\nmost = 6\n")
    said = asked(own, "run", *ALONE).out
    assert "Runs were added until intervals were narrow enough: all are at 98.33%, for 3" in said
    assert "verdict" not in said
    assert "comparison" not in said


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("precision", "relative = 0.5"),
        ("tune", "over = { protection.period = '1s..9s' }\nminimise = 'makespan'"),
    ],
)
def test_replications_are_refused_where_they_have_no_effect(
    own: Shell, section: str, keys: str
) -> None:
    head, _, variants = TINY_ONE.partition("[variants")
    variants = f"[variants{variants}" if section == "precision" else ""
    write(own.folder, campaign=f"{head}{variants}\n[{section}]\n{keys}\n")
    said = asked(own, "run", *ALONE, "--replications", "3")
    assert said.code == 2
    assert f"--replications: 3 has no effect beside [{section}]; accepted: the" in said.err


def test_runs_stay_in_the_table_with_a_dash_for_a_measure_that_is_added_later(
    own: Shell,
) -> None:
    file = own.write(BEST[: BEST.index("[picture]")], "best.toml")
    assert own("campaign", "run", file).code == 0
    before = own("campaign", "table", file).out.splitlines()
    text = file.read_text()
    file.write_text(text.replace('"flowtime"]', '"flowtime", "utilisation"]'))
    now = own("campaign", "table", file).out.splitlines()
    means = [it.split() for it in before if "makespan," in it and " of " in it]
    assert means
    assert all(row in [it.split() for it in now] for row in means)
    added = [it.split() for it in now if " utilisation " in it and " of " in it]
    assert len(added) == len(means)
    assert all(row[row.index("of") + 2] == "-" for row in added)
    again = own("campaign", "run", file).out.splitlines()
    filled = [it.split() for it in again if " utilisation " in it and " of " in it]
    assert len(filled) == len(means)
    assert all(row[row.index("of") + 2] != "-" for row in filled)


def test_an_axis_of_a_paper_that_its_rows_set_is_refused_and_one_row_runs_alone(
    shell: Shell,
) -> None:
    words = ("papers", "run", "volatile13/table1", "--size", "smoke")
    line = shell.refused(*words, "--axis", "policy.name=IE,Y-IE")
    assert "--axis: policy.name is what the variants set; accepted: another key; --only" in line
    line = shell.refused(*words, "--only", "YIE")
    assert "--only: 'YIE' is no row (did you mean Y-IE?)" in line
    said = shell(*words, "--only", "Y-IE")
    assert said.code == 0, said.err
    rows = [it.split()[0] for it in said.out.splitlines() if it.startswith("  Y-IE ")]
    assert rows == ["Y-IE"]
    assert not any(it.startswith("  IE ") for it in said.out.splitlines())
