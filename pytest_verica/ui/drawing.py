"""Where the lines of the drawings go: the curve of a threshold, the points of a history. Numbers only, no markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_verica.calibration.alignment import Alignment
from pytest_verica.calibration.history import Point
from pytest_verica.stats.threshold import Cut

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 24, 34


@dataclass(frozen=True)
class Frame:
    """The part of a drawing that values are drawn in. low, high: of the values along x; floor: of those along y, whose
    top is 1."""

    low: float
    high: float
    floor: float

    def x(self, value: float) -> float:
        return LEFT + (value - self.low) / ((self.high - self.low) or 1) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (value - self.floor) / ((1 - self.floor) or 1) * (HEIGHT - TOP - BOTTOM)

    @property
    def left(self) -> int:
        return LEFT

    @property
    def right(self) -> int:
        return WIDTH - RIGHT

    @property
    def marks(self) -> list[tuple[float, float]]:
        """(value, y) of the lines across."""
        steps = [self.floor + (1 - self.floor) * part / 4 for part in range(5)]
        return [(step, self.y(step)) for step in steps]


@dataclass(frozen=True)
class ThresholdDrawing:
    """curve: points of the line; now: x of the threshold in force; best: x and y of the optimum, None where passing
    nothing is best; cuts: (threshold, balanced accuracy), ascending, the last one for whatever is above them; step: of
    the slider."""

    frame: Frame
    curve: str
    now: float
    best: tuple[float, float] | None
    cuts: list[tuple[float | None, float]]
    step: float


def threshold_drawing(found: Alignment) -> ThresholdDrawing:
    """The curve of a judge's sweep, which is over the labels that may be tuned on."""
    sweep, config = found.sweep, found.run.criterion.config
    assert sweep is not None
    scores = [cut.at for cut in sweep.cuts if cut.at is not None]
    low, high = float(config.get("min", scores[0])), float(config.get("max", scores[-1]))
    lowest = min(float(cut.balanced_accuracy) for cut in sweep.cuts)
    frame = Frame(low, high, _floor(lowest))
    best = None if sweep.best.at is None else (frame.x(sweep.best.at), frame.y(float(sweep.best.balanced_accuracy)))
    return ThresholdDrawing(
        frame,
        _curve(frame, sweep.cuts),
        frame.x(float(sweep.current.at if sweep.current.at is not None else low)),
        best,
        [(cut.at, float(cut.balanced_accuracy)) for cut in sweep.cuts],
        _step(high - low),
    )


def _floor(lowest: float) -> float:
    """Where the drawing begins, so that the lines across stand at values that one can read."""
    return next((floor for floor in (0.8, 0.6, 0.4, 0.2) if floor <= lowest - 0.02), 0.0)


def _curve(frame: Frame, cuts: Sequence[Cut]) -> str:
    """A step for each cut: up to an observed score, every threshold passes the same outputs."""
    points: list[tuple[float, float]] = []
    before = frame.low
    for cut in cuts:
        at = frame.high if cut.at is None else cut.at
        y = frame.y(float(cut.balanced_accuracy))
        points += [(frame.x(before), y), (frame.x(at), y)]
        before = at
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _step(span: float) -> float:
    """A hundredth of the range or so, as a number that one can read."""
    for step in (0.001, 0.01, 0.1, 1.0):
        if span / step <= 200:
            return step
    return 10.0


@dataclass(frozen=True)
class HistoryDrawing:
    """line: of the points that have an agreement; points: (x, y, its words)."""

    frame: Frame
    line: str
    points: list[tuple[float, float, str]]


def history_drawing(points: Sequence[Point]) -> HistoryDrawing | None:
    """Agreement by version; None where nothing was measured."""
    measured = [(place, point) for place, point in enumerate(points) if point.agreement is not None]
    if not measured:
        return None
    lowest = min(point.agreement or 0.0 for _, point in measured)
    frame = Frame(-0.5, len(points) - 0.5, _floor(lowest))
    drawn = [
        (frame.x(place), frame.y(point.agreement or 0.0), f"v{point.version} {100 * (point.agreement or 0):.0f} %")
        for place, point in measured
    ]
    return HistoryDrawing(frame, " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in drawn), drawn)
