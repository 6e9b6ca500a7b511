"""One server for all tests that only ask, and a browser for each module that needs one."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests import browser as browsers
from tests.browser import Browser
from tests.serving import PATIENTS, Served, opened, served
from tests.visiting import Visitor


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    with served(PATIENTS) as found:
        yield found


@pytest.fixture(scope="session")
def client(server: Served) -> Iterator[httpx.Client]:
    with server.client() as found:
        opened(found, "patients")
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from browsers.started()


@pytest.fixture
def visitor(browser: Browser, server: Served) -> Visitor:
    """Somebody who visits the server of a module."""
    return Visitor(browser, server)
