"""What people label, discuss, follow and reward, as rooms see it that serve every kind of it alike."""

from typing import Literal, NamedTuple

import msgspec

SubjectType = Literal["issue", "merge_request", "snippet", "commit", "note"]


class Subject(msgspec.Struct, frozen=True):
    """A row by its kind and number, or a commit by its id, which no row stands for."""

    kind: SubjectType
    project_id: int | None
    id: int | None = None
    iid: int | None = None
    commit_oid: str | None = None
    author_id: int | None = None
    title: str = ""
    confidential: bool = False
    """Whether only some of those who see the project may know of it."""
    state: str = "opened"
    """Whether it still is to be done; those that have no end stay open."""


class SubjectAccess(NamedTuple):
    """A subject that a caller has found, and what the room that it belongs to lets them do there."""

    subject: Subject
    may_participate: bool
    """Whether they may say something about it, and take it back."""
    may_moderate: bool = False
    """Whether they may change what others said."""
    may_set_times: bool = False
    """Whether they may say when something was said."""
    may_see_internal: bool = False
    """Whether they read what is kept among those who work on it."""
    may_write_internal: bool = False
    """Whether they may keep something so."""
