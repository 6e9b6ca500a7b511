"""A real headless Chromium, driven as a person would use it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webelement import WebElement

ROOT = Path(__file__).parent.parent
_QUIET = (
    "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
    "disable-component-update disable-sync hide-scrollbars force-device-scale-factor=1"
)


def axe_source() -> str:
    """Return the accessibility checker that scripts/test installs; skip where it is not there."""
    default = ROOT / ".venv-test" / "node_modules" / "axe-core" / "axe.min.js"
    path = Path(os.environ.get("OUTLYING_AXE", default))
    if not path.exists():
        pytest.skip(f"axe-core is not at {path} (scripts/test installs it where npm can be had)")
    return path.read_text(encoding="utf-8")


class Browser:
    """One window; each page is opened afresh."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path | str, width: int = 1280, scheme: str = "light") -> None:
        """Open a file or an address in a window of a width, with light or dark preferred."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.prefer(scheme=scheme)
        self.driver.get(path if isinstance(path, str) else path.as_uri())

    def prefer(self, scheme: str = "light", media: str = "") -> None:
        """Set what the page may ask about the reader."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.tell("Emulation.setEmulatedMedia", media=media, features=features)

    def tell(self, command: str, **given: Any) -> Any:
        """Send a command of the browser's own protocol."""
        return self.driver.execute_cdp_cmd(command, given)

    def ask(self, script: str, *given: Any) -> Any:
        """Evaluate an expression in the page."""
        return self.driver.execute_script(f"return {script}", *given)

    def all(self, selector: str) -> list[WebElement]:
        """Find elements."""
        return list(self.driver.find_elements("css selector", selector))

    def until(self, seen: Callable[[], Any], seconds: float = 30) -> Any:
        """Wait until something is seen; a page that changes meanwhile is looked at again."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(StaleElementReferenceException, NoSuchElementException):
                if found := seen():
                    return found
            if time.monotonic() > end:
                raise AssertionError(f"not seen within {seconds} s: {self.driver.current_url}")
            time.sleep(0.03)

    def complaints(self) -> list[str]:
        """Return what the console says."""
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the page was opened."""
        events = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def violations(self, *rules: str) -> list[str]:
        """Return what axe finds that is serious or worse, by some of its rules or all."""
        self.driver.execute_script(axe_source())
        asked: dict[str, Any] = {"resultTypes": ["violations"]}
        found = self.driver.execute_async_script(
            "const [how, done] = arguments; axe.run(document, how).then(r => done(r.violations))",
            asked | ({"runOnly": list(rules)} if rules else {}),
        )
        return [
            f"{item['id']}: {item['nodes'][0]['html'][:200]}"
            for item in found
            if item["impact"] in ("serious", "critical")
        ]


def started() -> Iterator[Browser]:
    """Start Chromium, or skip with the reason why not."""
    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in paths:
        pytest.skip("Chromium is missing; on Debian: apt-get install chromium chromium-driver")
    options = Options()
    for flag in _QUIET.split():
        options.add_argument(f"--{flag}")
    options.binary_location = str(paths[0])
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(paths[1])))
    driver.set_script_timeout(60)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
