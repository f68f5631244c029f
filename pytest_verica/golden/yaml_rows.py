"""YAML: a list of mappings; nested values stay nested, dates become ISO texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_verica.golden.columns import ColumnNames
from pytest_verica.golden.findings import Findings
from pytest_verica.golden.golden_set import GoldenSet, Row, golden_set_of, named_row
from pytest_verica.golden.text_file import read_text
from pytest_verica.golden.values import NotJson, json_value
from pytest_verica.path import describe


def read_yaml(path: Path, findings: Findings) -> GoldenSet:
    """Reads a YAML 1.2 list of mappings.

    Raises:
        GoldenSetError: with the line of each problem.
    """
    from ruamel.yaml import YAML  # deferred: only a YAML golden set needs it
    from ruamel.yaml.error import YAMLError

    text = read_text(path, findings)
    yaml = YAML(typ="safe", pure=True)
    try:
        root = yaml.compose(text)
    except (YAMLError, RecursionError) as error:
        _tell(error, findings)
    if root is None:
        findings.stop("the file has no content: a golden set is a list of at least one mapping")
    if root.id != "sequence":
        found = "a mapping" if root.id == "mapping" else describe(root.value)
        findings.stop(f"a YAML golden set is a list of mappings, found {found}", root.start_mark.line + 1)
    return golden_set_of(_rows(root.value, yaml.constructor, findings), findings)


def _rows(nodes: list[Any], constructor: Any, findings: Findings) -> Iterator[Row]:
    from ruamel.yaml.error import YAMLError  # deferred: see above

    names = ColumnNames(findings)
    for node in nodes:
        line = node.start_mark.line + 1
        try:
            value = json_value(constructor.construct_document(node))
        except NotJson as error:
            findings.problem(str(error), line)
            continue
        except (YAMLError, ValueError, RecursionError) as error:
            _tell(error, findings, line)
        if isinstance(value, dict) and value:
            yield named_row(value, line, names, findings)
        else:
            findings.problem(f"a row is a mapping of columns, found {describe(value)}", line)


def _tell(error: Exception, findings: Findings, line: int | None = None) -> Any:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = str(getattr(error, "problem", None) or error or type(error).__name__).splitlines()[0]
    findings.stop(f"not valid YAML: {said}", line if mark is None else mark.line + 1)
