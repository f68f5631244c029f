"""One record of a judge: holdout, cross-fit, sweep, disagreements; and the page made of it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from pytest_verica.calibration.alignment import OPTIMISTIC, align
from pytest_verica.calibration.history import KEPT, read_history, remember
from pytest_verica.calibration.holdout import is_held_out
from pytest_verica.calibration.html import calibration_page
from pytest_verica.calibration.judged import JudgedOutput
from pytest_verica.calibration.label import Draw
from pytest_verica.stats.agreement import Confusion
from tests.unit.calibration.makers import confused, judged_run, label, strata
from tests.unit.calibration.site import label_site, make_site, meets, score_of


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    root = tmp_path_factory.mktemp("site")
    return root, make_site(root)


@pytest.fixture(scope="module")
def measured(site):
    _, run = site
    return align(run, label_site(run))


def test_agreement_is_measured_on_held_out_cases(measured):
    cases = [item.case for item in measured.sample.labelled]
    held = [case for case in cases if is_held_out(case)]
    assert measured.held_out == len(held) == measured.measured.n
    assert measured.measured_on == f"Measured on {len(held)} held-out cases (not used for tuning)."
    by_hand = [(meets(n), score_of(n) >= 6) for n in (int(case.removeprefix("order-")) for case in held)]
    assert measured.measured == Confusion.of(by_hand)


def test_held_out_cases_are_named_nowhere(site, measured):
    held = [item.case for item in measured.sample.labelled if is_held_out(item.case)]
    assert len(held) > 10 and any(
        item.person is not item.judge for item in measured.sample.labelled if item.case in held
    )
    assert measured.disagreements and not {d.labelled.case for d in measured.disagreements} & set(held)
    page, data = calibration_page([(measured, [])]), json.dumps(measured.to_json())
    for case in held:
        assert f"{case}:" not in page and f'"{case}"' not in data
    shown = measured.disagreements[0].labelled.case
    assert f"{shown}:" in page and f'"{shown}"' in data


def test_the_sweep_uses_the_training_half_only(measured):
    training = [item for item in measured.sample.labelled if not is_held_out(item.case)]
    assert measured.sweep.held_out == len(measured.sample.labelled) - len(training)
    assert sorted(measured.sweep.used) == sorted((item.score, item.person) for item in training)
    assert measured.sweep.best.at == 8 and measured.sweep.current.at == 6
    assert measured.sweep.preview(8).balanced_accuracy == measured.sweep.best.balanced_accuracy


def test_the_cross_fit_measures_every_label_once(measured):
    assert measured.cross_fit.n == len(measured.sample.labelled)
    assert measured.cross_fit.balanced_accuracy > measured.sample.confusion.balanced_accuracy


def test_few_labels_have_no_holdout(site):
    _, run = site
    found = align(run, label_site(run, 29))
    assert (found.held_out, found.measured_on, found.measured.n) == (None, OPTIMISTIC, 29)
    assert found.measured == found.sample.confusion


def test_membership_stays_when_labels_are_added(site):
    _, run = site
    acts = label_site(run)
    named = None
    for count in range(30, 51, 5):
        found = align(run, acts[:count])
        cases = {item.case for item in found.sample.labelled}
        trained = {case for case in cases if not is_held_out(case)}
        assert len(found.sweep.used) == len(trained)
        assert named is None or named <= trained
        named = trained


def test_nothing_labelled(site):
    _, run = site
    found = align(run, [])
    assert found.never_labelled and found.rate.estimate is None and found.agreement is None and found.sweep is None
    assert (found.light.colour, found.unlabelled) == ("amber", len(run.outputs))
    calibration_page([(found, [])])
    json.dumps(found.to_json(), allow_nan=False)


def test_wings_add_up_to_one_on_paper_too(measured):
    data = measured.to_json()["agreement"]
    assert data["too_strict"] + data["agreement"] + data["too_lenient"] == pytest.approx(1, abs=1e-15)


def test_a_published_judge(shared_data):
    """JBB's gpt4_cf with all its labels: 100,10,19,171; green, and the rate is the people's."""
    with (shared_data / "jbb" / "jbb_judge_comparison_labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    outputs = tuple(JudgedOutput(row["index"], f"o{row['index']}", row["gpt4_cf"] == "1") for row in rows)
    run = judged_run(outputs)
    acts = [
        label(output, row["human_majority"] == "1", draw=Draw("random", "pass" if output.passed else "fail"))
        for output, row in zip(outputs, rows, strict=True)
    ]
    found = align(run, acts)
    assert found.sample.confusion == Confusion(100, 10, 19, 171)
    assert found.rate.estimate == pytest.approx(110 / 300)  # all are labelled: what the people say
    assert found.light.colour == "green", found.light


def test_three_labellers_of_jbb(shared_data):
    with (shared_data / "jbb" / "jbb_judge_comparison_labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    outputs = tuple(JudgedOutput(row["index"], f"o{row['index']}", row["gpt4_cf"] == "1") for row in rows)
    acts = [
        label(output, row[who] == "1", labeller=who)
        for output, row in zip(outputs, rows, strict=True)
        for who in ("human1", "human2", "human3")
    ]
    found = align(judged_run(outputs), acts)
    assert found.sample.confusion == Confusion(100, 10, 19, 171) and found.sample.ties == 0
    assert found.sample.labellers.measure == "Fleiss' kappa"


def test_a_judge_worse_than_chance_is_red_and_has_no_number(shared_data):
    with (shared_data / "llmbar" / "llmbar_pairwise_verdicts.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["subset"] != "Natural" and r["chatgpt_vanilla_ab"]]
    outputs = tuple(JudgedOutput(f"{r['subset']}-{r['idx']}", "o", r["chatgpt_vanilla_ab"] == "1") for r in rows)
    acts = [label(output, row["human_label"] == "1") for output, row in zip(outputs, rows, strict=True)]
    found = align(judged_run(outputs), acts)
    assert found.sample.confusion == Confusion(72, 92, 137, 18)
    assert found.light.colour == "red" and found.rate.estimate is None
    assert float(found.sample.confusion.kappa) == pytest.approx(-0.448, abs=5e-4)


def test_a_perfect_judge_has_an_interval_with_width():
    pairs = confused(20, 0, 0, 10)
    found = align(
        judged_run(tuple(output for output, _ in pairs)),
        [label(output, person, draw=strata(20, 30, output)) for output, person in pairs],
    )
    assert found.rate.estimate == pytest.approx(2 / 3)
    assert found.rate.high - found.rate.low > 0.2


def test_llmbar_natural_sweep(shared_data):
    """GPT-4's ratings: cut 8 gives 0.845 over all 200 outputs; the training half has its own numbers."""
    with (shared_data / "llmbar" / "llmbar_rating_scores.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["judge"] == "GPT-4 Rating" and r["subset"] == "Natural"]
    outputs = tuple(
        JudgedOutput(f"{r['idx']}-{r['output']}", "o", float(r["score"]) >= 5, float(r["score"])) for r in rows
    )
    acts = [label(output, row["human_better"] == "1") for output, row in zip(outputs, rows, strict=True)]
    found = align(judged_run(outputs, pass_at=5.0), acts)
    assert found.sweep.best.at in (7, 8, 9) and found.sweep.held_out == len(outputs) - len(found.sweep.used)
    from pytest_verica.stats.threshold import best_cut, cuts

    whole = best_cut(cuts([(o.score, r["human_better"] == "1") for o, r in zip(outputs, rows, strict=True)]), 5.0)
    assert (whole.at, float(whole.balanced_accuracy)) == (8, 0.845)


def test_the_history_keeps_twelve_and_tuning_moves_its_point(site, tmp_path):
    _, run = site
    acts = label_site(run)
    found = align(run, acts)
    for number in range(14):
        again = replace(found, run=replace(run, run=replace(run.run, id=f"run-{number}")))
        points = remember(tmp_path, again, f"2026-12-{number + 1:02}T00:00:00Z")
    assert len(points) == KEPT and [point.version for point in points] == list(range(3, 15))
    few = align(replace(run, run=replace(run.run, id="run-13")), acts[:29])
    points = remember(tmp_path, few, "2026-12-31T00:00:00Z")
    assert len(points) == KEPT and points[-1].version == 14 and points[-1].n == 29
    assert read_history(tmp_path, run.eval.id, "tone") == points
    assert found.measured.n != 29


def test_the_page_escapes_and_loads_nothing(site, measured):
    root, run = site
    points = remember(root, measured, "2026-12-02T00:00:00Z")
    page = calibration_page([(measured, points)])
    assert page.count("<svg") == 4 and "<script" not in page and "src=" not in page and "href=" not in page
    assert "default-src 'none'" in page and "judge passes what a person fails" in page
    evil = type(run.eval)(**{**vars(run.eval), "name": "<script>alert(1)</script>"})
    hostile = align(type(run)(run.run, evil, run.criterion, run.outputs, 0, run.journal, run.offsets), label_site(run))
    assert "<script" not in calibration_page([(hostile, [])])
