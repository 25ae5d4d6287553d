"""Filters of lists, as addresses hold them and as the API takes them."""

from typing import Any

import msgspec

MAX_LABELS = 20


class ListFilterOptions(msgspec.Struct, frozen=True):
    """What one kind of list can be narrowed and sorted by; what comes first counts where nothing is said."""

    states: dict[str, str]
    sorts: dict[str, tuple[str, str, str]]
    """By a word of the address: its name, and the column and direction that the API knows."""
    texts: dict[str, str]
    """From what an address says to what the API calls it."""

    @property
    def sort_names(self) -> dict[str, str]:
        """What there is to choose from."""
        return {word: name for word, (name, _, _) in self.sorts.items()}

    def parse_query(self, query: dict[str, Any]) -> "ListFilters":
        """What an address asks for; what makes no sense is passed over."""
        state, sort = query.get("state"), query.get("sort")
        return ListFilters(
            self,
            state if isinstance(state, str) and state in self.states else next(iter(self.states)),
            sort if isinstance(sort, str) and sort in self.sorts else next(iter(self.sorts)),
            _labels(query.get("label_name")),
            {name: _text(query.get(name)) for name in self.texts},
        )


class ListFilters(msgspec.Struct, frozen=True):
    """What a visitor filters by."""

    offered: ListFilterOptions
    state: str
    sort: str
    labels: list[str]
    texts: dict[str, str]

    @property
    def filters(self) -> dict[str, Any]:
        """What the API is asked for, whatever the state."""
        sent: dict[str, Any] = {self.offered.texts[name]: value for name, value in self.texts.items() if value}
        if sent.get("assignee_username", "").lower() in ("none", "any"):
            sent["assignee_id"] = sent.pop("assignee_username")
        if self.labels:
            sent["labels"] = self.labels
        return sent

    @property
    def list(self) -> dict[str, Any]:
        """The same with state and order."""
        _, order_by, sort = self.offered.sorts[self.sort]
        return {**self.filters, "state": self.state, "order_by": order_by, "sort": sort}

    @property
    def narrowed(self) -> bool:
        """Whether more than a state is asked for."""
        return bool(any(self.texts.values()) or self.labels)

    @property
    def details(self) -> bool:
        """Whether something is asked for that the first look at the form does not show."""
        return bool(self.labels or any(value for name, value in self.texts.items() if name != "search"))


def _labels(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(text for one in values if (text := _text(one))))[:MAX_LABELS]


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) and "\0" not in value else ""
