"""docs/graders.md and the pages of the types: the list is the registry's, and every operation has an example.

That the examples do what the pages say is tried by tests/test_docs.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.evals.document import parse_document
from pytest_verica.graders.json_check import OPERATIONS as OF_JSON
from pytest_verica.graders.number import Aggregate
from pytest_verica.graders.number_check import COMPARISONS
from pytest_verica.graders.registry import OLD_NAMES
from pytest_verica.graders.text_rules import OPERATIONS as OF_TEXT
from pytest_verica.judge.registry import KINDS

DOCS = Path(__file__).parents[3] / "docs"
PAGES = DOCS / "reference" / "criteria"


def kinds_table() -> str:
    """The table of docs/graders.md."""
    rows = ["| type | costs | what it does |", "|---|---|---|"]
    for name, kind in KINDS.items():
        if name not in OLD_NAMES:
            rows.append(f"| [{name}](reference/criteria/{name}.md) | {kind.costs} | {kind.about} |")
    return "\n".join(rows)


def test_the_page_lists_every_type_in_the_order_of_the_registry() -> None:
    page = (DOCS / "graders.md").read_text("utf-8")
    assert kinds_table() in page, f"the table of docs/graders.md should be:\n{kinds_table()}"


def criteria_of(page: str) -> list[dict[str, Any]]:
    """Every criterion of the type in the YAML of its page."""
    text = (PAGES / f"{page}.md").read_text("utf-8")
    found: list[dict[str, Any]] = []
    for body in re.findall(r"^```yaml.*?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        value = parse_document(body, page).value
        found += [each for each in (value if isinstance(value, list) else value["criteria"]) if each["type"] == page]
    return found


def test_every_operation_of_text_check_has_an_example() -> None:
    written = criteria_of("text_check")
    assert {name for name in OF_TEXT for each in written if name in each or each.get("operation") == name} == set(
        OF_TEXT
    )


def test_every_comparison_and_aggregate_of_number_check_has_an_example() -> None:
    written = criteria_of("number_check")
    found = {name for name in COMPARISONS for each in written if name in each or each.get("comparison") == name}
    assert found == set(COMPARISONS)
    aggregates = {each["target"].get("aggregate") for each in written if "target" in each} - {None}
    assert aggregates == set(Aggregate.__args__)  # type: ignore[attr-defined]


def test_every_operation_of_json_check_has_an_example() -> None:
    written = criteria_of("json_check")
    assert {name for name in OF_JSON for each in written if name in each or each.get("operation") == name} == set(
        OF_JSON
    )
    assert any("required_keys" in each for each in written)


@pytest.mark.parametrize("page", ["text_check", "number_check", "json_check", "python_check"])
def test_the_page_says_how_it_fails_and_when_it_cannot_judge(page: str) -> None:
    text = (PAGES / f"{page}.md").read_text("utf-8")
    for part in ("## Examples", "## How it fails", "**N/A**", "**Error**", "exit code 1"):
        assert part in text
