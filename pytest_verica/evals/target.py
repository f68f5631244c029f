"""What produces an output for a case, when it is not a prompt and a model: a column, a callable, an HTTP endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from pytest_verica.evals.fields import Strict, TemplateMark, TemplateText
from pytest_verica.evals.secret import ENVIRONMENT_REFERENCE, is_literal_key, url_holds_key


class ColumnTarget(Strict):
    """The output is already in the golden set; the other keys name the columns that hold the rest of it."""

    column: str
    tool_calls: str | None = None
    steps: str | None = None
    state: str | None = None
    spans: str | None = None
    stop_reason: str | None = None
    usage: str | None = None

    def columns(self) -> dict[str, str]:
        """Part of the output -> column."""
        return dict(self.model_dump(exclude_none=True))


class RecordTarget(Strict):
    """One column holds a whole output record as JSON."""

    record: str


class PythonTarget(Strict):
    """A callable, sync or async, that takes the case or its columns by parameter name."""

    python: str = Field(pattern=r"^[\w.]+:[\w.]+$", description="module:function, such as shop.bot:answer")
    timeout: float = Field(600, gt=0, description="Seconds for one case.")


class HttpRequest(Strict):
    """One request for each case. `output` is the path of the answer in the response's JSON; without it, its text. The
    url and the headers may name environment variables: `${SHOP_URL}/answer`."""

    url: TemplateText
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"
    headers: dict[str, TemplateText] = Field(default_factory=dict)
    json_body: Any = Field(None, alias="json", json_schema_extra={"template": True})
    output: str | None = None
    timeout: float = Field(120, gt=0, description="Seconds for one request.")

    @field_validator("url")
    @classmethod
    def _no_secret_in_url(cls, url: str) -> str:
        if url_holds_key(url):
            # It is not repeated either.
            raise ValueError(
                "seems to hold a password or a key; name an environment variable in its place, such as ${API_TOKEN}"
            )
        return url

    @field_validator("headers")
    @classmethod
    def _no_literal_secret(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if is_literal_key(name, value):
                # The value is not repeated: it may be a key.
                raise ValueError(
                    f"the header {name!r} seems to hold a key; name an environment variable instead, "
                    f'such as "Bearer ${{API_TOKEN}}"'
                )
        return headers

    def environment(self) -> Iterator[str]:
        """Names of the environment variables that the url and the headers need."""
        texts = (self.url, *self.headers.values())
        yield from dict.fromkeys(name for text in texts for name in ENVIRONMENT_REFERENCE.findall(text))


HttpRequest.model_fields["json_body"].metadata.append(TemplateMark())


class HttpTarget(Strict):
    """An HTTP endpoint. A status that is not 2xx is an error."""

    http: HttpRequest


TargetConfig = ColumnTarget | RecordTarget | PythonTarget | HttpTarget
TARGETS: Mapping[str, type[Strict]] = {
    "column": ColumnTarget,
    "record": RecordTarget,
    "python": PythonTarget,
    "http": HttpTarget,
}
