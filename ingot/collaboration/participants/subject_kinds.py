"""The kinds of subjects, as rooms know them that serve every kind alike; each room that keeps one describes it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement

from ingot.collaboration.subjects import Subject, SubjectType
from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection

Readers = Callable[[Connection, Subject, Collection[int], bool], Collection[int]]
"""Which of these users may see one; where the last is true, also what is said there among those who work on it."""
Audience = Literal["nobody", "user", "external", "administrator"]
"""Who asks, as far as a statement's shape depends on it."""


def audience_of(actor: Actor) -> Audience:
    """The audience that a caller belongs to."""
    if not actor.known:
        return "nobody"
    if actor.admin:
        return "administrator"
    return "external" if actor.external else "user"


@dataclass(frozen=True, eq=False, slots=True)
class SubjectKind:
    """What a room tells of the kind of subject that it keeps."""

    kind: SubjectType
    shown: str
    """What clients know it as, such as ``Issue``."""
    path: str
    """What stands before its number in the address of a page."""
    sign: str
    """What stands before its number in a text."""
    noun: str
    visible: Callable[[ColumnElement[int], Audience], ColumnElement[bool]]
    """Whether the one with this number is there and may be seen; ``actor`` and ``today`` are bound for users."""
    subjects: Callable[[Connection, Sequence[int]], Mapping[int, Subject]]
    """Those with these numbers, whoever asks; what is gone is missing. One statement for all."""
    views: Callable[[Connection, Actor, Sequence[int], str], Mapping[int, View]]
    """The same as callers see them, who may; as many statements for many as for one."""
    readers: Readers
    assignees: Callable[[Connection, Subject], Sequence[int]]
    """Who has it to do."""
    text: Callable[[Connection, Subject], str]
    """What its author wrote."""
