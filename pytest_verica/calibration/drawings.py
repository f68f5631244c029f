"""The drawings of an alignment as SVG that stands in a page: every mark has its words, colours come from the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pytest_verica.calibration.history import Point
from pytest_verica.calibration.sweep import Sweep
from pytest_verica.report.figures import percent
from pytest_verica.stats.agreement import Confusion

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 16, 18, 34


def wings(found: Confusion) -> str:
    """One bar that opens from the middle: agreement, too strict to the left, too lenient to the right; none where
    nothing was compared. Its parts add up to the whole."""
    if found.agreement is None or found.too_strict is None or found.too_lenient is None:
        return ""
    strict, agreed, lenient = (float(part) * WIDTH for part in (found.too_strict, found.agreement, found.too_lenient))
    words = (
        f"too strict {percent(found.too_strict)}, agreement {percent(found.agreement)}, "
        f"too lenient {percent(found.too_lenient)}"
    )
    parts = [(0.0, strict, "strict"), (strict, agreed, "agreed"), (strict + agreed, lenient, "lenient")]
    bars = "".join(
        f'<rect class="{name}" x="{x:.2f}" y="4" width="{width:.2f}" height="28"/>'
        for x, width, name in parts
        if width > 0
    )
    texts = (
        f'<text x="0" y="52">◀ too strict {percent(found.too_strict)} ({found.fn})</text>'
        f'<text x="{WIDTH / 2}" y="52" text-anchor="middle">agreement {percent(found.agreement)}</text>'
        f'<text x="{WIDTH}" y="52" text-anchor="end">too lenient {percent(found.too_lenient)} ({found.fp}) ▶</text>'
    )
    return _svg(words, WIDTH, 60, bars + texts)


def interval(low: float, estimate: float, high: float, judge: float | None) -> str:
    """The corrected rate on a line from 0 to 100 %, with the judge's raw rate as a hollow mark."""
    words = f"corrected {percent(estimate)}, 95 % interval {percent(low)} to {percent(high)}"
    raw = ""
    if judge is not None:
        words += f"; the judge's raw rate {percent(judge)}"
        raw = f'<circle class="raw" cx="{judge * WIDTH:.2f}" cy="18" r="6"/>'
    marks = "● corrected" + (" ○ judge's raw rate" if judge is not None else "")
    ends = f'<text x="0" y="48">0 %</text><text x="{WIDTH}" y="48" text-anchor="end">100 %</text>'
    ends += f'<text x="{WIDTH / 2}" y="48" text-anchor="middle">{marks}</text>'
    return _svg(
        words,
        WIDTH,
        56,
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="18" y2="18"/>'
        f'<rect class="range" x="{low * WIDTH:.2f}" y="12" width="{max(1.0, (high - low) * WIDTH):.2f}" height="12"/>'
        f'<circle class="point" cx="{estimate * WIDTH:.2f}" cy="18" r="7"/>{raw}{ends}',
    )


def sweep_curve(found: Sweep) -> str:
    """Balanced accuracy over the cut: the optimum as a dot, the threshold in force as a dashed line."""
    placed = [(cut.at, float(cut.balanced_accuracy)) for cut in found.cuts if cut.at is not None]
    lowest = min([at for at, _ in placed] + ([found.current.at] if found.current.at is not None else []))
    highest = max([at for at, _ in placed] + ([found.current.at] if found.current.at is not None else []))

    def x(at: float) -> float:
        span = highest - lowest
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * ((at - lowest) / span if span else 0.5)

    line = " ".join(f"{x(at):.2f},{_y(accuracy):.2f}" for at, accuracy in placed)
    inner = f'{_axes()}<polyline class="curve" points="{line}"/>'
    inner += "".join(f'<circle class="dot" cx="{x(at):.2f}" cy="{_y(a):.2f}" r="3"/>' for at, a in placed)
    current, best = found.current, found.best
    words = f"balanced accuracy {float(current.balanced_accuracy):.3f} at the current threshold"
    if current.at is not None:
        words += f" {current.at:g}"
        at = x(current.at)
        inner += f'<line class="now" x1="{at:.2f}" x2="{at:.2f}" y1="{_TOP}" y2="{HEIGHT - _BOTTOM}"/>'
        inner += f'<text x="{at:.2f}" y="{HEIGHT - 6}" text-anchor="middle">current {current.at:g}</text>'
    if best.at is not None:
        accuracy = float(best.balanced_accuracy)
        words += f"; optimum {accuracy:.3f} at {best.at:g}"
        inner += f'<circle class="point" cx="{x(best.at):.2f}" cy="{_y(accuracy):.2f}" r="7"/>'
        inner += (
            f'<text x="{x(best.at):.2f}" y="{_y(accuracy) - 10:.2f}" text-anchor="middle">optimum {best.at:g}: '
            f"{accuracy:.3f}</text>"
        )
    return _svg(words, WIDTH, HEIGHT, inner)


def history_curve(points: Sequence[Point]) -> str:
    """Agreement by version; none where no point has one."""
    known = [point for point in points if point.agreement is not None]
    if not known:
        return ""
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(known) - 1)
    placed = [(_LEFT + step * place, point, float(point.agreement or 0)) for place, point in enumerate(known)]
    inner = _axes() + '<polyline class="curve" points="'
    inner += " ".join(f"{x:.2f},{_y(agreement):.2f}" for x, _, agreement in placed) + '"/>'
    for x, point, agreement in placed:
        anchor = "start" if x < _LEFT + 20 else "end" if x > WIDTH - _RIGHT - 20 else "middle"
        inner += f'<circle class="point" cx="{x:.2f}" cy="{_y(agreement):.2f}" r="5"/>'
        inner += f'<text x="{x:.2f}" y="{HEIGHT - 8}" text-anchor="{anchor}">v{point.version}</text>'
        inner += f'<text x="{x:.2f}" y="{_y(agreement) - 9:.2f}" text-anchor="{anchor}">{percent(agreement, 0)}</text>'
    words = ", ".join(f"v{point.version} {percent(agreement, 0)}" for _, point, agreement in placed)
    return _svg(f"agreement by version: {words}", WIDTH, HEIGHT, inner)


def _y(share: float) -> float:
    return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - share)


def _axes() -> str:
    lines = ""
    for share in (0.0, 0.5, 1.0):
        lines += f'<line class="axis" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{_y(share):.2f}" y2="{_y(share):.2f}"/>'
        lines += f'<text x="{_LEFT - 8}" y="{_y(share) + 4:.2f}" text-anchor="end">{share:g}</text>'
    return lines


def _svg(words: str, width: int, height: int, inner: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(words)}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape(words)}</title>{inner}</svg>'
    )
