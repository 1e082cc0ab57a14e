"""Cases of what strangers send: accounting, spot traces, campaigns, code, bombs; and of outputs
that are named oddly or lie in other folders."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import orjson
import polars

from sims.cli.commands import COMMANDS
from sims.docs.hooks import ROOT
from sims.examples import FOLDER
from sims.kit import Point
from sims.packing import digest
from tests.fuzz.mutate import LISTS, VALUES, spoilt
from tests.sims.cli.commands import FEW, TINY

STARTERS = ROOT / "sims" / "docs" / "starters"
Files = dict[str, bytes]
Asked = tuple[tuple[str, ...], Files]
"""Words, and the files of the folder."""


SETS = LISTS["sets"]
"""Of some keys, values that they may have."""


def _one_spoilt(texts: Mapping[str, str], rng: Random) -> Files:
    """One of them, or all but the first."""
    which = {rng.choice(list(texts))} if rng.random() < 0.8 else set(list(texts)[1:])
    return {
        name: spoilt(text, rng) if name in which else text.encode() for name, text in texts.items()
    }


def _sets(choices: Mapping[str, str], rng: Random) -> list[str]:
    """Some keys set, to one of their values or to any."""
    keys = rng.sample(list(choices), rng.randrange(3))
    some = {it: rng.choice((*choices[it].split(), rng.choice(VALUES))) for it in keys}
    return [word for key, value in some.items() for word in ("--set", f"{key}={value}")]


# --- files of other programs ----------------------------------------------------------------------


def _sacct(rng: Random) -> Asked:
    texts = {it: (FOLDER / it).read_text() for it in ("slurm.toml", "slurm-sacct.txt")}
    lines = texts["slurm-sacct.txt"].splitlines()
    first = rng.randrange(1, len(lines) - 40)
    texts["slurm-sacct.txt"] = "\n".join([lines[0], *lines[first : first + 40]]) + "\n"
    command = rng.choice((("run",), ("check",), ("run", "--log", "it.jsonl")))
    return (*command, "slurm.toml", *_sets(SETS["sacct"], rng)), _one_spoilt(texts, rng)


def _spot(rng: Random) -> Asked:
    texts = {it: (FOLDER / it).read_text() for it in ("deadline.toml", "spot-zone.json")}
    command = rng.choice((("run", "--log", "none"), ("check",), ("run", "--log", "it.jsonl.gz")))
    return (*command, "deadline.toml", *_sets(SETS["spot"], rng)), _one_spoilt(texts, rng)


PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
READERS = {
    "log.jsonl": ("summary",),
    "load.swf": ("run", "it.toml", "--set", 'job={kind="rigid",swf={file="%s"}}'),
    "jobs.txt": ("run", "it.toml", "--set", 'job={kind="rigid",sacct={file="%s"}}'),
    "states.csv": (
        *("run", "it.toml", "--set"),
        'platform.availability={kind="csv",file="%s",worker="A",slot=1}',
    ),
    "zone.json": (
        *("run", "it.toml", "--set"),
        'platform.availability={kind="spot",file="%s",states={1="u"}}',
    ),
}


@cache
def _packed(suffix: str, unit: bytes) -> bytes:
    # Packed parts one after the other are a packed file, too; bzip2 takes seconds for the whole.
    return PACKERS[suffix](unit * (600_000 // len(unit))) * 30


def _bomb(rng: Random) -> Asked:
    name, words = rng.choice(list(READERS.items()))
    if rng.random() < 0.3:
        content = rng.choice((b".a" * 10**5, b"[" * 10**5, b"a" * 10**6, b"1," * 10**6))
        return ("run", "it.toml"), {"it.toml": b"a" + content + b" = 1"}
    suffix = rng.choice((*PACKERS, ".zst", ".tar", ".tgz"))
    unit = rng.choice((b"\0", b"1 ", b"\n", b"{}\n", b"[", b'{"a":'))
    content = _packed(suffix, unit) if suffix in PACKERS else unit * 1000
    path = name + suffix
    if suffix == ".tar":
        held, inner = io.BytesIO(), tarfile.TarInfo(rng.choice(("../x.json", "/x", "a/b.json")))
        inner.size = rng.choice((2, 2**40))
        with tarfile.open(fileobj=held, mode="w") as archive:
            archive.addfile(inner, io.BytesIO(b"{}") if inner.size == 2 else None)
        words = ("papers", "run", "published/deadline", "--size", "smoke", "--input", path)
        return words, {path: held.getvalue()}
    asked = tuple(it % path if "%s" in it else it for it in words)
    asked = asked if len(asked) > 1 else (*asked, path)
    return asked, {"it.toml": FEW.encode(), path: content}


# --- code -----------------------------------------------------------------------------------------

CLASSES = {
    "strategy": 'policy={name="mine:SmallestFit"}',
    "order": 'policy={name="EASY",order="mine:widest"}',
    "hazard": 'platform.speed={kind="own",name="mine:Weekends"}',
    "law": 'platform.speed={kind="own",name="mine:Law"}',
}
LAW = """class Law:
    peak = 2.0

    def path(self, rng):
        for k in range(5):
            yield 3.0 * k, 2.0 * rng.random()
