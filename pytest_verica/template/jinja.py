"""Templates with filters, conditions or loops, through jinja2: sandboxed, strict, with the simple ones' values."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from pytest_verica.errors import MissingOutput, MissingPath, TemplateError
from pytest_verica.path import Path, Step, describe, is_array
from pytest_verica.template.reference import (
    CASE_ROOTS,
    OUTPUT_PARTS,
    SAMPLE_PARTS,
    Reference,
    Scope,
    output_part,
    reference_of,
)
from pytest_verica.template.text import is_missing, text_of

if TYPE_CHECKING:
    import jinja2
    from jinja2 import nodes

_ONLY = re.compile(r"\s*\{\{[-+]?(.*)(?<![-+])[-+]?\}\}\s*", re.DOTALL)
_NOTHING = object()
_ADVICE = "for braces that stand for themselves write {% raw %}…{% endraw %}"


class _Object(dict[str, Any]):
    """An object of the data: prints as compact JSON. of_output: whether it came from the output."""

    of_output = False
    __str__ = text_of


class _Array(list[Any]):
    of_output = False
    __str__ = text_of


class _Missing(str):
    """A column that is missing: prints as nothing, is false, and so is everything inside it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _OutputView:
    """`output` or `sample`: parts are read when asked for, because reading one may fail. parts: name -> part."""

    scope: Scope
    name: str
    parts: Mapping[str, str]

    def read(self, name: str) -> Any:
        if name not in self.parts:
            return _NOTHING
        return _exposed(output_part(self.scope.output, self.parts[name], f"{self.name}.{name}"), of_output=True)

    def __str__(self) -> str:
        return text_of(output_part(self.scope.output, "text", self.name))


@dataclass(frozen=True, slots=True)
class RichTemplate:
    """A template compiled by jinja2. expression: of a source that is one `{{ }}` and nothing else, None elsewhere;
    names: what it looks up outside itself."""

    template: jinja2.Template
    expression: Callable[..., Any] | None
    references: tuple[Reference, ...]
    names: frozenset[str]

    def render(self, scope: Scope) -> str:
        try:
            return self.template.render(self._context(scope))
        except MissingOutput:
            raise
        except Exception as error:  # noqa: BLE001 - a filter may raise anything
            _refuse(error, scope, self.references)

    def value(self, scope: Scope) -> Any:
        if self.expression is None:
            return self.render(scope)
        try:
            value = self.expression(self._context(scope))
            if _is_undefined(value):
                str(value)  # raises what is undefined
        except MissingOutput:
            raise
        except Exception as error:  # noqa: BLE001 - a filter may raise anything
            _refuse(error, scope, self.references)
        if isinstance(value, _OutputView):
            return str(value)
        return None if is_missing(value) else _plain(value)

    def _context(self, scope: Scope) -> dict[str, Any]:
        return {name: _named(name, scope) for name in self.names}


def compile_rich(text: str) -> RichTemplate:
    """Compiles with jinja2.

    Raises:
        TemplateError: a syntax error, an unknown filter or test, or an inclusion of another template.
    """
    # Deferred: most templates are simple, and jinja2 takes long to import.
    from jinja2 import TemplateSyntaxError, meta, nodes

    environment = _environment()
    try:
        tree = environment.parse(text)
        for included in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)):
            raise TemplateSyntaxError("another template cannot be included here", included.lineno)
        template = environment.from_string(text)
        undeclared = meta.find_undeclared_variables(tree) - set(environment.globals)
        only = _ONLY.fullmatch(text) if _is_one_expression(tree) else None
        expression = None if only is None else environment.compile_expression(only[1], undefined_to_none=False)
    except TemplateSyntaxError as error:
        said = (error.message or "").rstrip(".")
        raise TemplateError(f"the template is wrong in its line {error.lineno}: {said}; {_ADVICE}") from None
    except RecursionError:
        raise TemplateError("the template is nested too deeply to be read") from None
    references = tuple(dict.fromkeys(reference_of(steps) for steps in _chains(tree, undeclared)))
    return RichTemplate(template, expression, references, frozenset(undeclared))


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    from jinja2 import StrictUndefined, Undefined, UndefinedError  # deferred: see compile_rich
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class NotInOutput(UndefinedError):
        of_output = True

    class Environment(ImmutableSandboxedEnvironment):
        def getattr(self, obj: Any, attribute: str) -> Any:
            found = _attribute(obj, attribute)
            return self._accessed(super().getattr(obj, attribute) if found is _NOTHING else found, obj, attribute)

        def getitem(self, obj: Any, argument: Any) -> Any:
            found = _attribute(obj, argument) if isinstance(argument, str) else _NOTHING
            return self._accessed(super().getitem(obj, argument) if found is _NOTHING else found, obj, argument)

        def _accessed(self, found: Any, obj: Any, name: Any) -> Any:
            if not isinstance(found, Undefined):
                return _leaf(found)
            if found._undefined_exception is SecurityError or isinstance(obj, Undefined):
                return found
            kind = NotInOutput if getattr(obj, "of_output", isinstance(obj, _OutputView)) else UndefinedError
            what = "the output" if isinstance(obj, _OutputView) else describe(obj)
            return self.undefined(f"there is no {name!r} in {what}", obj=obj, name=name, exc=kind)

    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,  # as in the simple templates
        finalize=lambda value: value if isinstance(value, Undefined) else text_of(_listed(value)),
    )
    environment.filters["tojson"] = _to_json  # jinja2's own escapes < > & for HTML
    del environment.globals["lipsum"]
    return environment


