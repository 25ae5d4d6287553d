"""List filters, parsed from page URLs and converted to API parameters."""

from typing import Any

import msgspec

MAX_LABELS = 20


class ListFilterOptions(msgspec.Struct, frozen=True):
    """States, sort orders and filters of one kind of list; the first of each is the default."""

    states: dict[str, str]
    sorts: dict[str, tuple[str, str, str]]
    """By URL value: the label, and the API's ``order_by`` and ``sort``."""
    texts: dict[str, str]
    """API parameter by the name of the URL parameter."""

    @property
    def sort_names(self) -> dict[str, str]:
        """Return the labels of the sort orders by URL value."""
        return {value: name for value, (name, _, _) in self.sorts.items()}

    def parse_query(self, query: dict[str, Any]) -> "ListFilters":
        """Parse the filters of a URL query; ignore invalid values."""
        state, sort = query.get("state"), query.get("sort")
        return ListFilters(
            self,
            state if isinstance(state, str) and state in self.states else next(iter(self.states)),
            sort if isinstance(sort, str) and sort in self.sorts else next(iter(self.sorts)),
            _labels(query.get("label_name")),
            {name: _text(query.get(name)) for name in self.texts},
        )


class ListFilters(msgspec.Struct, frozen=True):
    """Filters that the user has chosen."""

    options: ListFilterOptions
    state: str
    sort: str
    labels: list[str]
    texts: dict[str, str]

    @property
    def filter_params(self) -> dict[str, Any]:
        """Return the API parameters without state and order."""
        params: dict[str, Any] = {self.options.texts[name]: value for name, value in self.texts.items() if value}
        if params.get("assignee_username", "").lower() in ("none", "any"):
            params["assignee_id"] = params.pop("assignee_username")
        if self.labels:
            params["labels"] = self.labels
        return params

    @property
    def list_params(self) -> dict[str, Any]:
        """Return the API parameters with state and order."""
        _, order_by, sort = self.options.sorts[self.sort]
        return {**self.filter_params, "state": self.state, "order_by": order_by, "sort": sort}

    @property
    def filtered(self) -> bool:
        """Return whether any filter other than the state is set."""
        return bool(any(self.texts.values()) or self.labels)

    @property
    def details(self) -> bool:
        """Return whether a filter in the collapsed part of the form is set."""
        return bool(self.labels or any(value for name, value in self.texts.items() if name != "search"))


def _labels(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(text for one in values if (text := _text(one))))[:MAX_LABELS]


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) and "\0" not in value else ""
