"""What people label, discuss, follow and reward, as rooms see it that serve every kind of it alike."""

from typing import Literal

import msgspec

Kind = Literal["issue", "merge_request", "snippet", "commit"]


class Subject(msgspec.Struct, frozen=True):
    """A row by its kind and number, or a commit by its id, which no row stands for."""

    kind: Kind
    project_id: int | None
    id: int | None = None
    iid: int | None = None
    commit_oid: str | None = None
    author_id: int | None = None
    title: str = ""
    confidential: bool = False
    """Whether only some of those who see the project may know of it."""
