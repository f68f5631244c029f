"""A YAML or JSON text read into plain values that remember where each of them was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_verica.errors import ConfigError, Place, Problem
from pytest_verica.evals.fields import Location


@dataclass(frozen=True)
class Document:
    """What a file says. `value` is plain (dict, list, text, number, bool, None); `places` maps the path of keys of
    every value in it to the place where it was written."""

    file: str
    value: Any
    places: Mapping[Location, Place] = field(default_factory=dict)

    def place(self, location: Location) -> Place:
        """The place of the deepest part of `location` that was written."""
        for end in range(len(location), -1, -1):
            found = self.places.get(location[:end])
            if found is not None:
                return found
        return Place(self.file)


def read_document(path: Path, shown: str) -> Document:
    """Reads a file; `shown` is the name that messages use.

    Raises:
        ConfigError: it does not exist, is not UTF-8, is not YAML, or has a key twice.
    """
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{shown} does not exist", Place(shown)) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8: byte {error.start} is {error.object[error.start]:#04x}", Place(shown)) from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", Place(shown)) from None
    return parse_document(text, shown)


def parse_document(text: str, shown: str) -> Document:
    """Reads a YAML 1.2 text (JSON is a part of YAML).

    Raises:
        ConfigError: it is not YAML, or has a key twice.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError  # deferred: only an eval file needs it

    yaml = YAML(typ="safe", pure=True)
    try:
        root = yaml.compose(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        place = Place(shown, mark.line + 1, mark.column + 1) if mark is not None else Place(shown)
        raise ConfigError(f"not valid YAML: {getattr(error, 'problem', None) or error}", place) from None
    except RecursionError:
        raise ConfigError("nested too deeply to be read", Place(shown)) from None
    reader = _Reader(shown, yaml.constructor)
    value = None if root is None else reader.read(root, ())
    if reader.problems:
        raise ConfigError(reader.problems)
    return Document(shown, value, reader.places)


class _Reader:
    def __init__(self, file: str, constructor: Any) -> None:
        self._file = file
        self._constructor = constructor
        self._open: set[int] = set()
        self.places: dict[Location, Place] = {}
        self.problems: list[Problem] = []

    def read(self, node: Any, at: Location) -> Any:
        place = Place(self._file, node.start_mark.line + 1, node.start_mark.column + 1)
        self.places.setdefault(at, place)
        if id(node) in self._open:
            raise ConfigError("an alias refers to itself", place)
        if node.id == "scalar":
            return self._scalar(node, place)
        self._open.add(id(node))
        try:
            if node.id == "sequence":
                return [self.read(inner, (*at, index)) for index, inner in enumerate(node.value)]
            return self._mapping(node, at)
        finally:
            self._open.discard(id(node))

    def _scalar(self, node: Any, place: Place) -> Any:
        try:
            value = self._constructor.construct_object(node)
        except Exception as error:  # noqa: BLE001 - whatever a tag's reader raises, the user needs the place
            raise ConfigError(f"cannot be read: {getattr(error, 'problem', None) or error}", place) from None
        return _joined(value) if isinstance(value, str) else value

    def _mapping(self, node: Any, at: Location) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            place = Place(self._file, key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            key = _joined(key_node.value) if key_node.id == "scalar" else None
            if key is None:
                self.problems.append(Problem("a key must be a plain text", place))
            elif key in result:
                self.problems.append(Problem(f"the key {key!r} is written twice", place))
            else:
                there = (*at, key)
                self.places[there] = place
                result[key] = self.read(value_node, there)
        return result


def _joined(text: str) -> str:
    """A character that JSON wrote as a pair of surrogate escapes, as an emoji is, made one character again."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
