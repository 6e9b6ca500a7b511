"""`outlying demo`: the built-in example."""

from __future__ import annotations

import dataclasses
import json
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import click

from outlying import sources
from outlying.api import Explainer
from outlying.cli.serve import run, serving_options
from outlying.cli.terminal import DEMO, rendered
from outlying.errors import OutputError, harmless
from outlying.render.files import Output


@click.command()
@click.option(
    "--save", metavar="FOLDER", help="Write the example's two files there instead of explaining it."
)
@click.option("--all", "everything", is_flag=True, help="Show weaker findings and all numbers.")
@click.option("--web", is_flag=True, help="Open the example's table on a page in the browser.")
@serving_options
def demo(save: str | None, everything: bool, web: bool, **serving: Any) -> None:
    """Explain a sick patient against 800 healthy people: an example that is built in."""
    files = resources.files("outlying") / "data"
    if web:
        with resources.as_file(files / "patients.csv") as path:
            run((str(path),), {}, serving, path="/t/patients")
        return
    if save is not None:
        for name in ("patients.csv", "patient.json"):
            _save((files / name).read_text(encoding="utf-8"), Path(save) / name)
        said = (
            f"Saved. Now try: outlying explain {Path(save) / 'patients.csv'} "
            f"--object {Path(save) / 'patient.json'}"
        )
        click.echo(harmless(said))
        return
    patient = json.loads((files / "patient.json").read_text(encoding="utf-8"))
    with resources.as_file(files / "patients.csv") as path:
        table = dataclasses.replace(sources.read(path), source="patients.csv")
    findings = Explainer(table).explain(object=patient)
    click.echo(rendered(findings, sys.stdout.isatty(), DEMO, everything=everything))
    click.echo(
        "\nThe same on a file of your own:\n"
        "  outlying explain FILE.csv --row 17           (data rows are counted from 1)\n"
        "  outlying explain FILE.csv --where id=A17     (the only row with that value)\n"
        "  outlying demo --save .                       (the files of this example)\n"
        "  outlying demo --web                          (the same by mouse, in a browser)"
    )


def _save(content: str, path: Path) -> None:
    """Write a file of the example; another one of that name, which may be anyone's, stays."""
    if path.is_file() and path.read_bytes() != content.encode():
        raise OutputError(f"{path} is there, and is not the example's; name another folder")
    with Output.to(str(path)) as out:
        out.write(content.rstrip("\n"))
