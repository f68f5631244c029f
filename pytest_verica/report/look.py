"""The look that the HTML report and the pages of `verica ui` share, and the other files of the report's page."""

from __future__ import annotations

from importlib import resources


def look_css() -> str:
    """The shared style sheet: custom properties for colours in light and dark, and the classes of outcomes, bars and
    texts."""
    return page_file("look.css")


def page_file(name: str) -> str:
    """The text of a file of `report/page/`."""
    return resources.files("pytest_verica.report").joinpath(f"page/{name}").read_text(encoding="utf-8")
