"""Owners of wikis: projects and groups, and the rows with the repositories of their wikis."""

from typing import Literal

from sqlalchemy import bindparam, select, text

from ingot.core.db.connection import Connection
from ingot.git.core.names import ref_name_error
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import storage_of
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project, group_wikis, project_wikis
from ingot.repositories.ref_changes.moves import require_no_move

WikiOwner = Project | Namespace
OwnerKind = Literal["project", "group"]
_DEFAULT_BRANCH = "main"
_KEYS = {
    "project": select(project_wikis.c.repository_key).where(project_wikis.c.project_id == bindparam("owner")),
    "group": select(group_wikis.c.repository_key).where(group_wikis.c.group_id == bindparam("owner")),
}
_INSERTS = {
    "project": text(
        "INSERT INTO project_wikis (project_id, repository_key) VALUES (:owner, :key)"
        " ON CONFLICT (project_id) DO NOTHING"
    ),
    "group": text(
        "INSERT INTO group_wikis (group_id, repository_key) VALUES (:owner, :key) ON CONFLICT (group_id) DO NOTHING"
    ),
}


def owner_kind(owner: WikiOwner) -> OwnerKind:
    """Return whether a wiki belongs to a project or to a group."""
    return "project" if isinstance(owner, Project) else "group"


def wiki_key_or_none(db: Connection, owner: WikiOwner) -> str | None:
    """Return the key of a wiki's repository, or None if the wiki has not been used yet.

    All pages of a project need it, so that it is cached.
    """
    kind = owner_kind(owner)
    key: str | None = db.cached(
        ("wiki", kind, owner.id), lambda: db.value(_KEYS[kind], owner=owner.id) or "", lambda _: 200
    )
    return key or None


def add_wiki(db: Connection, owner: WikiOwner, key: str) -> str | None:
    """Store the key of a new wiki; return the key that applies, or None if the owner was deleted."""
    kind = owner_kind(owner)
    db.run(_INSERTS[kind], owner=owner.id, key=key)
    return wiki_key_or_none(db, owner)


def storage_of_owner(owner: WikiOwner) -> str | None:
    """Return the storage for the wiki of a project, whose moves it follows; None for that of a group."""
    return storage_of(owner.repository_key) if isinstance(owner, Project) else None


def first_branch(owner: WikiOwner) -> str:
    """Return the name of the branch of a new wiki."""
    branch = owner.default_branch if isinstance(owner, Project) else owner.options.default_branch
    return branch if branch and ref_name_error(branch) is None else _DEFAULT_BRANCH


def require_no_move_of_owner(db: Connection, repository: Repository, owner: WikiOwner) -> None:
    """Raise RepositoryMoved if the wiki is being moved to another storage with its project."""
    if isinstance(owner, Project):
        require_no_move(db, repository, owner.id)
