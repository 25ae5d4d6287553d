"""Choices of a sidebar field, with search by name, and the values that a form selects."""

from collections.abc import Collection
from typing import Any

import msgspec

from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.labels.views import LabelBrief, LabelView
from ingot.collaboration.milestones import api as milestones_api
from ingot.projects.sharing import api as sharing_api
from ingot.web.sidebar.subjects import SidebarField

_MAX_CHOICES = 50


class SidebarChoice(msgspec.Struct, frozen=True):
    """Value that can be chosen."""

    value: str
    name: str
    hint: str = ""
    label: LabelBrief | LabelView | None = None


class SidebarChoices(msgspec.Struct, frozen=True):
    """Chosen values and other choices."""

    selected: list[SidebarChoice]
    others: list[SidebarChoice]
    more: bool
    """True if there are more choices than shown, which only a search finds."""


def sidebar_choices(field: SidebarField, search: str, selected: Collection[str] = ()) -> SidebarChoices:
    """Return the choices of a field; the form already shows those in ``selected``."""
    selected_choices = _selected_choices(field)
    listed = {choice.value for choice in selected_choices} | set(selected)
    listing = _CHOICE_QUERIES[field.name](field, search)
    others = [choice for item in listing.items if (choice := _choice(field, item)).value not in listed]
    more = listing.more or (listing.total or 0) > len(listing.items)
    return SidebarChoices(selected_choices, others, more)


def _users(field: SidebarField, search: str) -> Any:
    return field.parent.ask(sharing_api.list_all_project_members, {"per_page": _MAX_CHOICES, "query": search})


def _labels(field: SidebarField, search: str) -> Any:
    return field.parent.ask(
        labels_api.list_project_labels, {"per_page": _MAX_CHOICES, "with_counts": "false"} | _search_params(search)
    )


def _milestones(field: SidebarField, search: str) -> Any:
    params = {"per_page": _MAX_CHOICES, "state": "active", "include_parent_milestones": "true"}
    return field.parent.ask(milestones_api.list_project_milestones, params | _search_params(search))


def _search_params(search: str) -> dict[str, str]:
    return {"search": search} if search else {}


_CHOICE_QUERIES = {"assignees": _users, "reviewers": _users, "labels": _labels, "milestone": _milestones}


def _choice(field: SidebarField, item: Any) -> SidebarChoice:
    match field.name:
        case "labels":
            return SidebarChoice(item.name, item.name, label=item)
        case "milestone":
            return SidebarChoice(str(item.id), item.title, f"due {item.due_date}" if item.due_date else "")
    return SidebarChoice(str(item.id), item.name, f"@{item.username}")


def _selected_choices(field: SidebarField) -> list[SidebarChoice]:
    match field.name:
        case "labels":
            items: list[Any] = list(field.labels)
        case "milestone":
            items = [field.item.milestone] if field.item.milestone else []
        case _:
            items = getattr(field.item, field.name)
    return [_choice(field, item) for item in items]
