"""The alignment history of a judge: a point for each evaluation that was measured, the last twelve kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_verica.calibration.alignment import Alignment
from pytest_verica.canonical import content_hash
from pytest_verica.errors import StoreError
from pytest_verica.store.folder import FOLDER, make_folder
from pytest_verica.store.whole_file import write_whole

KEPT = 12


@dataclass(frozen=True)
class Point:
    """version: 1, 2, … of the evaluation; run: its id; measured: ISO 8601 in UTC; judge_hash; pass_at: None for a judge
    without a threshold; agreement, n: as reported (held-out where there is a holdout), None where nothing is labelled;
    rate, low, high: corrected, None where there is no number; light: its colour."""

    version: int
    run: str
    measured: str
    judge_hash: str | None
    pass_at: float | None
    agreement: float | None
    n: int
    rate: float | None
    low: float | None
    high: float | None
    light: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Point:
        return cls(**{name: data[name] for name in cls.__dataclass_fields__})


def history_path(root: Path, eval_id: str, criterion: str) -> Path:
    return root / FOLDER / "calibration" / f"{content_hash([eval_id, criterion])[:16]}.json"


def read_history(root: Path, eval_id: str, criterion: str) -> list[Point]:
    """The points, oldest first; none where nothing was measured yet.

    Raises:
        StoreError: the file is damaged.
    """
    path = history_path(root, eval_id, criterion)
    try:
        data = json.loads(path.read_text("utf-8"))
        return [Point.from_json(point) for point in data["points"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"the history {path} cannot be read: {error}. Delete it: labels and runs stay") from error


def remember(root: Path, alignment: Alignment, measured: str) -> list[Point]:
    """Adds what was measured. Another measurement of the same evaluation (tuned, or with more labels) takes the place
    of its point. measured: ISO 8601 in UTC.

    Raises:
        StoreError: the file cannot be read or written.
    """
    run = alignment.run
    points = read_history(root, run.eval.id, run.criterion.id)
    known = next((place for place, point in enumerate(points) if point.run == run.run.id), None)
    version = points[known].version if known is not None else points[-1].version + 1 if points else 1
    confusion, rate = alignment.measured, alignment.rate
    point = Point(
        version,
        run.run.id,
        measured,
        run.judge_hash,
        run.pass_at,
        None if confusion.agreement is None else float(confusion.agreement),
        confusion.n,
        rate.estimate,
        rate.low,
        rate.high,
        alignment.light.colour,
    )
    if known is None:
        points.append(point)
    else:
        points[known] = point
    points = points[-KEPT:]
    path = history_path(root, run.eval.id, run.criterion.id)
    data = {"eval": run.eval.id, "criterion": run.criterion.id, "points": [vars(point) for point in points]}
    try:
        make_folder(root)
        write_whole(path, [json.dumps(data, indent=1).encode()])
    except OSError as error:
        raise StoreError(f"the history {path} cannot be written: {error}") from error
    return points
