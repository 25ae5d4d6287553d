"""Subjects: the records of any kind that labels, notes, subscriptions, todos and award emoji refer to."""

from typing import Literal, NamedTuple

import msgspec

SubjectType = Literal["issue", "merge_request", "snippet", "commit", "note"]


class Subject(msgspec.Struct, frozen=True):
    """A row identified by kind and id, or a commit identified by its object id because commits have no row."""

    kind: SubjectType
    project_id: int | None
    id: int | None = None
    iid: int | None = None
    commit_oid: str | None = None
    author_id: int | None = None
    title: str = ""
    confidential: bool = False
    """Whether the subject is hidden from some users who can see its project."""
    state: str = "opened"
    """``opened`` or ``closed``; subjects that cannot be closed stay ``opened``."""


def subject_topic(kind: str, subject_id: int | None) -> str:
    """Return the topic that is announced when a subject or its discussions change."""
    return f"{kind}:{subject_id}"


class SubjectAccess(NamedTuple):
    """A subject found for a caller, with the permissions of that caller on it."""

    subject: Subject
    may_participate: bool
    """Whether the caller may write notes and award emoji, and remove their own."""
    may_moderate: bool = False
    """Whether the caller may edit and delete notes of other users."""
    may_set_times: bool = False
    """Whether the caller may set the creation time of a note."""
    may_see_internal: bool = False
    """Whether the caller may read internal notes."""
    may_write_internal: bool = False
    """Whether the caller may write internal notes."""
    may_resolve: bool = False
    """Whether the caller may resolve discussions, where that is possible."""
