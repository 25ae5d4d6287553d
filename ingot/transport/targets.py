"""Targets of git requests: the repository of a project or of a wiki, and the permission to use it."""

from typing import NamedTuple

import msgspec

from ingot.accounts.instance.access_settings import TERMS_NOT_ACCEPTED
from ingot.core.access.levels import Access
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.feature_access import may_use_feature
from ingot.projects.projects.tables import Project
from ingot.repositories.wikis.edit import ensure_wiki
from ingot.repositories.wikis.owners import WikiOwner, owner_kind
from ingot.repositories.wikis.policy import WikiContext, may_download_wiki, may_read_wiki, may_write_wiki
from ingot.transport.callers import GitCaller
from ingot.transport.policy import Service, service_refusal

_WIKI_SUFFIX = ".wiki"


class GitTarget(NamedTuple):
    """Repository of a project, or of the wiki of a project or group."""

    owner: WikiOwner
    wiki: bool = False

    @property
    def project(self) -> Project | None:
        """Return the project; None for the wiki of a group."""
        return self.owner if isinstance(self.owner, Project) else None

    @property
    def namespace_id(self) -> int:
        """Return the namespace of the project, or the group."""
        return self.owner.namespace_id if isinstance(self.owner, Project) else self.owner.id


def is_wiki_path(path: str) -> bool:
    """Return whether a path without ``.git`` is that of a wiki."""
    return path.lower().endswith(_WIKI_SUFFIX)


def find_target(db: Connection, caller: GitCaller, path: str) -> tuple[Access, GitTarget]:
    """Return the target at a path as the caller sees it; raise ``NotFound``. No project's path ends like a wiki's."""
    wiki = is_wiki_path(path)
    owner_path = path[: -len(_WIKI_SUFFIX)] if wiki else path
    if "/" in owner_path:  # Otherwise it would be taken for the id of a project.
        try:
            access, project = caller.find(db, owner_path)
            return access, GitTarget(_as_seen(caller, access, project), wiki)
        except NotFound:
            if not wiki:
                raise
    if not wiki or owner_path.isdigit():
        raise NotFound("Project")
    access, group = caller.find_group(db, owner_path)
    return access, GitTarget(group, wiki)


def find_owner_again(db: Connection, caller: GitCaller, target: GitTarget) -> tuple[Access, GitTarget]:
    """Return a target as the caller sees it now; raise ``NotFound``."""
    find = caller.find if target.project is not None else caller.find_group
    access, owner = find(db, str(target.owner.id))
    return access, target._replace(owner=_as_seen(caller, access, owner) if isinstance(owner, Project) else owner)


def _as_seen(caller: GitCaller, access: Access, project: Project) -> Project:
    """Return a project with merge requests disabled if the caller may not read them, so that git hides their refs."""
    if not project.merge_requests_enabled or may_use_feature(caller.actor, access, project, "merge_requests"):
        return project
    return msgspec.structs.replace(project, merge_requests_enabled=False)


def target_refusal(caller: GitCaller, access: Access, target: GitTarget, service: Service) -> str | None:
    """Return a message if the caller may not use a service on a target."""
    if target.project is not None and not target.wiki:
        return service_refusal(caller, access, target.project, service)
    if caller.terms_due:
        return TERMS_NOT_ACCEPTED
    kind, wiki = owner_kind(target.owner), WikiContext(access, target.owner, None)
    if isinstance(target.owner, Project) and not target.owner.wiki_enabled:
        return "This project has no wiki."
    if target.project is None and not may_read_wiki(caller.actor, access, wiki):
        return "This group has no wiki, or you are not allowed to read it."
    if service == "git-receive-pack":
        return _wiki_push_refusal(caller, wiki)
    if not caller.can_read:
        return "This token cannot read repositories: it lacks the scope read_repository or api."
    if not may_download_wiki(caller.actor, access, wiki):
        return f"You are not allowed to download the wiki of this {kind}."
    return None


def _wiki_push_refusal(caller: GitCaller, wiki: WikiContext) -> str | None:
    if not caller.can_write:
        return "This token cannot push: it lacks the scope write_repository or api."
    if caller.actor.job is not None:
        return "Job tokens cannot push to wikis."
    if caller.is_deploy_key:
        return "Deploy keys cannot push to wikis."
    if isinstance(wiki.owner, Project) and wiki.owner.archived:
        return "The project is archived, so it cannot be changed."
    if not may_write_wiki(caller.actor, wiki.access, wiki):
        return f"You are not allowed to push to the wiki of this {owner_kind(wiki.owner)}."
    return None


def open_target_repository(database: Database, store: RepositoryStore, target: GitTarget) -> Repository:
    """Open the repository; that of a wiki is created at its first use, which writes to the database."""
    if target.wiki or target.project is None:
        return ensure_wiki(database, store, target.owner)
    return store.open(target.project.repository_key)
