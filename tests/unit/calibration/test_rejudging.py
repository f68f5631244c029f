"""The loop: the judge edited, all outputs judged again, a new run and a new point; nothing is paid twice."""

from __future__ import annotations

import json
import threading

import pytest

from pytest_verica.calibration.alignment import align
from pytest_verica.calibration.finding import find_judges
from pytest_verica.calibration.history import remember
from pytest_verica.calibration.rejudging import Stopped, plan_rejudging, rejudge
from pytest_verica.errors import ConfigError
from pytest_verica.report.saved import find_run
from tests.unit.calibration.site import EVAL, NUMBER, YAML, label_site, make_site, report_of, score_of


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path, make_site(tmp_path)


def test_the_loop(site, monkeypatch):
    root, run = site
    acts = label_site(run)
    first = align(run, acts)
    remember(root, first, "2026-12-02T00:00:00Z")
    (root / EVAL).write_text(YAML.replace("Rate the tone", "Rate the tone strictly").replace("6.0", "8"))
    plan = plan_rejudging(root, run)
    assert (plan.outputs, str(plan.cost), plan.same_judge) == (NUMBER, "0.120", False)
    told = []
    again = rejudge(root, plan, progress=lambda done, total: told.append((done, total)))
    assert told == [(n, NUMBER) for n in range(1, NUMBER + 1)]
    assert again.judge_hash != run.judge_hash and again.pass_at == 8
    assert again.passes == sum(score_of(n) >= 8 for n in range(NUMBER))
    second = align(again, acts)
    assert second.sample.scope == "this_run" and not second.sample.foreign
    assert second.sample.confusion.balanced_accuracy > first.sample.confusion.balanced_accuracy
    points = remember(root, second, "2026-12-03T00:00:00Z")
    assert [point.version for point in points] == [1, 2]
    # It is a saved run like any other, and the one that is looked at next.
    assert find_run(root, again.run.id).head["run"]["exit_code"] == 1
    assert find_run(root, "last").id == again.run.id == find_judges(root, "refunds")[0].run.id
    report = report_of(root, again)
    (found,) = report["evals"]
    assert found["totals"]["criteria"]["long"] == {
        **found["totals"]["criteria"]["long"],
        "pass": NUMBER,
        "reused": NUMBER,
    }
    assert found["cost"]["sampling"] in (0, None) and found["gate"]["status"] == "failed"
    kept = json.loads((root / ".verica" / "runs" / run.run.id / "report.json").read_text())
    assert kept["evals"][0]["totals"]["criteria"]["tone"]["pass"] == run.passes  # the earlier run stays


def test_it_can_be_stopped_and_keeps_no_half_run(site):
    root, run = site
    stop = threading.Event()

    def progress(done, total):
        if done == 5:
            stop.set()

    with pytest.raises(Stopped, match="stopped after 5 of 60"):
        rejudge(root, plan_rejudging(root, run), progress=progress, stop=stop)
    assert find_run(root, "last").id == run.run.id


def test_an_error_of_the_judge_is_an_error_of_the_new_run(site):
    root, run = site
    (root / "judge_script.py").write_text("def answer(request):\n    return {'reasoning': 'x'}\n")
    import sys

    sys.modules.pop("judge_script", None)
    again = rejudge(root, plan_rejudging(root, run))
    assert (len(again.outputs), again.unusable) == (0, NUMBER)
    assert align(again, label_site(run)).rate.refusal.startswith("No number: the judge gave no usable verdict")
    sys.modules.pop("judge_script", None)


def test_the_same_judge_is_said_to_cost_nothing(site):
    root, run = site
    assert plan_rejudging(root, run).same_judge


def test_a_criterion_that_is_gone(site):
    root, run = site
    (root / EVAL).write_text(YAML.replace("name: tone", "name: manner").replace("{tone: 0.4}", "{manner: 0.4}"))
    with pytest.raises(ConfigError, match=r"no criterion 'tone' any more; there are: manner, long"):
        plan_rejudging(root, run)
