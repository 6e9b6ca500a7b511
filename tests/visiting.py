"""A person at the pages: one browser that was let in to one server."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from selenium.webdriver.remote.webelement import WebElement

from tests.browser import Browser
from tests.serving import Served


class Visitor:
    """One browser that was let in to one server."""

    def __init__(self, browser: Browser, server: Served) -> None:
        self.browser, self.origin = browser, server.origin
        browser.open(server.address)

    def open(self, path: str, width: int = 1280, scheme: str = "light") -> None:
        """Open a view, and wait until nothing is in progress on it."""
        self.browser.open(self.origin + path, width, scheme)
        self.settled()

    def settled(self) -> None:
        self.browser.until(lambda: not self.all(".job, .busy"))

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.all(selector)

    def one(self, selector: str) -> WebElement:
        """Wait for the first of such elements."""
        found: WebElement = self.browser.until(lambda: next(iter(self.all(selector)), None))
        return found

    def text(self, selector: str) -> str:
        return str(self.browser.until(lambda: self.one(selector).text))

    def click(self, selector: str, words: str = "") -> None:
        """Click the first of such elements that says something."""
        self.browser.until(lambda: self._clicked(selector, words))

    def _clicked(self, selector: str, words: str) -> bool:
        found = next((item for item in self.all(selector) if words in item.text), None)
        if found is None:
            return False
        self.browser.ask("arguments[0].scrollIntoView({block: 'center'})", found)
        found.click()
        return True

    def says(self, words: str, selector: str = "main") -> None:
        """Wait until a part of the page says something."""
        self.browser.until(lambda: words in self.one(selector).text)

    @property
    def path(self) -> str:
        return str(urlsplit(self.browser.driver.current_url).path)

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.browser.driver.current_url).query)

    def arrive(self, path: str, **query: str) -> None:
        """Wait for an address."""
        self.browser.until(
            lambda: self.path == path and all(self.query.get(n) == [v] for n, v in query.items())
        )

    def cells(self, name: str) -> list[str]:
        """Return a column of the table that is shown; nothing where it is not."""
        names = [item.text.split("\n")[0].rstrip(" ▲▼") for item in self.all(".grid thead th")]
        place = names.index(name) + 1 if name in names else 0
        return [item.text for item in self.all(f".grid tbody tr > :nth-child({place})")]


def strangers(browser: Browser, server: Served) -> list[str]:
    """Return the addresses beyond the server's own that were asked for."""
    found = [url for url in browser.requests() if not url.startswith(server.origin)]
    return [url for url in found if not url.startswith(("about:", "data:"))]
