"""A judge's instructions read from its eval file and written back: their text alone is replaced, every other byte
stays."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.errors import ConfigError, Place, Problem
from pytest_verica.evals.document import parse_document
from pytest_verica.judge.registry import KINDS
from pytest_verica.store.whole_file import write_whole
from pytest_verica.template import compile_template

Location = tuple[str | int, ...]

_NOT_IN_A_BLOCK = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_BOM = "\ufeff"


@dataclass(frozen=True)
class Instructions:
    """file: that they are written in; texts: by where they stand in the criterion, in order: ("prompt",), or
    ("prompt", "system") and ("prompt", "user"), or ("prompt", "messages", 0, "content")."""

    file: Path
    texts: Mapping[Location, str]


@dataclass(frozen=True)
class _Written:
    """A text as it stands in a file. start, end: of it; column: of its key; flow: whether it stands inside brackets."""

    start: int
    end: int
    column: int
    flow: bool
    text: str


def read_instructions(root: Path, run: JudgedRun) -> Instructions:
    """The instructions as their file has them now.

    Raises:
        ConfigError: they are written in Python, or not plainly in the file.
    """
    file, _, found = _find(root, run)
    return Instructions(file, {at: written.text for at, written in found.items()})


def write_instructions(root: Path, run: JudgedRun, texts: Mapping[Location, str]) -> Path:
    """Writes them into their file, which appears whole or not at all. The file.

    Raises:
        ConfigError: a text is empty or names what a template cannot know, or the file cannot be edited.
        OSError: it cannot be written.
    """
    file, text, found = _find(root, run)
    place = Place(run.eval.file)
    unknown = [at for at in texts if at not in found]
    if unknown:
        raise ConfigError(f"the instructions have no part {_name(unknown[0])}; load the page again", place)
    changed = {at: new for at, new in texts.items() if new != found[at].text}
    known = [*(run.case(run.outputs[0]).columns if run.outputs else ()), *_names_of(run.criterion.type)]
    problems = [Problem(problem, place) for new in changed.values() for problem in _problems(new, known)]
    if problems:
        raise ConfigError(problems)
    edited = text
    for at in sorted(changed, key=lambda at: found[at].start, reverse=True):
        edited = _replaced(edited, found[at], run, at, changed[at])
    if changed:
        write_whole(file, [edited.encode("utf-8")])
    return file


def _names_of(kind: str) -> frozenset[str]:
    """Names that a kind of judge gives to its prompt, beside the case and the output: a rubric, two answers."""
    found = KINDS.get(kind)
    names: frozenset[str] = getattr(found.config, "prompt_names", frozenset()) if found is not None else frozenset()
    return names


def _problems(text: str, columns: Sequence[str]) -> list[str]:
    if not text.strip():
        return ["the judge's instructions are empty; it would be asked nothing"]
    return compile_template(text).problems(columns, output=True)


def _find(root: Path, run: JudgedRun) -> tuple[Path, str, dict[Location, _Written]]:
    """The file, its text, and the texts of the instructions in it: of the eval's own, or one that it extends."""
    shown = run.eval.file
    if run.eval.kind != "file":
        raise ConfigError(
            f"the instructions of {run.criterion.name!r} are written in Python: edit them there", Place(shown)
        )
    seen: set[Path] = set()
    file = root / shown
    while file not in seen:
        seen.add(file)
        try:
            text = file.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot be read: {error}", Place(shown)) from None
        document = _composed(text.removeprefix(_BOM), shown)
        found = dict(_texts(document, run.criterion.name, text))
        if found:
            return file, text, found
        base = _value(document, "extends")
        if base is None:
            break
        file = (file.parent / str(base.value)).resolve()
    raise ConfigError(
        f"the instructions of {run.criterion.name!r} are not written plainly in it (but as an alias, perhaps): edit "
        "them there",
        Place(shown),
    )


def _composed(text: str, shown: str) -> Any:
    from ruamel.yaml import YAML  # deferred: only an edit needs it
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(text)
    except YAMLError as error:
        raise ConfigError(f"not valid YAML: {getattr(error, 'problem', None) or error}", Place(shown)) from None