def _attribute(obj: Any, name: str) -> Any:
    """Data before Python's attributes: `order.items` is the key, and a key over an array means every element."""
    if isinstance(obj, _OutputView):
        return obj.read(name)
    if isinstance(obj, Mapping):
        return obj.get(name, _NOTHING)
    if isinstance(obj, _Missing):
        return _NOTHING if hasattr(str, name) else obj
    if is_array(obj) and not hasattr(list, name):
        try:
            return _exposed(Path(name, (name,)).find(obj), of_output=getattr(obj, "of_output", False))
        except MissingPath:
            return _NOTHING
    return _NOTHING


def _named(name: str, scope: Scope) -> Any:
    """What a name stands for at the top of a template."""
    if name == "output":
        return _OutputView(scope, name, OUTPUT_PARTS)
    if name == "sample":
        return _OutputView(scope, name, SAMPLE_PARTS)
    if name == "trajectory":
        return _leaf(_exposed(output_part(scope.output, "spans", name), of_output=True))
    if name in CASE_ROOTS:
        return _Object({column: _column(value) for column, value in scope.case.items()})
    return _column(scope.case.columns.get(unicodedata.normalize("NFC", name)))


def _column(value: Any) -> Any:
    return _Missing() if is_missing(value) else _leaf(_exposed(value, of_output=False))


def _leaf(value: Any) -> Any:
    """A value as an expression may use it: null is an empty text, 3.0 is 3, as they render."""
    if value is None:
        return ""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def _exposed(value: Any, *, of_output: bool) -> Any:
    if isinstance(value, Mapping):
        shown = _Object({str(key): _exposed(inner, of_output=of_output) for key, inner in value.items()})
        shown.of_output = of_output
        return shown
    if is_array(value):
        elements = _Array(_exposed(inner, of_output=of_output) for inner in value)
        elements.of_output = of_output
        return elements
    return value


def _listed(value: Any) -> Any:
    """The filters map, select and the like give generators."""
    return list(value) if isinstance(value, Iterator) else value


def _plain(value: Any) -> Any:
    """The value without the clothes it wears inside jinja2."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if is_array(value) or isinstance(value, Iterator):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, str) else value


def _chains(tree: nodes.Template, undeclared: set[str]) -> Iterator[tuple[Step, ...]]:
    """Every chain of names and indexes that starts at a name from outside: `output.json["a"][0]`."""
    from jinja2 import nodes  # deferred: see compile_rich

    def chain(node: nodes.Node) -> tuple[Step, ...] | None:
        if isinstance(node, nodes.Name):
            return (node.name,) if node.ctx == "load" and node.name in undeclared else None
        if isinstance(node, nodes.Getattr):
            base, step = chain(node.node), node.attr
        elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
            base, step = chain(node.node), node.arg.value
        else:
            return None
        return None if base is None or not isinstance(step, (str, int)) else (*base, step)

    def walk(node: nodes.Node) -> Iterator[tuple[Step, ...]]:
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
            yield from walk(node.node.node)  # `question.upper()`: the method is no part of the chain
            for inner in (*node.args, *node.kwargs):
                yield from walk(inner)
            return
        found = chain(node)
        if found is not None:
            yield found
            return
        for inner in node.iter_child_nodes():
            yield from walk(inner)

    return walk(tree)


def _is_one_expression(tree: nodes.Template) -> bool:
    from jinja2 import nodes  # deferred: see compile_rich

    if not all(isinstance(node, nodes.Output) for node in tree.body):
        return False
    printed = [inner for node in tree.body for inner in node.iter_child_nodes()]
    spaces = [inner for inner in printed if isinstance(inner, nodes.TemplateData) and inner.data.isspace()]
    return len(printed) - len(spaces) == 1


def _is_undefined(value: Any) -> bool:
    from jinja2 import Undefined  # deferred: see compile_rich

    return isinstance(value, Undefined)


def _refuse(error: Exception, scope: Scope, references: tuple[Reference, ...]) -> NoReturn:
    from jinja2 import UndefinedError  # deferred: see compile_rich

    said = f"{type(error).__name__}: {error}"
    if isinstance(error, UndefinedError):
        said = str(error)
        if getattr(error, "of_output", False) or all(reference.root == "output" for reference in references):
            raise MissingOutput(f"a template needs what the output does not have: {said}") from None
    raise TemplateError(f"the template cannot be rendered for the case {scope.case.id!r}: {said}") from None


def _to_json(value: Any, indent: int | None = None) -> str:
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(_plain(value), ensure_ascii=False, indent=indent, separators=separators)
