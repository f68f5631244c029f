"""python_check: what a user's function may return, and everything that can go wrong in it."""

from __future__ import annotations

import asyncio
import functools
import math
import threading

import pytest
from pydantic import ValidationError

from pytest_verica.errors import ConfigError
from pytest_verica.grade import Grade
from pytest_verica.output import Output


def returns(value):
    def check(output, case):
        return value

    return check


def raises(error):
    def check(output, case):
        raise error

    return check


async def answers_later(output, case):
    await asyncio.sleep(0)
    return case["expected"] in output.text


class HasCall:
    def __call__(self, output, case):
        return True


VERDICTS = [
    # function, more keys, outcome, score, label, explanation
    (returns(True), {}, "pass", None, None, "returned True"),
    (returns(False), {}, "fail", None, None, "returned False"),
    (returns(False), {"negate": True}, "pass", None, None, "negated"),
    (returns(0.7), {"pass_at": 0.5}, "pass", 0.7, None, "the score 0.7; wanted at least 0.5"),
    (returns(0.3), {"pass_at": 0.5}, "fail", 0.3, None, "the score 0.3"),
    (returns(0.0), {"pass_at": 0}, "pass", 0.0, None, "wanted at least 0"),  # 0 is 0, not "unset"
    (returns(-1), {"pass_at": 0}, "fail", -1.0, None, "the score -1"),
    (returns("good"), {"passing_labels": ["good", "fine"]}, "pass", None, "good", "passing: fine, good"),
    (returns("bad"), {"passing_labels": ["good"]}, "fail", None, "bad", "the label 'bad'"),
    (returns(""), {"passing_labels": ["good"]}, "fail", None, "", "the label ''"),
    (returns(Grade.of(True, "mine", score=3.0)), {}, "pass", 3.0, None, "mine"),
    (returns(Grade.na("not here")), {}, "na", None, None, "not here"),
    (answers_later, {}, "pass", None, None, "answers_later` returned True"),
    (HasCall(), {}, "pass", None, None, "HasCall` returned True"),
    (functools.partial(lambda wanted, output, case: wanted in output.text, "yes"), {}, "pass", None, None, "True"),
    (lambda output, case: "é" in output.text and case["expected"] == "yes", {}, "pass", None, None, "returned True"),
]


@pytest.mark.parametrize(("function", "more", "outcome", "score", "label", "says"), VERDICTS)
def test_verdicts(grade, function, more, outcome, score, label, says):
    result = grade({"type": "python_check", "python": function, **more}, "é yes", {"expected": "yes"})
    assert (result.outcome, result.score, result.label) == (outcome, score, label)
    assert says in result.explanation


ERRORS = [
    (returns(None), {}, "bad_result", "returned nothing"),
    (returns([1]), {}, "bad_result", "returned a list; True, False, a number, a label or a Grade was expected"),
    (returns(0.5), {}, "bad_result", "`pass_at` does not say"),
    (returns("good"), {}, "bad_result", "`passing_labels` names none"),
    (returns("good"), {"pass_at": 0.5}, "bad_result", "`passing_labels` names none"),
    (returns(math.nan), {"pass_at": 0.5}, "bad_score", "nan, which is not a finite score"),
    (returns(math.inf), {"pass_at": 0.5}, "bad_score", "inf"),
    (returns(10**400), {"pass_at": 0.5}, "bad_score", "inf"),
    (raises(ValueError("no total\n")), {}, "exception", r"raised ValueError: 'no total\n'"),
    (raises(AssertionError()), {}, "exception", "raised AssertionError"),
    (raises(SystemExit(3)), {}, "exception", "raised SystemExit"),
]


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(("function", "more", "kind", "says"), ERRORS)
def test_errors_are_never_verdicts(grade, function, more, kind, says, negate):
    result = grade({"type": "python_check", "python": function, "negate": negate, **more}, "text")
    assert (result.outcome, result.passed, result.error.kind) == ("error", None, kind)
    assert says in result.explanation
    if kind == "exception":
        assert "Traceback" in result.error.raw and "in check" in result.error.raw


