"""The figures of the co-scheduling study: what varies, who is compared, what 003 says of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import Factory, evolve, frozen

from sims.papers.cosched_trials import FAULT_FREE, Setting

FAULTY = (
    "IteratedGreedy-EndGreedy",
    "IteratedGreedy-EndLocal",
    "ShortestApplicationsFirst-EndGreedy",
    "ShortestApplicationsFirst-EndLocal",
    FAULT_FREE,
)
ENDS = ("EndLocal", "EndGreedy")
SPREADS = (1_500.0, 1_500_000.0, 2_499_000.0)
"""m_inf of the parts a (very heterogeneous), b (default) and c (homogeneous)."""


@frozen
class FigurePlan:
    """One figure of 003, section 6.2."""

    name: str
    title: str
    axis: str
    points: tuple[float, ...]
    """Default values of what varies; `--points` gives others."""
    vary: Callable[[Setting, float], Setting]
    paper: str
    """What the paper reports."""
    base: Setting = Factory(Setting)
    policies: tuple[str, ...] = FAULTY
    spreads: tuple[float, ...] = SPREADS
    decades: bool = False
    """Whether what varies does so by powers of ten."""

    def narrowed(self, spreads: Sequence[float] | None) -> FigurePlan:
        """Only these values of m_inf, where some are given."""
        return evolve(self, spreads=tuple(spreads)) if spreads else self

    def setting(self, spread: float, point: float) -> Setting:
        """The setting of one point of part `spread`."""
        return self.vary(evolve(self.base, smallest=spread), point)


def _processors(setting: Setting, value: float) -> Setting:
    return evolve(setting, processors=int(value))


def _applications(setting: Setting, value: float) -> Setting:
    return evolve(setting, applications=int(value))


def _mtbf(setting: Setting, value: float) -> Setting:
    return evolve(setting, mtbf_years=value)


def _unit(setting: Setting, value: float) -> Setting:
    return evolve(setting, unit=value)


def _sequential(setting: Setting, value: float) -> Setting:
    return evolve(setting, sequential=value)


MTBFS = (5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 125.0)

PLANS = (
    FigurePlan(
        "figure7",
        "redistribution without faults, n = 100",
        "processors, p",
        (200, 300, 400, 500, 750, 1000, 1500, 2000),
        _processors,
        "at least 20 % gained below 500 processors, less with more; most where m_inf = 1500",
        Setting(faults=False),
        ENDS,
    ),
    FigurePlan(
        "figure8",
        "redistribution without faults, n = 1000",
        "processors, p",
        (2000, 3000, 4000, 5000, 7000, 10000),
        _processors,
        "alike; in the homogeneous part little is gained where p/n is even",
        Setting(applications=1000, faults=False),
        ENDS,
    ),
    FigurePlan(
        "figure9",
        "impact of n, p = 5000",
        "applications, n",
        (100, 250, 500, 1000),
        _applications,
        "more than 40 % gained at n = 1000; IteratedGreedy beats ShortestApplicationsFirst",
        Setting(processors=5000),
    ),
    FigurePlan(
        "figure10",
        "impact of p, n = 100",
        "processors, p",
        (200, *range(500, 5001, 500)),
        _processors,
        "gained on average: IteratedGreedy 25 %, ShortestApplicationsFirst-EndLocal about 15 %",
    ),
    FigurePlan(
        "figure12",
        "impact of the MTBF, p = 1000",
        "MTBF of a processor, years",
        MTBFS,
        _mtbf,
        "gains shrink with the MTBF; at 10 years or less IteratedGreedy loses to "
        "ShortestApplicationsFirst",
    ),
    FigurePlan(
        "figure13",
        "impact of the MTBF, p = 5000",
        "MTBF of a processor, years",
        MTBFS,
        _mtbf,
        "as figure 12, more so, the homogeneous part most",
        Setting(processors=5000),
    ),
    FigurePlan(
        "figure14",
        "impact of the checkpointing cost, n = 100, p = 1000",
        "checkpointing cost c, s per data unit",
        (0.01, 0.1, 0.25, 0.5, 0.75, 1.0),
        _unit,
        "cheaper checkpoints: more gained, and closer to the fault-free run",
    ),
    FigurePlan(
        "figure15",
        "impact of small checkpointing costs, n = 100, p = 1000",
        "checkpointing cost c, s per data unit",
        (0.001, 0.01, 0.1, 1.0),
        _unit,
        "as figure 14",
        spreads=(1_500_000.0,),
        decades=True,
    ),
    FigurePlan(
        "figure16",
        "impact of the sequential fraction, n = 100, p = 1000",
        "sequential fraction, f",
        (0.0, 0.08, 0.2, 0.3, 0.4, 0.5),
        _sequential,
        "the more parallel, the more gained; homogeneous and f > 0.3: IteratedGreedy loses to no "
        "redistribution (that it does from 0.3 on comes out under no reading)",
    ),
)

FIGURES = {plan.name: plan for plan in PLANS}
"""Figure 11 is a single run: `cosched_single`."""