"""


def _code(rng: Random) -> Asked:
    which = rng.choice(list(CLASSES))
    text = LAW if which == "law" else (STARTERS / f"{which}.py.txt").read_text()
    files = {"it.toml": FEW.encode(), "lib/mine.py": spoilt(text, rng)}
    command = rng.choice((("run", "--log", "none"), ("check", "--load"), ("check",)))
    place = ("--policies", rng.choice(("lib", "lib", "lib", "nowhere", "it.toml")))
    return (*command, "it.toml", "--set", CLASSES[which], *place), files


def _starter(rng: Random) -> Asked:
    if rng.random() < 0.5:
        what = rng.choice(("scenario", "policy", "hazard", "campaign"))
        points = [it.value for it in Point]
        which = rng.choice(("rigid", "iterative", "rigid/faults", *points, *VALUES))
        return ("new", what, which, *rng.choice(((), ("-o", rng.choice(NAMES))))), {}
    file = rng.choice(sorted(STARTERS.glob("*.py.txt")))
    name = rng.choice(("SmallestFit", "widest", "patient", "Weekends", "nothing"))
    files = {"mine.py": spoilt(file.read_text(), rng)}
    return ("check-policy", f"mine:{name}", "--views", "3", "--within", "0.2"), files


# --- campaigns, comparisons, names of outputs -----------------------------------------------------

NAMES = LISTS["names"]
CAMPAIGN = """name = "it"
scenario = "few.toml"
replications = 2
measures = ["makespan", "wait"]
by = "user"

[axes]
platform.workers = { first = 8, last = 16, count = 2 }

[variants]
FCFS.policy.order = "FCFS"
SPT = { policy.order = "SPT", policy.name = "EASY" }

[picture]
x = "platform.workers"

