"""Choices of a sidebar field, with search by name, and the values that a form selects."""

from collections.abc import Collection
from typing import Any

import msgspec

from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.labels.views import LabelBrief, LabelView
from ingot.collaboration.milestones import api as milestones_api
from ingot.projects.sharing import api as project_people_api
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

    chosen: list[SidebarChoice]
    others: list[SidebarChoice]
    more: bool
    """True if there are more choices than shown, which only a search finds."""


def sidebar_choices(subject: SidebarField, search: str, kept: Collection[str] = ()) -> SidebarChoices:
    """Return the choices of a field; the form already shows those in ``kept``."""
    chosen = _chosen(subject)
    known = {choice.value for choice in chosen} | set(kept)
    listing = _CHOICE_QUERIES[subject.fact](subject, search)
    others = [choice for one in listing.items if (choice := _choice(subject, one)).value not in known]
    more = listing.more or (listing.total or 0) > len(listing.items)
    return SidebarChoices(chosen, others, more)


def _people(subject: SidebarField, search: str) -> Any:
    return subject.parent.ask(project_people_api.list_all_project_members, {"per_page": _MAX_CHOICES, "query": search})


def _labels(subject: SidebarField, search: str) -> Any:
    return subject.parent.ask(
        labels_api.list_project_labels, {"per_page": _MAX_CHOICES, "with_counts": "false"} | _searched(search)
    )


def _milestones(subject: SidebarField, search: str) -> Any:
    wanted = {"per_page": _MAX_CHOICES, "state": "active", "include_parent_milestones": "true"}
    return subject.parent.ask(milestones_api.list_project_milestones, wanted | _searched(search))


def _searched(search: str) -> dict[str, str]:
    return {"search": search} if search else {}


_CHOICE_QUERIES = {"assignees": _people, "reviewers": _people, "labels": _labels, "milestone": _milestones}


def _choice(subject: SidebarField, one: Any) -> SidebarChoice:
    match subject.fact:
        case "labels":
            return SidebarChoice(one.name, one.name, label=one)
        case "milestone":
            return SidebarChoice(str(one.id), one.title, f"due {one.due_date}" if one.due_date else "")
    return SidebarChoice(str(one.id), one.name, f"@{one.username}")


def _chosen(subject: SidebarField) -> list[SidebarChoice]:
    match subject.fact:
        case "labels":
            found: list[Any] = list(subject.labels)
        case "milestone":
            found = [subject.item.milestone] if subject.item.milestone else []
        case _:
            found = getattr(subject.item, subject.fact)
    return [_choice(subject, one) for one in found]
