"""Every address of the pages, in one table."""

from __future__ import annotations

from pytest_verica.ui.alignment import judge_page
from pytest_verica.ui.answers import Handler
from pytest_verica.ui.comparison import compare_page
from pytest_verica.ui.judges_page import judges_page
from pytest_verica.ui.label import act, card, columns, label_page, who_page
from pytest_verica.ui.loop import evaluate, instructions, plan, progress, stop
from pytest_verica.ui.run import one_run
from pytest_verica.ui.runs import home
from pytest_verica.ui.static_files import static
from pytest_verica.ui.tuning import flip, threshold, undo

ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", home),
    ("GET", "/run", one_run),
    ("GET", "/label", label_page),
    ("GET", "/label/who", who_page),
    ("GET", "/label/card", card),
    ("POST", "/label/act", act),
    ("POST", "/label/columns", columns),
    ("GET", "/compare", compare_page),
    ("GET", "/judges", judges_page),
    ("GET", "/judge", judge_page),
    ("POST", "/judge/flip", flip),
    ("POST", "/judge/instructions", instructions),
    ("GET", "/judge/plan", plan),
    ("POST", "/judge/evaluate", evaluate),
    ("GET", "/judge/progress", progress),
    ("POST", "/judge/stop", stop),
    ("POST", "/judge/threshold", threshold),
    ("POST", "/judge/undo", undo),
    ("GET", "/static/{name}", static),
)
"""Method, path after the token, handler."""
