"""The queue: alternating, random within each verdict, the same for everyone, and it goes on where it stopped."""

from __future__ import annotations

from itertools import pairwise

from pytest_verica.calibration.queue import draw_queue, first_unlabelled
from tests.unit.calibration.makers import judged_run, label, outputs


def test_passes_and_fails_alternate():
    queue = draw_queue(judged_run(outputs(80, 40)))
    verdicts = [queued.output.passed for queued in queue]
    assert len(queue) == 50 and all(a != b for a, b in pairwise(verdicts))


def test_a_side_that_is_used_up_leaves_the_rest_to_the_other():
    queue = draw_queue(judged_run(outputs(80, 4)))
    assert sum(not queued.output.passed for queued in queue) == 4 and len(queue) == 50
    assert len(draw_queue(judged_run(outputs(3, 0)))) == 3
    assert draw_queue(judged_run(())) == []


def test_it_says_how_each_was_drawn():
    queue = draw_queue(judged_run(outputs(80, 40)), seed=5)
    for place, queued in enumerate(queue):
        draw = queued.draw
        assert (draw.method, draw.seed, draw.position, draw.passes, draw.judged) == ("queue", 5, place, 80, 120)
        assert draw.stratum == ("pass" if queued.output.passed else "fail") and draw.run == "run-1"


def test_the_order_is_chance_and_the_same_for_everyone():
    run = judged_run(outputs(80, 40))
    first = [queued.output.case for queued in draw_queue(run)]
    shuffled = judged_run(tuple(reversed(run.outputs)))
    assert first == [queued.output.case for queued in draw_queue(shuffled)]
    assert first != [queued.output.case for queued in draw_queue(run, seed=1)]
    assert first != sorted(first)


def test_which_verdict_comes_first_cannot_be_known():
    run = judged_run(outputs(80, 40))
    assert {draw_queue(run, seed=seed)[0].output.passed for seed in range(20)} == {True, False}


def test_each_output_of_a_verdict_is_as_likely():
    """Of 40 outputs 20 are drawn: each in about half of 400 draws (5 standard deviations: 50)."""
    run = judged_run(outputs(40, 0))
    counts = dict.fromkeys((output.case for output in run.outputs), 0)
    for seed in range(400):
        for queued in draw_queue(run, seed=seed, most=20):
            counts[queued.output.case] += 1
    assert all(150 < count < 250 for count in counts.values())


def test_a_longer_queue_begins_with_the_shorter_one():
    run = judged_run(outputs(80, 40))
    assert [q.output for q in draw_queue(run, most=90)][:50] == [q.output for q in draw_queue(run)]


def test_it_goes_on_at_the_first_output_without_an_answer():
    queue = draw_queue(judged_run(outputs(5, 5)))
    acts = [label(queue[0].output, True), label(queue[1].output, None), label(queue[3].output, False)]
    assert first_unlabelled(queue, acts, "ada") == 2
    assert first_unlabelled(queue, acts, "bo") == 0
    assert first_unlabelled(queue, [label(queued.output, True) for queued in queue], "ada") == 10
