"""What pages and API call: the tables and jobs of one server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request

from outlying.checks import check_names, check_whole
from outlying.errors import ObjectError, OptionError
from outlying.table.values import Form, read_text
from outlying.web.jobs import Job, Jobs
from outlying.web.limits import Limits
from outlying.web.limits import NotFoundError as NotFoundError
from outlying.web.limits import NotReadyError as NotReadyError
from outlying.web.queries import DETECT_OPTIONS, OptionsQuery
from outlying.web.sourcing import Sourcing
from outlying.web.tables import TableEntry, Tables, check_number
from outlying.web.tasks import Detect, Explain
from outlying.web.workspace import Workspace

MOST_FLAGGED = 200
"""Rows that one detection explains."""


class Service:
    """One server: its private folder, its tables, its jobs, its limits."""

    def __init__(
        self,
        workspace: Workspace,
        limits: Limits | None = None,
        sources: Sequence[tuple[Sourcing, Any]] = (),
    ) -> None:
        self.workspace, self.limits = workspace, limits or Limits()
        self.jobs = TableJobs(self.limits)
        self.tables = Tables(workspace, self.limits, self.jobs)
        self.jobs.tables = self.tables
        for sourcing, held in sources:
            self.tables.add(sourcing, held)

    def close(self) -> None:
        """End all that runs."""
        self.tables.close()


def service_of(request: Request) -> Service:
    """Return the service that answers a request."""
    found: Service = request.app.state.service
    return found


class TableJobs(Jobs):
    """The jobs of a server, begun by what is asked of its tables."""

    tables: Tables

    def explain(
        self,
        table: str,
        *,
        number: int | None = None,
        values: Mapping[str, Any] | None = None,
        options: OptionsQuery | None = None,
        again: bool = False,
    ) -> Job:
        """Explain a row by its number from 1, or a new object by its values.

        The same request has the same job; `again` begins one that has failed once more.
        """
        chosen, entry = options or OptionsQuery(), self.tables.get(table)
        entry.ready()
        if values is not None:
            typed = tuple(_typed(values, entry, chosen).items())
            return self.tables.asked(table, Explain(chosen, object=typed), again=again)
        check_number(entry, number)
        return self.tables.asked(table, Explain(chosen, row=int(number or 0) - 1), again=again)

    def detect(
        self,
        table: str,
        *,
        top: int = 10,
        options: OptionsQuery | None = None,
        again: bool = False,
    ) -> Job:
        """Find the rows that stand out, and explain them."""
        chosen = options or OptionsQuery()
        check_names(dict(chosen.given), DETECT_OPTIONS)
        if check_whole("top", top, 1) > MOST_FLAGGED:
            raise OptionError(f"top is {top}; allowed: 1 to {MOST_FLAGGED}")
        return self.tables.asked(table, Detect(chosen, top), again=again)


def _typed(values: Mapping[str, Any], entry: TableEntry, options: OptionsQuery) -> dict[str, Any]:
    """Read texts as what their columns hold; other values stay as they are."""
    declared = dict(options.options.types)
    forms: dict[str, Form] = {}
    mixed = {facts.name for facts in entry.columns if facts.unread}
    for facts in entry.columns:
        kind = declared.get(facts.name, facts.type)
        is_number = kind == "numeric" and facts.type == "categorical"
        forms[facts.name] = "number" if is_number else facts.form
        if kind == "categorical" and facts.type != "categorical":
            forms[facts.name] = "text"
    found = {}
    for name, value in values.items():
        try:
            is_text = isinstance(value, str) and name in forms
            found[name] = read_text(forms[name], value.strip()) if is_text else value
        except ValueError as error:
            if name in mixed:  # a text among numbers is what some rows hold, and can be odd
                found[name] = value
                continue
            raise ObjectError(f"the object's {name!r} is {value!r}; it expects {error}") from None
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise ObjectError(f"the object's {name!r} is no text, number, true, false or null")
    return found


__all__ = ["Job", "NotFoundError", "NotReadyError", "Service", "service_of"]
