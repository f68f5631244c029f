"""A run as one HTML file that loads nothing: figures for everybody, and a table of verdicts to look into.

The figures are plain HTML (`page/report.html`) and need no script. The table's data are JSON (`html_data.py`) that the
page's script shows as text; the page's policy lets no other script run and nothing be loaded, whatever the data hold.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import jinja2
from markupsafe import Markup

from pytest_verica.report.failure import excerpt, printable
from pytest_verica.report.figures import dollars, interval_words, many, percent, seconds
from pytest_verica.report.html_data import HtmlData, script_json
from pytest_verica.report.look import look_css, page_file
from pytest_verica.report.run_lines import SIGNS
from pytest_verica.report.saved import SavedRun, status_of
from pytest_verica.report.standing import standing

LONGEST_CONFIG = 20_000
_PILLS = {"passed": "pass", "failed": "fail", "skipped": "na", "interrupted": "warn", "incomplete": "warn", None: "na"}
_FILTERS = (("all", "all"), ("failed", "failed"), ("missed", "missed"), ("error", "error"), ("na", "N/A"))


def html_pieces(run: SavedRun) -> Iterator[bytes]:
    """The file, in pieces: memory grows by some bytes a case.

    Raises:
        StoreError: the run cannot be read.
    """
    data = HtmlData(run)
    script = page_file("report.js")
    yield _figures(run, script).encode("utf-8")
    for piece in data.pieces():
        yield piece.encode("utf-8")
    yield f'<script type="application/json" id="verica-index">{script_json(data.index)}</script>\n'.encode()
    if data.trimmed:
        count = many(data.trimmed, "long text")
        yield f'<p class="quiet small">{count} cut on this page; the JSON report has every text whole.</p>\n'.encode()
    yield f"</main>\n<script>{script}</script>\n</body>\n</html>\n".encode()


def _figures(run: SavedRun, script: str) -> str:
    """The page up to its data."""
    head = run.head
    names = excerpt(", ".join(found["name"] for found in head["evals"]) or "no evals", 200)
    status, rate = status_of(head), head["totals"]["rate"]
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        _environment()
        .get_template("report.html")
        .render(
            policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
            "base-uri 'none'; form-action 'none'",
            title=f"{names}: {'no rate' if rate is None else percent(rate)}, {status}",
            style=Markup(look_css() + page_file("report.css")),  # noqa: S704 - two files of ours
            names=names,
            status=status,
            sign=SIGNS[status],
            facts=_facts(run),
            run=head["run"],
            totals=head["totals"],
            run_gate=head["gate"],
            evals=[_with_parts(found) for found in head["evals"]],
            criterion_names={
                found["id"]: {each["id"]: each["name"] for each in found["criteria"]} for found in head["evals"]
            },
            what_ran=_what_ran,
            standing=standing,
            pills=_PILLS,
            filters=_FILTERS,
        )
    )


def _with_parts(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The head of an eval, in which every criterion says whether it has parts."""
    counts = {name: {"rubric": None, "pairs": None, **told} for name, told in found["totals"]["criteria"].items()}
    return {**found, "totals": {**found["totals"], "criteria": counts}}


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(page_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters.update(
        percent=percent, dollars=dollars, seconds=seconds, many=many, interval=interval_words, tokens=_tokens
    )
    return environment


def _facts(run: SavedRun) -> list[str]:
    told = run.head["run"]
    git = told["git"]
    facts = [run.name, told["origin"]["name"] or told["origin"]["kind"], f"launched {told['started']}"]
    if git["commit"]:
        facts.append(f"commit {git['commit'][:12]}{' with changes of its own' if git['dirty'] else ''}")
    if told["shard"]:
        facts.append(f"shard {told['shard']}")
    return facts


def _tokens(usage: Mapping[str, Any]) -> str:
    known = [usage[key] for key in ("input_tokens", "output_tokens") if usage[key] is not None]
    return f"{sum(known):,}" if known else "unknown"


def _what_ran(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Heading and text: the prompt, the model, the golden set and the criteria, whole."""
    if found["prompt"] is not None:
        yield f"prompt{_version(found['prompt'])}", _config(found["prompt"]["content"])
    if found["model"] is not None:
        yield "model", _config({**found["model"], "params": found["params"]})
    golden = found["golden_set"]
    yield "golden set", f"{golden['path'] or 'none'}, {golden['rows']} rows, hash {golden['hash'] or 'none'}"
    for criterion in found["criteria"]:
        yield f"criterion {criterion['name']}{_version(criterion)}", _config(criterion["config"])


def _version(of: Mapping[str, Any]) -> str:
    return "" if of["version"] is None else f" v{of['version']}"


def _config(value: Any) -> str:
    """As indented JSON, in which the lines of a text stand on lines of their own."""
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False).replace("\\n", "\n  ")
    return excerpt(text, LONGEST_CONFIG)
