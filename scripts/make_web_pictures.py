"""Take the pictures of docs/web.md from the pages themselves, in a headless Chromium.

    python -m scripts.make_web_pictures

The table is made here, so that the pictures can show what the text says.
"""

from __future__ import annotations

import dataclasses
import io
import json
import tempfile
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from PIL import Image

from tests import browser as browsers
from tests.browser import Browser
from tests.serving import PATIENTS, Served, served

ODD_ROW = 420
_COLOURS = 224  # enough for pages, and small files
PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"


@dataclasses.dataclass(frozen=True)
class Shot:
    """A picture: its file, the address that it shows, and the window it is taken in."""

    file: str
    address: str
    width: int = 1280
    height: int = 800
    scheme: str = "light"


def shots() -> Iterator[Shot]:
    """Yield all pictures, in an order in which later ones show what earlier ones have found."""
    yield Shot("web-start.png", "/", height=640)
    yield Shot("web-odd.png", "/t/spending/odd")
    yield Shot("web-columns.png", "/t/spending/columns", height=640)
    groceries = {"attribute": "category", "kind": "equals", "value": "groceries"}
    view = urlencode({"sort": "amount", "order": "desc", "filter": json.dumps(groceries)})
    yield Shot("web-table.png", f"/t/spending?{view}", height=720)
    yield Shot("web-row.png", f"/t/spending/row/{ODD_ROW}", height=1000)
    yield Shot("web-new.png", f"/t/patients/new?{urlencode(_patient())}", 1280, 900, "dark")
    yield Shot("web-phone.png", f"/t/spending/row/{ODD_ROW}", 400, 860)


def _patient() -> dict[str, str]:
    file = resources.files("outlying") / "data" / "patient.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    return {
        f"v.{name}": str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
        if value is not None
    }


def spending(path: Path) -> Path:
    """Write a table of payments, of which a few are odd."""
    rng = np.random.default_rng(19)
    usual = {"groceries": (40, 9), "fuel": (62, 6), "rent": (930, 60), "books": (18, 5)}
    lines = ["payment,day,category,amount,card,country"]
    for number in range(1, 1201):
        category = str(rng.choice(list(usual), p=[0.5, 0.2, 0.1, 0.2]))
        amount = f"{rng.normal(*usual[category]):.2f}"
        day = np.datetime64("2025-01-01") + int(rng.integers(0, 365))
        card = "" if rng.random() < 0.03 else str(rng.choice(["credit", "debit"]))
        country = "DE" if rng.random() < 0.93 else str(rng.choice(["AT", "FR"]))
        if number in (ODD_ROW, 77, 901):
            category, amount = "groceries", f"{rng.normal(880, 30):.2f}"
        if number in (350, 640):
            category, amount = "rent", f"{rng.normal(48, 5):.2f}"
        lines.append(f"B{number:04},{day},{category},{amount},{card},{country}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def take(browser: Browser, server: Served, shot: Shot) -> None:
    """Open a view, wait until nothing is in progress, and write what is seen."""
    browser.open(server.origin + shot.address, shot.width, shot.scheme)
    browser.tell(
        "Emulation.setDeviceMetricsOverride",
        width=shot.width,
        height=shot.height,
        deviceScaleFactor=1,
        mobile=False,
    )
    browser.until(lambda: not browser.all(".job, .busy"), 120)
    time.sleep(0.3)
    picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE).save(PICTURES / shot.file, optimize=True)


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        table = spending(Path(folder) / "spending.csv")
        with served(table, PATIENTS) as server:
            for browser in browsers.started():
                browser.open(server.address)
                for shot in shots():
                    take(browser, server, shot)


if __name__ == "__main__":
    main()
