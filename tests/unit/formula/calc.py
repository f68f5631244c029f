"""LibreOffice Calc as a function: expressions in, results out. Used by make_vectors.py only, never by the tests."""

from __future__ import annotations

import datetime
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"

# Names that the file format writes in another way than the program shows them.
RENAMED = {name: f"COM.MICROSOFT.{name}" for name in ("CONCAT", "TEXTJOIN", "IFS", "SWITCH")}
FIRST_COLUMN = 1  # column A holds the formula

_PIECE = re.compile(r'"(?:[^"]|"")*"|[^\W\d]\w*\s*\(?|.', re.DOTALL)

HEAD = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="{OFFICE}" xmlns:table="{TABLE}" xmlns:text="{TEXT}"
 xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:body><office:spreadsheet>
<table:calculation-settings table:case-sensitive="false" table:use-regular-expressions="false"
 table:use-wildcards="true"/>
<table:table table:name="Vectors">
"""
FOOT = "</table:table></office:spreadsheet></office:body></office:document>\n"


def column_name(index: int) -> str:
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name


def open_formula(expression: str, places: Mapping[str, str]) -> str:
    """The expression as an OpenDocument file writes it: `;` between arguments, names as addresses."""
    written = []
    for piece in _PIECE.findall(expression.removeprefix("=")):
        word = piece.rstrip("( \t").strip()
        if piece == ",":
            written.append(";")
        elif piece in places:
            written.append(places[piece])
        elif word.upper() in ("TRUE", "FALSE"):
            written.append(f"{word.upper()}()")
        elif piece.endswith("(") and word.upper() in RENAMED:
            written.append(f"{RENAMED[word.upper()]}(")
        else:
            written.append(piece)
    return "of:=" + "".join(written)


def _cell(value: Any) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        return f'<table:table-cell office:value-type="boolean" office:boolean-value="{str(value).lower()}"/>'
    if isinstance(value, (int, float)):
        return f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'
    return f'<table:table-cell office:value-type="string" office:string-value={quoteattr(value)}/>'


def _row(number: int, expression: str, values: Mapping[str, Any]) -> str:
    places: dict[str, str] = {}
    cells: list[str] = []
    for name, value in values.items():
        items = value if isinstance(value, list) else [value]
        first, last = (column_name(FIRST_COLUMN + len(cells) + step) for step in (0, len(items) - 1))
        places[name] = f"[.{first}{number}:.{last}{number}]" if isinstance(value, list) else f"[.{first}{number}]"
        cells += [_cell(item) for item in items]
    array = any(isinstance(value, list) for value in values.values())
    spanned = ' table:number-matrix-columns-spanned="1" table:number-matrix-rows-spanned="1"' if array else ""
    formula = quoteattr(open_formula(expression, places))
    return f"<table:table-row><table:table-cell table:formula={formula}{spanned}/>{''.join(cells)}</table:table-row>\n"


def calculate(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
    """What Calc gives for each (expression, values by name): a number, a text, a truth value, or {"error": code}."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.fods"), Path(folder, "out")
        body = "".join(_row(number, *row) for number, row in enumerate(rows, 1))
        source.write_text(HEAD + body + FOOT, "utf-8")
        profile = f"-env:UserInstallation={Path(folder, 'profile').as_uri()}"
        command = ["soffice", profile, "--headless", "--convert-to", "fods", "--outdir", str(target), str(source)]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
        tree = ET.parse(target / "in.fods")
    found: list[Any] = []
    for row in tree.iter(f"{{{TABLE}}}table-row"):
        repeated = int(row.get(f"{{{TABLE}}}number-rows-repeated", "1"))
        cell = row.find(f"{{{TABLE}}}table-cell")
        if cell is not None and cell.get(f"{{{TABLE}}}formula"):
            found += [_result(cell)] * repeated
    assert len(found) == len(rows), (len(found), len(rows))
    return found


def _result(cell: ET.Element) -> Any:
    kind = cell.get(f"{{{OFFICE}}}value-type")
    if kind == "float":
        return float(cell.get(f"{{{OFFICE}}}value", "nan"))
    if kind == "percentage" or kind == "currency":
        return float(cell.get(f"{{{OFFICE}}}value", "nan"))
    if kind == "boolean":
        return cell.get(f"{{{OFFICE}}}boolean-value") == "true"
    if kind == "date":
        date = datetime.date.fromisoformat(cell.get(f"{{{OFFICE}}}date-value", "")[:10])
        return float((date - datetime.date(1899, 12, 30)).days)
    lines = ["".join(line.itertext()) for line in cell.findall(f"{{{TEXT}}}p")]
    shown = "\n".join(lines)
    if re.fullmatch(r"Err:\d+|#DIV/0!|#VALUE!|#NAME\?|#N/A|#NUM!|#REF!", shown):
        return {"error": shown}
    return cell.get(f"{{{OFFICE}}}string-value") or shown
