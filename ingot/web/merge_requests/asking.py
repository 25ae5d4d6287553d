"""Filters of lists of merge requests, as addresses hold them and as the API takes them."""

from typing import Any

import msgspec

STATES = {"opened": "Open", "merged": "Merged", "closed": "Closed", "all": "All"}
SORTS = {
    "created_desc": ("Newest first", "created_at", "desc"),
    "created_asc": ("Oldest first", "created_at", "asc"),
    "updated_desc": ("Last changed", "updated_at", "desc"),
    "merged_desc": ("Last merged", "merged_at", "desc"),
    "milestone_due": ("Milestone due date", "milestone_due", "asc"),
    "priority": ("Priority", "priority", "asc"),
    "popularity": ("Popularity", "popularity", "desc"),
}
_TEXTS = {
    "search": "search",
    "milestone_title": "milestone",
    "author_username": "author_username",
    "assignee_username": "assignee_username",
    "source_branch": "source_branch",
    "target_branch": "target_branch",
}


class Asked(msgspec.Struct, frozen=True):
    """What a visitor filters by; what makes no sense is passed over."""

    state: str
    sort: str
    labels: list[str]
    texts: dict[str, str]

    @property
    def filters(self) -> dict[str, Any]:
        """What the API is asked for, whatever the state."""
        sent: dict[str, Any] = {_TEXTS[name]: value for name, value in self.texts.items() if value}
        if sent.get("assignee_username", "").lower() in ("none", "any"):
            sent["assignee_id"] = sent.pop("assignee_username")
        if self.labels:
            sent["labels"] = self.labels
        return sent

    @property
    def list(self) -> dict[str, Any]:
        """The same with state and order."""
        _, order_by, sort = SORTS[self.sort]
        return {**self.filters, "state": self.state, "order_by": order_by, "sort": sort}

    @property
    def narrowed(self) -> bool:
        """Whether more than a state is asked for."""
        return bool(any(self.texts.values()) or self.labels)

    @property
    def details(self) -> bool:
        """Whether something is asked for that the first look at the form does not show."""
        return bool(self.labels or any(value for name, value in self.texts.items() if name != "search"))


def asked_in(query: dict[str, Any]) -> Asked:
    """What an address asks for."""
    state, sort = query.get("state"), query.get("sort")
    return Asked(
        state if isinstance(state, str) and state in STATES else next(iter(STATES)),
        sort if isinstance(sort, str) and sort in SORTS else next(iter(SORTS)),
        _labels(query.get("label_name")),
        {name: _text(query.get(name)) for name in _TEXTS},
    )


def _labels(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(text for one in values if (text := _text(one))))[:20]


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) and "\0" not in value else ""
