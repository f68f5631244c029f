"""What a test module may write at import: criteria as plain declarations, validated only when an eval runs.

Only the standard library is imported here: a plain `pytest` run of a marked suite must stay as fast as before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

from pytest_verica.state_checks import STATE_CHECKS

F = TypeVar("F", bound=Callable[..., Any])


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
tool_check = _kind("tool_check")
trajectory_check = _kind("trajectory_check")


@overload
def state_check(name: str) -> Callable[[F], F]: ...
@overload
def state_check(name: str, *, check: str, **keys: Any) -> Declared: ...
def state_check(name: str, **keys: Any) -> Any:
    """With a name alone a decorator, which registers a function `(state, **arguments) -> bool | Grade` under it; with
    `check` a `state_check` criterion, with the keys that an eval file would have."""
    if not isinstance(name, str):
        raise TypeError('a state check is registered under a name: `@state_check("refund_exists")`')
    return criterion("state_check", name, **keys) if keys else partial(_register, name)


def _register(name: str, check: F) -> F:
    STATE_CHECKS.add(name, check)
    return check


span_check = _kind("span_check")
python_check = _kind("python_check")
text_similarity = _kind("text_similarity")
label_model = _kind("label_model")
score_model = _kind("score_model")
rubric_model = _kind("rubric_model")
pairwise_model = _kind("pairwise_model")
preset = _kind("preset")