[sizes.smoke]
replications = 1
"""


def _campaign(rng: Random) -> Asked:
    text = CAMPAIGN.replace('by = "user"\n', "") if rng.random() < 0.7 else CAMPAIGN
    if rng.random() < 0.9:
        text = text.partition("[picture]")[0] + "[sizes" + text.partition("[sizes")[2]
    what = rng.choice(("run", "run", "run", "status", "table", "resume", "export"))
    words = ["--processes", "1"] if what in ("run", "resume") else []
    words += ["-o", rng.choice(NAMES)] if what == "export" else []
    words += ["--size", "smoke"] if rng.random() < 0.3 else []
    files = _one_spoilt({"it.toml": text, "few.toml": FEW}, rng)
    return ("campaign", what, "it.toml", *words), files


def _compare(rng: Random) -> Asked:
    vary = rng.choice(("policy.order=FCFS,SPT", "platform.workers=8,9", "job.overrun=kill,finish"))
    words = ["--vary", vary, "--runs", rng.choice(("1", "2", *VALUES[:6]))]
    words += ["--by", rng.choice(("user", "size", "time", "x"))] if rng.random() < 0.5 else []
    words += ["--measure", rng.choice(("wait", "flowtime", "wait-p95", "makespan", "cost"))]
    output = rng.choice(("-o", "-o", "-o", "--store"))
    words += [output, rng.choice(NAMES)] if rng.random() < 0.4 else []
    return ("compare", "it.toml", *words), {"it.toml": spoilt(FEW, rng)}


def _elsewhere(rng: Random) -> Asked:
    """Logs and other outputs where one does not expect them."""
    files = {"it.toml": TINY.encode(), "sub/log.jsonl": (LOG * rng.randrange(3)).encode()}
    name = rng.choice((*NAMES, "sub", "sub/log.jsonl", "logs/x.jsonl", "none", "-"))
    match rng.randrange(4):
        case 0:
            files["it.toml"] = f"log = {rng.choice((repr(name), *VALUES))}\n{TINY}".encode()
            return ("run", "it.toml"), files
        case 1:
            return ("run", "it.toml", "--log", name), files
        case 2:
            to = rng.choice(("chrome", "batsim", "jobs", "events"))
            return ("export", rng.choice(("sub/log.jsonl", name)), "--to", to, "-o", name), files
        case _:
            command = rng.choice([it for it in COMMANDS if it not in ("papers", "optimum")])
            return (command, name), files


LOG = (ROOT / "tests" / "golden" / "rigid.jsonl").read_text()

# --- folders of results ---------------------------------------------------------------------------

STORE = "logs/campaigns/it"
KEPT = CAMPAIGN.replace('by = "user"\n', "").partition("[picture]")[0]


@cache
def _results() -> Files:
    """The files of a folder with the results of a small campaign."""
    from sims.campaign.engine import execute
    from sims.campaign.executors import given
    from sims.campaign.file import load_campaign
    from sims.campaign.results import Store

    with TemporaryDirectory() as folder, chdir(folder):
        Path("few.toml").write_text(FEW)
        Path("it.toml").write_text(KEPT)
        with ThreadPoolExecutor(1) as pool:
            asked = load_campaign(Path("it.toml"))
            execute(asked, given(pool, slots=1), Store(Path(STORE)))
        return {f"{STORE}/{it.name}": it.read_bytes() for it in Path(STORE).iterdir()}


def _damaged(content: bytes, rng: Random) -> bytes:
    """Cut, or with some bits flipped, or with bytes put in."""
    place = rng.randrange(len(content))
    match rng.randrange(3):
        case 0:
            return content[:place]
        case 1:
            return (
                content[:place]
                + bytes([content[place] ^ 1 << rng.randrange(8)])
                + content[place + 1 :]
            )
        case _:
            return content[:place] + rng.randbytes(rng.randrange(1, 9)) + content[place:]


def _forged(content: bytes, rng: Random) -> bytes:
    """A table with a column that is lacking, odd, or of another type."""
    frame = polars.read_parquet(io.BytesIO(content))
    name = rng.choice(frame.columns)
    odd = rng.choice(
        (None, -1, 0.5, float("nan"), float("inf"), "", "{", "[1]", "x", [1], 2**63 - 1)
    )
    if rng.random() < 0.15:
        frame = frame.drop(name)
    elif rng.random() < 0.5:
        frame = frame.with_columns(polars.lit(odd).alias(name))
    else:
        frame = frame.with_columns(polars.lit(rng.choice(VALUES)).alias(name))
    packed = io.BytesIO()
    frame.write_parquet(packed)
    return packed.getvalue()


def _store(rng: Random) -> Asked:
    files = dict(_results())
    name = rng.choice(list(files))
    content = files.pop(name)
    if name.endswith(".json"):
        files[name] = spoilt(content.decode(), rng)
    elif rng.random() < 0.4:
        files[name] = _damaged(content, rng)
    else:
        forged = _forged(content, rng)
        files[f"{STORE}/{digest(forged)}.parquet"] = forged
    files |= {"it.toml": KEPT.encode(), "few.toml": FEW.encode()}
    what = rng.choice(("run", "table", "status", "export"))
    more = {"run": ("--processes", "1"), "export": ("-o", "out.csv")}.get(what, ())
    return ("campaign", what, "it.toml", *more), files


# --- pages ----------------------------------------------------------------------------------------


def _page(rng: Random) -> Asked:
    """A page, or another output, of a log in whose names markup stands."""
    lines = LOG.splitlines()[: rng.randrange(20, 120)]
    names = sorted(set(re.findall(r'"job":"([^"]*)"', LOG)))
    for name in rng.sample(names, min(len(names), 3)):
        odd = orjson.dumps(rng.choice(MARKUP)).decode()
        lines = [line.replace(f'"job":"{name}"', f'"job":{odd}') for line in lines]
    lines[0] = lines[0].replace('"scenario":"', f'"scenario":"{rng.choice(("<b>", "$$x$$", ""))}')
    asked = rng.choice(
        (
            *(("view", "-o", "out.html"),) * 3,
            ("plot", "-o", "out.svg", "--what", "jobs"),
            ("export", "--to", "jobs", "-o", "out.csv"),
            ("export", "--to", "batsim", "-o", "out.csv"),
        )
    )
    text = "\n".join(lines) + "\n"
    content = text.encode() if rng.random() < 0.7 else spoilt(text, rng)
    return (asked[0], "it.jsonl", *asked[1:]), {"it.jsonl": content}


MARKUP = (
    """<img src=x onerror="document.title='XSS'">""",
    "</script><script>alert(1)</script>",
    "</title><svg onload=alert(1)>",
    "$$x^2$$",
    "\x1b[31mred",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe",
    '=HYPERLINK("http://x")',
    "&lt;b&gt;",
    "a\nb",
)
"""Names that mean something to a browser, a terminal, a spreadsheet or a typesetter."""

KINDS: Mapping[Callable[[Random], Asked], int] = {
    _sacct: 16,
    _spot: 16,
    _bomb: 6,
    _code: 20,
    _starter: 6,
    _campaign: 12,
    _compare: 12,
    _elsewhere: 12,
    _store: 10,
    _page: 10,
}
"""How often each is drawn."""
