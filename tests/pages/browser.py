"""A headless Chromium that notes every request it makes, and what a person does in it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)

ITS_OWN = ("chrome://", "about:")
"""Pages inside the browser, such as that of a new tab: they are on no network."""


class Browser:
    """One window."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        self.driver.get(address)

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """The window, as if on a screen of that width: headless windows are not let under 500 px otherwise."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def keys(self, *keys: str) -> None:
        """Typed on whatever has the focus, as a person would."""
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def find(self, css: str) -> Any:
        from selenium.webdriver.common.by import By

        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css: str) -> list[Any]:
        from selenium.webdriver.common.by import By

        return list(self.driver.find_elements(By.CSS_SELECTOR, css))

    def click(self, css: str) -> None:
        """With the mouse, after scrolling to it as a person would."""
        found = self.find(css)
        self.script("arguments[0].scrollIntoView({block: 'center'})", found)
        found.click()

    def text(self, css: str = "body") -> str:
        return str(self.script("return document.querySelector(arguments[0]).innerText", css))

    def script(self, source: str, *values: Any) -> Any:
        return self.driver.execute_script(source, *values)

    def until(self, condition: str, *values: Any, seconds: float = 10) -> Any:
        """Waits for an expression of JavaScript to be true."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.driver, seconds, 0.02).until(
            lambda driver: driver.execute_script(f"return ({condition})", *values), f"never true: {condition} {values}"
        )

    def until_says(self, css: str, words: str, seconds: float = 10) -> None:
        found = "(document.querySelector(arguments[0]) || {}).innerText || ''"
        self.until(f"({found}).includes(arguments[1])", css, words, seconds=seconds)

    def fits(self) -> bool:
        """Whether nothing is wider than the window."""
        return bool(self.script("return document.documentElement.scrollWidth <= window.innerWidth"))

    def requests(self) -> list[tuple[str, str]]:
        """(address, body of the answer) of everything asked since the last call, from the browser's own log."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] != "Network.responseReceived":
                continue
            params = message["params"]
            if params["response"]["url"].startswith(ITS_OWN):
                continue
            try:
                body = self.driver.execute_cdp_cmd("Network.getResponseBody", {"requestId": params["requestId"]})[
                    "body"
                ]
            except Exception as error:  # a body that the browser let go of must not look like an empty one
                body = f"(not kept: {error})"
            found.append((params["response"]["url"], body))
        return found

    def asked(self) -> list[str]:
        """Every address that a request was sent to since the last call, answered or not."""
        entries = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [each["params"]["request"]["url"] for each in entries if each["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(ITS_OWN)]

    def storage(self) -> str:
        """Everything that pages have stored in the browser."""
        return str(
            self.script(
                "return JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])"
            )
        )

    def shot(self, path: Path, whole: bool = True) -> Path:
        """A picture of the page, with what is below the window."""
        import base64

        options = {"format": "png", "captureBeyondViewport": whole}
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", options)
        path.write_bytes(base64.b64decode(taken["data"]))
        return path


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser of its own profile, closed afterwards. Skips where Chromium or Selenium is missing."""
    selenium = pytest.importorskip("selenium.webdriver", reason="needs selenium, of the test group")
    binary = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver_path = shutil.which("chromedriver")
    if binary is None or driver_path is None:
        if os.environ.get("VERICA_REQUIRE_BROWSER"):
            pytest.fail("VERICA_REQUIRE_BROWSER is set, and chromium and chromedriver are not on PATH")
        pytest.skip("needs chromium and chromedriver on PATH")
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    profile = tempfile.mkdtemp(prefix="pages-profile-")
    options = Options()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1280,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = selenium.Chrome(options=options, service=Service(driver_path))
    try:
        driver.get("about:blank")  # the page of a new tab is the browser's own, and asks for its parts
        driver.get_log("performance")
        yield Browser(driver)
    finally:
        driver.quit()
        shutil.rmtree(profile, ignore_errors=True)
