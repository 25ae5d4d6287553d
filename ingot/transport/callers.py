"""Who speaks git with us, and what their credential reaches."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from ingot.accounts.authentication import authenticate
from ingot.accounts.keys.queries import key_by_fingerprint_or_none
from ingot.accounts.keys.tables import SshKey
from ingot.accounts.users.queries import user_or_none
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.credentials import Credentials
from ingot.core.access.levels import Access, Level
from ingot.core.access.scopes import has_any_scope
from ingot.core.db.connection import Connection
from ingot.errors import NotFound, Unauthenticated
from ingot.projects.deploy_keys.queries import deploy_key_project_or_none
from ingot.projects.deploy_tokens.queries import deploy_token_by_credentials
from ingot.projects.deploy_tokens.tables import DeployToken
from ingot.projects.namespaces.queries import ancestor_ids
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

READ_SCOPES = frozenset({"api", "read_repository", "write_repository"})
WRITE_SCOPES = frozenset({"api", "write_repository"})
_UNRESTRICTED_ACTOR = Actor(admin=True)
"""Finds what is there; only for credentials that belong to projects and not to people."""

FindProject = Callable[[Connection, str], tuple[Access, Project]]


class GitCaller(msgspec.Struct, frozen=True):
    """Somebody who proved who they are, or nobody."""

    actor: Actor
    find: FindProject
    """The project at a path or with a number, as the caller sees it; raises ``NotFound``."""
    may_read: bool = True
    writes: bool = True
    """What the credential reaches, whatever its holder may do."""
    key: SshKey | None = None
    """What they proved it by, where that was a key."""

    @property
    def is_deploy_key(self) -> bool:
        """Whether a key opens projects by itself, and stands for nobody."""
        return self.key is not None and self.key.user_id is None

    @property
    def name(self) -> str:
        """What the log calls them."""
        return f"deploy key {self.key.id}" if self.key is not None and self.is_deploy_key else self.actor.username


Authenticate = Callable[[Connection], GitCaller]
"""Proves the caller anew: what was revoked meanwhile counts no more."""


def anonymous_caller(_db: Connection) -> GitCaller:
    """A caller without any credential."""
    return GitCaller(ANONYMOUS, lambda db, name: find_project(db, ANONYMOUS, name))


def caller_by_secret(db: Connection, username: str, secret: str) -> GitCaller:
    """Whoever holds a token, whatever name they give with it, or a deploy token under its own name."""
    deploy_token = deploy_token_by_credentials(db, username, secret)
    if deploy_token is not None:
        return _caller_by_deploy_token(deploy_token)
    actor = authenticate(db, Credentials(token=secret))
    reads, writes = has_any_scope(actor, READ_SCOPES), has_any_scope(actor, WRITE_SCOPES)
    return GitCaller(actor, lambda db, name: find_project(db, actor, name), reads, writes)


def caller_by_user(db: Connection, user_id: int) -> GitCaller:
    """A user who proved who they are by a password or a key, and still may come in."""
    user = user_or_none(db, str(user_id))
    if user is None or user.state != "active" or user.placeholder or user.confirmed_at is None:
        raise Unauthenticated
    actor = Actor(
        user_id=user.id, username=user.username, name=user.name, admin=user.admin, external=user.external, via="session"
    )
    return GitCaller(actor, lambda db, name: find_project(db, actor, name))


def caller_by_key(db: Connection, fingerprint: str) -> GitCaller:
    """Whoever proved to hold a key, as long as that still opens something."""
    key = key_by_fingerprint_or_none(db, fingerprint)
    if key is None or not key.active(db.now):
        raise Unauthenticated
    return _caller_by_deploy_key(key) if key.user_id is None else replace(caller_by_user(db, key.user_id), key=key)


def recorded_author(db: Connection, caller: GitCaller, project: Project) -> Actor:
    """In whose name it is recorded what a caller does: for a deploy key, whoever let it into the project."""
    link = (
        deploy_key_project_or_none(db, caller.key.id, project.id)
        if caller.key is not None and caller.is_deploy_key
        else None
    )
    return caller.actor if link is None else Actor(user_id=link.creator_id or 0)


def _caller_by_deploy_key(key: SshKey) -> GitCaller:
    def find(db: Connection, name: str) -> tuple[Access, Project]:
        _, project = find_project(db, _UNRESTRICTED_ACTOR, name)
        link = deploy_key_project_or_none(db, key.id, project.id)
        if link is None:
            # What is open to everybody is open to machines too.
            return find_project(db, ANONYMOUS, name)
        return Access(level=Level.MASTER if link.can_push else Level.REPORTER), project

    return GitCaller(ANONYMOUS, find, key=key)


def _caller_by_deploy_token(token: DeployToken) -> GitCaller:
    def find(db: Connection, name: str) -> tuple[Access, Project]:
        _, project = find_project(db, _UNRESTRICTED_ACTOR, name)
        if token.project_id != project.id and token.group_id not in ancestor_ids(db, project.namespace_id):
            raise NotFound("Project")
        return Access(level=Level.REPORTER), project

    scopes = frozenset(token.scopes.split())
    return GitCaller(ANONYMOUS, find, may_read=bool(scopes & READ_SCOPES), writes=False)
