"""One server for all tests that only ask."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.serving import PATIENTS, Served, opened, served


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    with served(PATIENTS) as found:
        yield found


@pytest.fixture(scope="session")
def client(server: Served) -> Iterator[httpx.Client]:
    with server.client() as found:
        opened(found, "patients")
        yield found
