"""The addresses of pages: every view of a table has one, and says all that is shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from starlette.requests import Request

from outlying.web.queries import Given, OptionsQuery, Params, TableQuery, encoded


@dataclasses.dataclass(frozen=True, slots=True)
class Addresses:
    """The views of one table under the same options, with the same columns switched off."""

    table_id: str
    options: OptionsQuery = dataclasses.field(default_factory=OptionsQuery)
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: Request) -> Addresses:
        """Read what all views of a table have in common."""
        return cls.posted(request, request.query_params)

    @classmethod
    def posted(cls, request: Request, form: Given) -> Addresses:
        """Read the same from a form that was sent."""
        hidden = tuple(dict.fromkeys(map(str, form.getlist("hide"))))
        return cls(request.path_params["table"], OptionsQuery.of(form), hidden)

    @property
    def kept(self) -> Params:
        """What every address of these views holds."""
        return self.options.to_params() + [("hide", name) for name in self.hidden]

    @property
    def without_infinite(self) -> Addresses:
        """The same views where infinite values count as missing."""
        options = OptionsQuery.checked(self.options.keywords | {"infinite": "missing"})
        return dataclasses.replace(self, options=options)

    def path(self, view: str = "") -> str:
        """Return the address of a view without its query."""
        return f"/t/{quote(self.table_id)}{view}"

    def to(self, view: str = "", pairs: Iterable[tuple[str, str]] = (), suffix: str = "") -> str:
        """Return the address of a view."""
        return f"{self.path(view)}{suffix}{encoded([*pairs, *self.kept])}"

    def table(self, query: TableQuery | None = None, suffix: str = "") -> str:
        """Return the address of the table, or of a part of it."""
        return self.to(pairs=() if query is None else query.to_params(), suffix=suffix)

    def row(self, number: int, suffix: str = "", top: int | None = None) -> str:
        """Return the address of an explained row, from 1; picked among so many odd ones or not."""
        pairs = () if top is None else (("odd", str(top)),)
        return self.to(f"/row/{number}", pairs, suffix)

    def odd(self, top: int | None = None, suffix: str = "") -> str:
        """Return the address of what stands out: to be asked for, or so many rows of it."""
        return self.to("/odd", () if top is None else (("top", str(top)),), suffix)

    def new(self, values: Mapping[str, str], suffix: str = "") -> str:
        """Return the address of a new object."""
        pairs = [(f"v.{name}", value) for name, value in values.items() if value != ""]
        return self.to("/new", pairs, suffix)
