"""Commits as subjects in which users are mentioned; they have no row."""

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
    """Return a commit of a project as a subject with an id derived from project and object id.

    The same commit in a fork has a different id.
    """
    subject_id = int.from_bytes(sha256(f"{project_id} {oid}".encode()).digest()[:7])
    return Subject(COMMIT, project_id, subject_id, commit_oid=oid)


def readers_of_code(db: Connection, project: Project, user_ids: Collection[int]) -> list[int]:
    """List those of the given users who are active and can read the code of a project."""
    levels = users_with_access(db, project, user_ids)
    users = users_by_ids(db, list(levels)) if levels else {}
    return [
        user.id
        for user in users.values()
        if may_download_code(
            Actor(user.id, user.username, user.name, admin=user.admin, external=user.external),
            Access(level=levels[user.id]),
            project,
        )
    ]


def readers_of_commit(db: Connection, subject: Subject, user_ids: Collection[int], internal: bool) -> list[int]:  # noqa: ARG001 - The signature of ``Readers``.
    """List those of the given users who can read the code, and therefore the notes on a commit."""
    project = project_or_none(db, subject.project_id or 0)
    return readers_of_code(db, project, user_ids) if project is not None else []
