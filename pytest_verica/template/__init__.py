"""`{{ }}` templates: compiled once, checked before launch, rendered per case. Data is never a template."""

from pytest_verica.template.compiled import Template, compile_template
from pytest_verica.template.reference import Reference, Scope, is_manual_column
from pytest_verica.template.text import is_missing, text_of

__all__ = ["Reference", "Scope", "Template", "compile_template", "is_manual_column", "is_missing", "text_of"]
