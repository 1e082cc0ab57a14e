"""What volatile13 prints in Tables I and II."""

from __future__ import annotations

from attrs import frozen


@frozen
class PaperRow:
    """One row of a table; stdv is in units of 100 %."""

    fails: int
    diff: float
    wins: float
    wins30: float
    stdv: float

    def of(self, what: str) -> str:
        """One column, as it is printed."""
        if what == "#fails":
            return str(self.fails)
        return f"{getattr(self, what.removeprefix('%')):.2f}"


TABLE_1 = {
    "Y-IE": PaperRow(2, -11.82, 72.58, 92.09, 0.42),
    "P-IE": PaperRow(2, -10.50, 70.98, 91.19, 0.44),
    "E-IAY": PaperRow(4, -10.40, 64.75, 85.15, 0.77),
    "E-IY": PaperRow(4, -3.40, 59.91, 81.64, 0.80),
    "IE": PaperRow(1, 0.00, 100.00, 100.00, 0.00),
    "IAY": PaperRow(2, 13.59, 51.07, 76.42, 1.93),
    "E-IP": PaperRow(4, 19.35, 47.73, 69.69, 0.98),
    "IY": PaperRow(2, 24.22, 45.26, 70.85, 1.96),
    "IP": PaperRow(2, 52.03, 34.79, 58.54, 2.11),
    "E-IE": PaperRow(5, 53.93, 39.57, 64.51, 2.57),
    "Y-IAY": PaperRow(3, 99.75, 53.89, 70.77, 5.55),
    "Y-IY": PaperRow(3, 113.01, 49.22, 66.80, 5.73),
    "P-IAY": PaperRow(3, 125.27, 50.28, 67.33, 6.08),
    "Y-IP": PaperRow(2, 145.05, 38.56, 55.54, 5.90),
    "P-IY": PaperRow(3, 145.78, 42.54, 59.66, 6.22),
    "P-IP": PaperRow(2, 176.92, 36.92, 52.00, 6.61),
    "RANDOM": PaperRow(0, 2124.42, 0.00, 0.20, 22.54),
}
"""m = 5."""

TABLE_2 = {
    "Y-IE": PaperRow(141, -10.33, 71.35, 88.42, 0.54),
    "P-IE": PaperRow(141, -8.62, 69.64, 87.23, 0.55),
    "E-IAY": PaperRow(178, -6.10, 66.62, 81.93, 1.58),
    "E-IY": PaperRow(176, 8.04, 61.90, 77.87, 3.07),
    "E-IP": PaperRow(168, 29.68, 55.12, 71.86, 3.01),
    "IAY": PaperRow(152, 136.65, 46.98, 69.31, 14.76),
    "IY": PaperRow(152, 147.77, 42.06, 64.47, 14.76),
}
"""m = 10."""
