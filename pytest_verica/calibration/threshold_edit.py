"""Writing a threshold into an eval file: the number alone is replaced, every other byte stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_verica.errors import ConfigError, Place
from pytest_verica.evals.document import parse_document

KEY = "pass_at"
_BOM = "\ufeff"


def with_threshold(path: Path, shown: str, criterion: str, value: float) -> tuple[Path, bytes]:
    """The file in which a criterion's `pass_at` is written (the eval's own, or one that it extends), and its bytes with
    the new value. Nothing is written.

    Raises:
        ConfigError: the number is not written plainly in any of them; says where to change it by hand.
    """
    seen: set[Path] = set()
    file = path
    while file not in seen:
        seen.add(file)
        try:
            raw = file.read_bytes()
            text = raw.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"cannot be read: {error}", Place(shown)) from None
        body = text.removeprefix(_BOM)
        root = _composed(body, shown)
        node = _threshold_node(root, criterion)
        if node is not None:
            return file, _replaced(text, body, node, criterion, value, shown)
        base = _value(root, "extends")
        if base is None:
            break
        file = (file.parent / str(base.value)).resolve()
    raise ConfigError(
        f"no `{KEY}` of the criterion {criterion!r} is written in it; set it to {value:g} where the criterion stands",
        Place(shown),
    )


def number_text(value: float) -> str:
    """As a person writes it: 8, not 8.0; 0.7."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _composed(text: str, shown: str) -> Any:
    from ruamel.yaml import YAML  # deferred: only an edit needs it
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="rt", pure=True).compose(text)
    except YAMLError as error:
        raise ConfigError(f"not valid YAML: {getattr(error, 'problem', None) or error}", Place(shown)) from None


def _value(node: Any, key: str) -> Any:
    if getattr(node, "id", None) != "mapping":
        return None
    return next((value for name, value in node.value if getattr(name, "value", None) == key), None)


def _threshold_node(root: Any, criterion: str) -> Any:
    """The scalar in the criterion's own mapping."""
    criteria = _value(root, "criteria")
    for item in getattr(criteria, "value", ()) if getattr(criteria, "id", None) == "sequence" else ():
        name = _value(item, "name")
        if name is not None and name.value == criterion:
            return _value(item, KEY)
    return None


def _replaced(text: str, body: str, node: Any, criterion: str, value: float, shown: str) -> bytes:
    start, end = node.start_mark.index, node.end_mark.index
    place = Place(shown, node.start_mark.line + 1, node.start_mark.column + 1)
    expected = _set(parse_document(body, shown).value, criterion, float(value))
    changed = body[:start] + number_text(value) + body[end:]
    if _read(changed, shown) != expected:
        raise ConfigError(
            f"the threshold of {criterion!r} is not a plain number of its own (an alias or an anchor, perhaps): set "
            f"`{KEY}` to {value:g} by hand",
            place,
        )
    return (text[: len(text) - len(body)] + changed).encode("utf-8")


def _read(text: str, shown: str) -> Any:
    """What an edited text says; None where it says nothing any more."""
    try:
        return parse_document(text, shown).value
    except ConfigError:
        return None


def _set(document: Any, criterion: str, value: float) -> Any:
    criteria = [{**item, KEY: value} if item.get("name") == criterion else item for item in document["criteria"]]
    return {**document, "criteria": criteria}
