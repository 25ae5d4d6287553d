"""Descriptions of subject kinds, registered by the packages that own them and used by code that serves all kinds."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement

from ingot.collaboration.subjects import Subject, SubjectType
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection

Readers = Callable[[Connection, Subject, Collection[int], bool], Collection[int]]
"""Filters users by whether they can see the subject; if the last argument is true, also its internal notes."""
Audience = Literal["nobody", "user", "external", "administrator"]
"""The class of the caller, as far as the shape of a statement depends on it."""


def audience_of(actor: Actor) -> Audience:
    """Return the audience that a caller belongs to."""
    if not actor.known:
        return "nobody"
    if actor.admin:
        return "administrator"
    return "external" if actor.external else "user"


@dataclass(frozen=True, eq=False, slots=True)
class SubjectKind:
    """The description of a kind of subject."""

    kind: SubjectType
    type_name: str
    """Its name in API responses, such as ``Issue``."""
    path: str
    """The path segment before its iid in the URL of a page."""
    sign: str
    """The reference symbol before its iid in a text, such as ``#``."""
    noun: str
    visible: Callable[[ColumnElement[int], Audience], ColumnElement[bool]]
    """Returns the condition that the row exists and is visible; ``actor`` and ``today`` are bound for users."""
    subjects: Callable[[Connection, Sequence[int]], Mapping[int, Subject]]
    """Maps ids to subjects without a permission check, with one statement; deleted ones are missing."""
    views: Callable[[Connection, Actor, Sequence[int], str], Mapping[int, View]]
    """Maps ids to API views, with a fixed number of statements; the caller has checked the permission."""
    readers: Readers
    assignees: Callable[[Connection, Subject], Sequence[int]]
    """Returns the ids of the assignees."""
    text: Callable[[Connection, Subject], str]
    """Returns the title and description."""
