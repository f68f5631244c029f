"""The site that the pages show, the pages served in a thread, and one headless Chromium per module."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_verica.ui.server import Settings, serving
from tests.pages.site import Site, make_site


@pytest.fixture(scope="session")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Made once, by a real run; copied before it is written to."""
    return make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def built_hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return make_site(tmp_path_factory.mktemp("hostile"), hostile=True)


def copied(site: Site, to: Path) -> Site:
    shutil.copytree(site.path, to, dirs_exist_ok=True)
    return Site(to)


@contextmanager
def served(root: Path, labeller: str = "ana") -> Iterator[str]:
    """The pages, from a thread of this process; their address."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    address: list[str] = []
    stop = asyncio.Event()

    async def main() -> None:
        async with serving(Settings(root, labeller=labeller)) as found:
            address.append(found)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert ready.wait(10), "the server did not start"
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
