"""The corrected rate of a run: which estimator, when there is no number, and that it is the same every time."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from pytest_verica.calibration.label import Draw
from pytest_verica.calibration.light import CHANGED, FIRM, GUIDE, UNRELIABLE, traffic_light
from pytest_verica.calibration.rate import corrected_rate
from pytest_verica.calibration.sample import match_labels
from tests.unit.calibration.makers import HASH, confused, label, outputs, strata

DRAWS = 2000


def measured(counts, passes, judged, *, drawn=None, in_run=True, judge_hash=HASH, **options):
    """Labels in these numbers. In the run: beside unlabelled outputs that make it up to passes of judged. Else: of
    outputs that are gone, whose verdict stands on the label."""
    pairs = confused(*counts)
    draw = (lambda output: None) if drawn is None else (lambda output: strata(*drawn, output))
    if in_run:
        labelled_passes = sum(output.passed for output, _ in pairs)
        labelled_fails = len(pairs) - labelled_passes
        rest = outputs(passes - labelled_passes, judged - passes - labelled_fails, start=10_000)
        found = (*(output for output, _ in pairs), *rest)
        acts = [label(output, person, draw=draw(output)) for output, person in pairs]
    else:
        found = outputs(passes, judged - passes, start=10_000)
        acts = [
            label(output, person, draw=draw(output) or Draw("unknown", "pass" if output.passed else "fail"))
            for output, person in pairs
        ]
    sample = match_labels(found, judge_hash, acts)
    return sample, corrected_rate(sample, passes, judged, criterion="tone", **{"draws": DRAWS, **options})


# Of labels of another run, unknown draw: (tp, fn, fp, tn), k, N, estimate, its raw value.
REUSED = [
    ((100, 10, 19, 171), 230, 500, 0.444944, 0.444944),
    ((17, 3, 2, 8), 150, 200, 0.846154, 0.846154),
    ((18, 2, 3, 7), 95, 100, 1, 1.083333),
    ((16, 4, 2, 18), 5, 100, 0, -0.071429),
    ((20, 0, 0, 10), 80, 100, 0.8, 0.8),
    ((78, 2, 10, 30), 320, 400, 0.758621, 0.758621),
    ((12, 3, 0, 15), 500, 500, 1, 1.25),
]


@pytest.mark.parametrize(("counts", "k", "n", "estimate", "raw"), REUSED)
def test_labels_of_another_run(counts, k, n, estimate, raw):
    sample, rate = measured(counts, k, n, in_run=False)
    assert (sample.scope, rate.estimator) == ("earlier_run", "Rogan-Gladen")
    assert rate.estimate == pytest.approx(estimate, abs=5e-7) and rate.raw == pytest.approx(raw, abs=5e-7)
    assert rate.clipped is (estimate != pytest.approx(raw))
    assert rate.low is not None and rate.high is not None and rate.low < rate.high


@pytest.mark.parametrize(
    ("counts", "k", "n", "low", "high"),
    [((100, 10, 19, 171), 230, 500, 0.377663, 0.516633), ((12, 3, 0, 15), 500, 500, 0.617049, 1)],
)
def test_the_closed_form(counts, k, n, low, high):
    _, rate = measured(counts, k, n, in_run=False, method="lang-reiczigel")
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=5e-7)
    assert (rate.method, rate.seed, rate.draws) == ("lang-reiczigel", None, None)


@pytest.mark.parametrize(
    ("counts", "k", "n", "estimate"),
    [
        ((100, 10, 19, 171), 230, 500, 0.416389),
        ((17, 3, 2, 8), 150, 200, 0.739234),
        ((40, 2, 3, 55), 173, 319, 0.520542),
    ],
)
def test_labels_of_this_run(counts, k, n, estimate):
    sample, rate = measured(counts, k, n)
    assert (sample.scope, rate.estimator, rate.dropped) == ("this_run", "labels of this run", 0)
    assert rate.estimate == pytest.approx(estimate, abs=5e-7)


def test_rogan_gladen_with_the_reweighted_rates_gives_the_same_number():
    _, rate = measured((24, 10, 1, 15), 160, 200, drawn=(160, 200))
    assert rate.tpr.rate is not None and rate.tnr.rate is not None and rate.estimate is not None
    by_hand = (0.8 + rate.tnr.rate - 1) / (rate.tpr.rate + rate.tnr.rate - 1)
    assert rate.estimate == pytest.approx(by_hand) == pytest.approx(0.8 * 24 / 25 + 0.2 * 10 / 25)
    # TPR by hand: 0.8·0.96 / (0.8·0.96 + 0.2·0.4); the counted one is 24/34 = 0.71.
    assert rate.tpr.rate == pytest.approx(0.768 / 0.848)


def test_reused_labels_are_reweighted_to_where_they_were_drawn():
    """The same labels as above on a later run with half the passes."""
    sample, rate = measured((24, 10, 1, 15), 100, 200, drawn=(160, 200), in_run=False)
    tpr, tnr = 0.768 / 0.848, 0.12 / 0.152
    assert (sample.scope, sample.design, sample.drawn_from) == ("earlier_run", "strata", (160, 200))
    assert rate.estimate == pytest.approx((0.5 + tnr - 1) / (tpr + tnr - 1))


def test_a_judge_that_changed_its_mind_is_measured_by_weight():
    """Drawn evenly from 80 passes and 20 fails of the old judge; the new one fails one old pass that a person fails."""
    pairs = confused(9, 2, 1, 8)
    acts = [label(output, person, draw=strata(80, 100, output)) for output, person in pairs]
    new = [output if output.passed == person or person else type(output)(output.case, output.output_hash, False)
           for output, person in pairs]  # fmt: skip
    sample = match_labels(new, "judge-2", acts)
    assert sample.scope == "this_run" and not sample.foreign
    fails = sample.share(False)  # 8 + 2 of weight 2 each, 1 of weight 8: people pass 2·2 of 28
    assert fails.rate == pytest.approx(4 / 28) and fails.n == pytest.approx(28**2 / (10 * 4 + 64))
    passes = sample.share(True)
    assert (passes.passed, passes.n) == (9, 9)


@pytest.mark.parametrize(
    ("counts", "k", "n", "says"),
    [
        ((10, 10, 10, 10), 50, 100, "no better than chance"),
        ((132, 32, 125, 30), 257, 319, "no better than chance"),
        ((72, 92, 137, 18), 209, 319, "no better than chance"),
        ((28, 2, 0, 0), 90, 100, "no labelled output fails the criterion"),
        ((0, 0, 2, 28), 40, 100, "no labelled output meets the criterion"),
        ((5, 1, 1, 2), 50, 100, "9 labels, at least 10 are needed. Label 1 more"),
        ((0, 0, 0, 0), 50, 100, "0 labels, at least 10"),
    ],
)
@pytest.mark.parametrize("in_run", [True, False])
def test_no_number(counts, k, n, says, in_run):
    _, rate = measured(counts, k, max(n, 400) if in_run else n, in_run=in_run)
    assert rate.refusal is not None and says in rate.refusal
    assert (rate.estimate, rate.raw, rate.low, rate.high) == (None, None, None, None)


def test_no_judged_output_is_no_number():
    _, rate = measured((20, 2, 2, 20), 0, 0, in_run=False)
    assert rate.refusal is not None and "no usable verdict" in rate.refusal


def test_beside_it_stand_the_judges_and_the_peoples_rate():
    _, rate = measured((20, 2, 3, 15), 150, 200)
    data = rate.to_json()
    assert (data["judge_rate"], data["person_rate"]) == (0.75, 22 / 40)
    assert rate.person is not None and (round(rate.person.low, 4), round(rate.person.high, 4)) == (0.3983, 0.6929)
    assert (data["method"], data["draws"]) == ("beta", DRAWS)


def test_an_unlike_run_is_said():
    _, rate = measured((40, 2, 3, 55), 318, 319, in_run=False)
    assert any("does not resemble" in warning for warning in rate.warnings)
    _, alike = measured((40, 2, 3, 55), 173, 319, in_run=False)
    assert not any("does not resemble" in warning for warning in alike.warnings)


def test_an_unknown_draw_is_said():
    _, rate = measured((20, 2, 3, 15), 150, 200)
    _, drawn = measured((20, 2, 3, 15), 150, 200, drawn=(150, 200))
    assert "not known" in rate.warnings[0] and drawn.warnings == ()


def test_the_order_of_labels_changes_nothing():
    pairs = confused(20, 2, 3, 15)
    acts = [label(output, person) for output, person in pairs]
    found = [output for output, _ in pairs]
    first = corrected_rate(match_labels(found, HASH, acts), 23, 40, criterion="tone", draws=DRAWS)
    for seed in range(3):
        random.Random(seed).shuffle(acts)
        random.Random(seed).shuffle(found)
        assert corrected_rate(match_labels(found, HASH, acts), 23, 40, criterion="tone", draws=DRAWS) == first


def test_other_data_have_another_seed():
    one, other = measured((20, 2, 3, 15), 150, 200)[1], measured((20, 2, 3, 15), 151, 200)[1]
    assert one.seed != other.seed


def test_several_labellers():
    pairs = confused(20, 2, 3, 15)
    acts = [label(output, person, labeller=who) for output, person in pairs for who in ("ada", "bo")]
    acts.append(label(pairs[0][0], False, labeller="bo", time="2026-01-03"))  # they differ: no reference
    acts += [label(pairs[1][0], False, labeller=who) for who in ("cy", "di", "ed")]  # outvoted
    sample = match_labels([output for output, _ in pairs], HASH, acts)
    assert sample.ties == 1 and sample.confusion.n == 39 and (sample.confusion.tp, sample.confusion.fp) == (18, 4)
    assert sample.labellers is not None and sample.labellers.measure == "Krippendorff's alpha"
    two = match_labels([output for output, _ in pairs], HASH, [act for act in acts if act.labeller in ("ada", "bo")])
    assert two.labellers is not None and two.labellers.measure == "Cohen's kappa"
    assert two.labellers.value == pytest.approx((0.975 - 0.5025) / 0.4975)  # 22 and 21 passes of 40


def test_skipped_outputs_are_no_reference():
    pairs = confused(10, 0, 0, 10)
    acts = [label(output, None if i < 3 else person) for i, (output, person) in enumerate(pairs)]
    sample = match_labels([output for output, _ in pairs], HASH, acts)
    assert (sample.skipped, sample.confusion.n) == (3, 17)


def test_a_changed_output_makes_its_label_stale():
    pairs = confused(15, 1, 1, 15)
    acts = [label(output, person) for output, person in pairs]
    changed = [type(o)(o.case, o.output_hash + ("!" if i < 2 else ""), o.passed) for i, (o, _) in enumerate(pairs)]
    sample = match_labels(changed, HASH, acts)
    assert (sample.scope, sample.stale, sample.confusion.n) == ("this_run", 2, 30)


def light_of(counts, k, n, *, unlabelled=100, **options):
    sample, rate = measured(counts, k, n, **{"drawn": (k, n), **options})
    return traffic_light(sample, rate, unlabelled)


@pytest.mark.parametrize(
    ("counts", "k", "n", "colour", "says"),
    [
        ((60, 1, 1, 60), 250, 500, "green", FIRM),
        ((10, 10, 10, 10), 50, 100, "red", UNRELIABLE),
        ((72, 92, 137, 18), 209, 319, "red", UNRELIABLE),
        ((20, 20, 2, 60), 100, 400, "red", UNRELIABLE),  # TPR at most about .6
        ((30, 0, 0, 0), 90, 100, "amber", "5 more that do not"),
        ((28, 1, 0, 3), 90, 100, "amber", "2 more that do not"),
        ((17, 1, 1, 14), 70, 100, "amber", GUIDE),
    ],
)
def test_the_light(counts, k, n, colour, says):
    light = light_of(counts, k, n)
    assert light.colour == colour and says in light.says, light
    assert light.reasons or colour == "green"


def test_the_lever():
    assert "Label more: 7 outputs" in light_of((17, 1, 1, 14), 70, 100, unlabelled=7).advice[0]
    assert "generate and evaluate more" in light_of((17, 1, 1, 14), 18, 33, unlabelled=0).advice[0]


def test_a_judge_that_changed_is_amber_without_a_number():
    light = light_of((60, 1, 1, 60), 250, 500, in_run=False, judge_hash="judge-2")
    assert (light.colour, light.says) == ("amber", CHANGED)
    sample, rate = measured((60, 1, 1, 60), 250, 500, in_run=False, judge_hash="judge-2")
    assert rate.estimate is None and sample.foreign == 122


CODE = """
import os
import random
import subprocess
import sys
from tests.unit.calibration.makers import *
from pytest_verica.calibration.rate import corrected_rate
from pytest_verica.calibration.sample import match_labels
pairs = confused(20, 2, 3, 15)
acts = [label(output, person) for output, person in pairs]
random.shuffle(acts)
print(repr(corrected_rate(match_labels([o for o, _ in pairs], HASH, acts), 23, 40, criterion="tone", draws=2000)))
"""


def test_it_is_the_same_to_the_last_digit_in_another_process():
    printed = {
        subprocess.run(
            [sys.executable, "-c", CODE],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    pairs = confused(20, 2, 3, 15)
    acts = [label(output, person) for output, person in pairs]
    here = corrected_rate(match_labels([o for o, _ in pairs], HASH, acts), 23, 40, criterion="tone", draws=DRAWS)
    assert printed == {repr(here) + "\n"}


def test_these_very_digits():
    """Written down once: on another platform or Python they are the same."""
    _, rate = measured((24, 10, 1, 15), 160, 200, drawn=(160, 200), draws=10_000)
    assert (rate.seed, rate.low, rate.high) == (10270709805985590403, 0.733414, 0.906357)
