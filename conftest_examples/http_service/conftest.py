"""Starts the toy service where SHOP_URL names no other."""

from __future__ import annotations

import os
import threading

import pytest
from shop_service import make_server


def pytest_configure(config: pytest.Config) -> None:
    # Before collection, where the eval's url is checked. xdist's workers inherit the variable and ask the one service.
    if os.environ.get("SHOP_URL"):
        return
    server = make_server()
    os.environ["SHOP_URL"] = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()
        del os.environ["SHOP_URL"]

    config.add_cleanup(stop)
