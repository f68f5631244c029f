"""Labels from golden-set columns and CSV files. Words become verdicts, or an error that names its place."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_verica.calibration.judged import JudgedOutput, JudgedRun
from pytest_verica.calibration.label import Draw, DrawMethod, Label, LabelVerdict
from pytest_verica.errors import ConfigError, Place, Problem

COLUMN = "verica_label_"
GOLDEN_SET = "golden set"
"""The labeller of what stands in a golden set's column."""

_WORDS: dict[str, LabelVerdict] = {
    **dict.fromkeys(("yes", "1", "true", "good", "pass"), "pass"),
    **dict.fromkeys(("no", "0", "false", "bad", "fail"), "fail"),
}
_CASE_COLUMNS = ("case", "id", "case_id")
_LABEL_COLUMNS = ("label", "verdict")


def verdict_of(word: object) -> LabelVerdict | None:
    """pass or fail for yes/no, 1/0, true/false, good/bad, pass/fail in any case; None where it is another word."""
    if isinstance(word, float) and word.is_integer():
        word = int(word)
    return _WORDS.get(str(word).strip().lower())


def recorded_labels(run: JudgedRun) -> list[Label]:
    """The labels in the golden set's column `verica_label_<criterion>`, for outputs that stand in the same row: only
    those are the ones that somebody looked at. An empty cell is no label.

    Raises:
        ConfigError: a cell has another word.
    """
    found: list[Label] = []
    problems: list[Problem] = []
    names = (COLUMN + run.criterion.id, COLUMN + run.criterion.name)
    if not run.eval.golden_set or run.journal is None or not _has_labels(run.journal):
        return []
    for output in run.outputs:
        case = run.case(output)
        word = next((case.columns[name] for name in names if case.columns.get(name) not in (None, "")), None)
        if word is None or not _stands_in(case.output, case.columns):
            continue
        verdict = verdict_of(word)
        if verdict is None:
            problems.append(_unknown(word, f"case {output.case}, column {names[0]}", Place(run.eval.golden_set)))
            continue
        drawn = Draw("unknown", _word(output))
        found.append(
            Label(run.eval.id, run.criterion.id, *output.key, verdict, GOLDEN_SET, run.run.started, None, draw=drawn)
        )
    if problems:
        raise ConfigError(problems)
    return found


def _has_labels(journal: Path) -> bool:
    """Whether any column of labels is in a journal: most have none, and then no case need be read for one."""
    with journal.open("rb") as lines:
        return any(COLUMN.encode() in line for line in lines)


def read_labels(
    path: Path, run: JudgedRun, labeller: str, *, method: DrawMethod = "unknown", now: str | None = None
) -> list[Label]:
    """The labels of a CSV file with the columns `case` and `label`, and perhaps `labeller`, `note` and `output_hash`.

    A label without an output_hash is one of the case's output in this run. method: how the outputs were chosen.

    Raises:
        ConfigError: every line that is no label: of an unknown case, with another word, or twice.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the labels cannot be read: {error}", Place(str(path))) from None
    reader = csv.DictReader(io.StringIO(text, newline=""))
    columns = {name.strip().lower(): name for name in reader.fieldnames or ()}
    case_column = next((columns[name] for name in _CASE_COLUMNS if name in columns), None)
    label_column = next((columns[name] for name in _LABEL_COLUMNS if name in columns), None)
    if case_column is None or label_column is None:
        found = ", ".join(reader.fieldnames or ()) or "nothing"
        raise ConfigError(f"a file of labels has the columns `case` and `label`; found {found}", Place(str(path), 1))
    time = now or datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    by_case: dict[str, list[JudgedOutput]] = {}
    for output in run.outputs:
        by_case.setdefault(output.case, []).append(output)
    labels: list[Label] = []
    problems: list[Problem] = []
    seen: dict[tuple[str, str, str], int] = {}
    for row in reader:
        place = Place(str(path), reader.line_num)
        outcome = _label_of_row(row, columns, (case_column, label_column), by_case, place)
        if isinstance(outcome, Problem):
            problems.append(outcome)
        elif outcome is not None:
            output, verdict = outcome
            who = str(row.get(columns.get("labeller", ""), "") or "").strip() or labeller
            key = (*output.key, who)
            if key in seen:
                message = f"{output.case!r} is labelled twice by {who!r}; the other is on line {seen[key]}"
                problems.append(Problem(message, place))
                continue
            seen[key] = reader.line_num
            note = str(row.get(columns.get("note", ""), "") or "").strip() or None
            drawn = Draw(method, _word(output), passes=run.passes, judged=len(run.outputs), run=run.run.id)
            labels.append(
                Label(run.eval.id, run.criterion.id, *output.key, verdict, who, time, run.judge_hash, note, drawn)
            )
    if problems:
        raise ConfigError(problems)
    return labels


def _label_of_row(
    row: Mapping[str, Any],
    columns: Mapping[str, str],
    read: tuple[str, str],
    by_case: Mapping[str, list[JudgedOutput]],
    place: Place,
) -> tuple[JudgedOutput, LabelVerdict] | Problem | None:
    """The output and verdict of a row; None where nobody has answered."""
    case, word = (str(row.get(name) or "").strip() for name in read)
    if not word:
        return None
    verdict = verdict_of(word)
    if verdict is None:
        return _unknown(word, "", place)
    outputs = by_case.get(case, [])
    wanted = str(row.get(columns.get("output_hash", ""), "") or "").strip()
    if wanted:
        outputs = [output for output in outputs if output.output_hash.startswith(wanted)]
    if len(outputs) == 1:
        return outputs[0], verdict
    if outputs:
        return Problem(f"the case {case!r} has {len(outputs)} outputs; add the column `output_hash`", place)
    what = f"output {wanted!r} of the case" if wanted else "case"
    return Problem(f"the run has no {what} {case!r} with a usable verdict of the judge", place)


def _unknown(word: object, where: str, place: Place) -> Problem:
    at = f"{where}: " if where else ""
    return Problem(f"{at}{word!r} is no label; write yes/no, 1/0, true/false, good/bad or pass/fail", place)


def _stands_in(output: Mapping[str, Any] | None, columns: Mapping[str, Any]) -> bool:
    """Whether an output was recorded in its own row: then the row's label is a label of it."""
    if output is None:
        return False
    text, data = output.get("text"), output.get("data")
    for value in columns.values():
        if isinstance(value, str) and value == text:
            return True
        if isinstance(value, Mapping) and (value.get("text") == text or value == data):
            return True
    return False


def _word(output: JudgedOutput) -> Any:
    return "pass" if output.passed else "fail"