def _texts(document: Any, criterion: str, text: str) -> Iterator[tuple[Location, _Written]]:
    criteria = _value(document, "criteria")
    for item in _items(criteria):
        name = _value(item, "name")
        if name is not None and name.value == criterion:
            yield from _scalars(item, "prompt", ("prompt",), text)


def _scalars(mapping: Any, key: str, at: Location, text: str) -> Iterator[tuple[Location, _Written]]:
    key_node, node = next(((k, v) for k, v in _pairs(mapping) if k.value == key), (None, None))
    if key_node is None or node is None or node.anchor:
        return
    if node.id == "scalar":
        yield at, _written(key_node, node, bool(mapping.flow_style), text)
    elif node.id == "mapping":
        for inner in ("system", "user"):
            yield from _scalars(node, inner, (*at, inner), text)
        for place, message in enumerate(_items(_value(node, "messages"))):
            yield from _scalars(message, "content", (*at, "messages", place, "content"), text)


def _written(key_node: Any, node: Any, flow: bool, text: str) -> _Written:
    shift = len(text) - len(text.removeprefix(_BOM))
    start = node.start_mark.index + shift
    end = (
        _end_of_block(text, start, key_node.start_mark.column)
        if node.style in ("|", ">")
        else node.end_mark.index + shift
    )
    # JSON writes an emoji as a pair of escapes: one character again.
    value = node.value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return _Written(start, end, key_node.start_mark.column, flow, value)


def _end_of_block(text: str, start: int, column: int) -> int:
    """Where the last line of a block scalar ends: the last one that is indented more than its key."""
    end = at = _line_end(text, start)
    while at < len(text):
        after = _line_end(text, at + 1)
        line = text[at + 1 : after]
        if line.strip():
            if len(line) - len(line.lstrip(" ")) <= column:
                break
            end = after
        at = after
    return end - 1 if text[end - 1 : end] == "\r" else end


def _line_end(text: str, start: int) -> int:
    found = text.find("\n", start)
    return len(text) if found < 0 else found


def _replaced(text: str, written: _Written, run: JudgedRun, at: Location, new: str) -> str:
    """The file's text with one part changed: in the first way of writing it that reads back as it was meant."""
    shown = run.eval.file
    expected = _set(parse_document(text.removeprefix(_BOM), shown).value, run.criterion.name, at, new)
    for way in _ways(written, new, "\r\n" if "\r\n" in text else "\n"):
        edited = text[: written.start] + way + text[written.end :]
        try:
            if parse_document(edited.removeprefix(_BOM), shown).value == expected:
                return edited
        except ConfigError:
            continue
    raise ConfigError(f"the instructions {_name(at)} cannot be replaced in it: edit them there", Place(shown))


def _ways(written: _Written, new: str, line: str) -> Iterator[str]:
    if "\n" in new and not written.flow and not _NOT_IN_A_BLOCK.search(new):
        body = new.rstrip("\n")
        ends = len(new) - len(body)
        chomping = "-" if ends == 0 else "" if ends == 1 else "+"
        indicator = "2" if new[:1] in " \n" else ""
        indent = " " * (written.column + 2)
        lines = [indent + each if each else "" for each in body.split("\n")] + [""] * max(0, ends - 1)
        yield line.join([f"|{indicator}{chomping}", *lines])
    yield json.dumps(new, ensure_ascii=False)
    yield json.dumps(new)


def _set(document: Any, criterion: str, at: Location, new: str) -> Any:
    def put(value: Any, path: Location) -> Any:
        if not path:
            return new
        if isinstance(value, list):
            return [put(inner, path[1:]) if place == path[0] else inner for place, inner in enumerate(value)]
        return {**value, path[0]: put(value[path[0]], path[1:])}

    criteria = [put(item, at) if item.get("name") == criterion else item for item in document["criteria"]]
    return {**document, "criteria": criteria}


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    return list(node.value) if getattr(node, "id", None) == "mapping" else []


def _items(node: Any) -> list[Any]:
    return list(node.value) if getattr(node, "id", None) == "sequence" else []


def _value(node: Any, key: str) -> Any:
    return next((value for name, value in _pairs(node) if name.value == key), None)


def _name(at: Location) -> str:
    return ".".join(map(str, at))