def test_a_function_that_does_not_end_is_given_up_on(grade):
    gate = threading.Event()

    def waits(output, case):
        gate.wait(30)
        return True

    async def waits_too(output, case):
        await asyncio.sleep(30)
        return True

    for function in (waits, waits_too):
        result = grade({"type": "python_check", "python": function, "timeout_s": 0.05}, "text")
        assert (result.outcome, result.error.kind) == ("error", "timeout")
        assert "did not answer within 0.05 s" in result.explanation
    gate.set()


def test_a_check_cannot_change_what_another_sees(build):
    def spoils(output, case):
        output.data["a"].append(1)
        case["tags"].append("spoilt")
        return True

    from pytest_verica.case import Case

    case, output = Case("1", {"tags": []}), Output(None, data={"a": []})
    criterion = build({"type": "python_check", "python": spoils})
    for _ in range(2):
        assert criterion.grade(case, output).passed
    assert (case["tags"], output.data) == ([], {"a": []})


def test_a_module_beside_the_eval_is_found(build, tmp_path):
    from pytest_verica.case import Case

    for folder, answer in (("one", True), ("two", False)):  # two folders may each have their own
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "refund_checks.py").write_text(f"def check(output, case):\n    return {answer}\n")
        criterion = build({"type": "python_check", "python": "refund_checks:check"}, tmp_path / folder)
        assert criterion.grade(Case("1", {}), Output("")).passed is answer


def test_the_source_is_part_of_the_version(build, tmp_path):
    def version(body: str) -> str:
        folder = tmp_path / body.replace(" ", "_")
        folder.mkdir()
        (folder / "versioned_checks.py").write_text(f"def check(output, case):\n    {body}\n")
        return build({"type": "python_check", "python": "versioned_checks:check"}, folder).version_hash

    assert version("return True") != version("return False")
    assert (
        build({"type": "python_check", "python": len_of, "pass_at": 1}).version_hash
        == build({"type": "python_check", "python": len_of, "pass_at": 1}).version_hash
    )


def len_of(output, case) -> float:
    return float(len(output.text))


def label_of(output, case) -> str:
    return "short"


REFUSED = [
    ({"python": "os.path:nothing"}, "os.path has no `nothing`"),
    ({"python": "os.path:sep"}, "is a str, not a function"),
    ({"python": "no_such_module_here:check"}, "there is no module no_such_module_here"),
    ({"python": "tests.unit.graders.broken_import_target:check"}, "there is no module"),
    ({"python": lambda output: True}, r"is called as \(output, case\)"),
    ({"python": len_of}, "`pass_at` must say"),
    ({"python": label_of}, "`passing_labels` must say"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED)
def test_refused_before_launch(build, tmp_path, keys, says):
    with pytest.raises(ConfigError, match=says):
        build({"type": "python_check", **keys}, tmp_path)


def test_a_module_that_breaks_at_import_says_how(build, tmp_path):
    (tmp_path / "breaks_at_import.py").write_text("1 / 0\n")
    for _ in range(2):
        with pytest.raises(ConfigError, match="cannot be imported: ZeroDivisionError"):
            build({"type": "python_check", "python": "breaks_at_import:check"}, tmp_path)


@pytest.mark.parametrize(
    "keys",
    [
        {"python": "no colon"},
        {"python": 3},
        {},
        {"python": len_of, "pass_at": True},
        {"python": len_of, "pass_at": math.nan},
        {"python": len_of, "passing_labels": []},
        {"python": len_of, "pass_at": 1, "passing_labels": ["a"]},
        {"python": len_of, "timeout_s": 0},
    ],
)
def test_refused_by_the_configuration(build, keys):
    with pytest.raises(ValidationError):
        build({"type": "python_check", **keys})
