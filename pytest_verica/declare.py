"""What a test module may write at import: criteria as plain declarations, validated only when an eval runs.

Only the standard library is imported here: a plain `pytest` run of a marked suite must stay as fast as before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Declared:
    """A criterion as written in Python: its type and its keys, not yet checked."""

    __slots__ = ("keys",)

    def __init__(self, keys: dict[str, Any]) -> None:
        self.keys = keys

    def __repr__(self) -> str:
        keys = {**self.keys}
        kind = keys.pop("type", "criterion")
        return f"{kind}({', '.join(f'{key}={value!r}' for key, value in keys.items())})"


def criterion(type: str, name: str, **keys: Any) -> Declared:
    """A criterion of any type, built in or a plugin's, with the keys that an eval file would have."""
    return Declared({"type": type, "name": name, **keys})


def _kind(type: str) -> Callable[..., Declared]:
    def declare(name: str, **keys: Any) -> Declared:
        return criterion(type, name, **keys)

    declare.__name__ = declare.__qualname__ = type
    declare.__doc__ = f"A `{type}` criterion, with the keys that an eval file would have."
    return declare


text_check = _kind("text_check")
number_check = _kind("number_check")
json_check = _kind("json_check")
python_check = _kind("python_check")
label_model = _kind("label_model")
score_model = _kind("score_model")
