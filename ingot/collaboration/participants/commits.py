"""Commits as something in which people are named; no row stands for them."""

from collections.abc import Collection
from hashlib import sha256
from typing import Literal

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.projects.sharing.queries import users_with_access

COMMIT: Literal["commit"] = "commit"


def commit_subject_with_id(project_id: int, oid: str) -> Subject:
    """A commit of a project by the number that is made for it; the same one of a fork has another."""
    number = int.from_bytes(sha256(f"{project_id} {oid}".encode()).digest()[:7])
    return Subject(COMMIT, project_id, number, commit_oid=oid)


def readers_of_code(db: Connection, project: Project, user_ids: Collection[int]) -> list[int]:
    """Which of these users can act and may read the code of a project."""
    held = users_with_access(db, project, user_ids)
    users = users_by_ids(db, list(held)) if held else {}
    return [
        user.id
        for user in users.values()
        if may_download_code(
            Actor(user.id, user.username, user.name, admin=user.admin, external=user.external),
            Access(level=held[user.id]),
            project,
        )
    ]


def readers_of_commit(db: Connection, subject: Subject, user_ids: Collection[int], internal: bool) -> list[int]:  # noqa: ARG001 - As every kind of subject is asked.
    """The same for a commit: who reads the code reads what is said about it."""
    project = project_or_none(db, subject.project_id or 0)
    return readers_of_code(db, project, user_ids) if project is not None else []
