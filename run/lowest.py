"""Writes the oldest direct dependencies that pyproject.toml allows as requirements: `python run/lowest.py PATH`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)>=(?P<version>[\d.]+)(?P<marker>\s*;.*)?")


def lowest(pyproject: str) -> list[str]:
    """`name==version` of each dependency, its marker kept.

    Raises:
        ValueError: a dependency has no lower bound, or another one.
    """
    found = []
    for written in tomllib.loads(pyproject)["project"]["dependencies"]:
        match = _REQUIREMENT.fullmatch(written)
        if match is None:
            raise ValueError(f"expected a dependency with one lower bound, such as pytest>=8.4, found {written!r}")
        found.append(f"{match['name']}=={match['version']}{match['marker'] or ''}")
    return found


if __name__ == "__main__":
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    Path(sys.argv[1]).write_text("\n".join(lowest(project.read_text("utf-8"))) + "\n", "utf-8")
