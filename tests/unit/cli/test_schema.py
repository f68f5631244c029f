"""`verica schema`."""

from __future__ import annotations

import json

import jsonschema
import pytest

from pytest_verica.judge.registry import KINDS
from tests.unit.cli.conftest import Verica


@pytest.mark.parametrize(("flags", "key"), [((), "golden_set"), (("--report",), "run")])
def test_a_sound_schema_is_printed(run: Verica, flags: tuple[str, ...], key: str) -> None:
    result = run("schema", *flags)
    assert result.exit_code == 0
    schema = json.loads(result.output)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert key in schema["properties"]


def test_every_built_in_type_of_criterion_is_in_it(run: Verica) -> None:
    schema = json.loads(run("schema").output)
    criteria = schema["properties"]["criteria"]["items"]["anyOf"]
    types = [choice["allOf"][1]["properties"]["type"]["const"] for choice in criteria]
    assert types == list(KINDS)
