"""What can be chosen for a fact, found by a part of its name, and what a form chose."""

from collections.abc import Collection
from typing import Any

import msgspec

from ingot.labels.views import LabelBrief, LabelView
from ingot.web.facts.subjects import Subject

_AT_ONCE = 50


class Choice(msgspec.Struct, frozen=True):
    """Something that can be chosen."""

    value: str
    name: str
    hint: str = ""
    label: LabelBrief | LabelView | None = None


class Choices(msgspec.Struct, frozen=True):
    """What is chosen, and what else could be."""

    chosen: list[Choice]
    others: list[Choice]
    more: bool
    """Whether there are so many that only a search finds the rest."""


def choices_of(subject: Subject, search: str, kept: Collection[str] = ()) -> Choices:
    """What to choose from; what a form ``kept`` is shown there already."""
    chosen = _chosen(subject)
    known = {choice.value for choice in chosen} | set(kept)
    listing = _LISTS[subject.fact](subject, search)
    others = [choice for one in listing.items if (choice := _choice(subject, one)).value not in known]
    more = listing.more or (listing.total or 0) > len(listing.items)
    return Choices(chosen, others, more)


def _people(subject: Subject, search: str) -> Any:
    return subject.place.get("/members/all", {"per_page": _AT_ONCE, "query": search})


def _labels(subject: Subject, search: str) -> Any:
    return subject.place.get("/labels", {"per_page": _AT_ONCE, "with_counts": "false"} | _searched(search))


def _milestones(subject: Subject, search: str) -> Any:
    wanted = {"per_page": _AT_ONCE, "state": "active", "include_parent_milestones": "true"}
    return subject.place.get("/milestones", wanted | _searched(search))


def _searched(search: str) -> dict[str, str]:
    return {"search": search} if search else {}


_LISTS = {"assignees": _people, "reviewers": _people, "labels": _labels, "milestone": _milestones}


def _choice(subject: Subject, one: Any) -> Choice:
    match subject.fact:
        case "labels":
            return Choice(one.name, one.name, label=one)
        case "milestone":
            return Choice(str(one.id), one.title, f"due {one.due_date}" if one.due_date else "")
    return Choice(str(one.id), one.name, f"@{one.username}")


def _chosen(subject: Subject) -> list[Choice]:
    match subject.fact:
        case "labels":
            found: list[Any] = list(subject.labels)
        case "milestone":
            found = [subject.item.milestone] if subject.item.milestone else []
        case _:
            found = getattr(subject.item, subject.fact)
    return [_choice(subject, one) for one in found]
