"""Who speaks git with us, and what their credential reaches."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from ingot.access.actor import NOBODY, Actor
from ingot.access.credentials import Credentials
from ingot.access.levels import Access, Level
from ingot.access.scopes import within_scope
from ingot.db.connection import Connection
from ingot.deploy_keys.queries import link_or_none
from ingot.deploy_tokens.queries import deploy_token_holder
from ingot.deploy_tokens.tables import DeployToken
from ingot.errors import NotFound, Unauthenticated
from ingot.groups.namespaces.queries import ancestors_of
from ingot.projects.queries import find_project
from ingot.projects.tables import Project
from ingot.users.accounts.queries import user_or_none
from ingot.users.authentication import authenticate
from ingot.users.keys.queries import key_by_fingerprint
from ingot.users.keys.tables import SshKey

READING = frozenset({"api", "read_repository", "write_repository"})
WRITING = frozenset({"api", "write_repository"})
_ANYBODY = Actor(admin=True)
"""Finds what is there; only for credentials that belong to projects and not to people."""

Find = Callable[[Connection, str], tuple[Access, Project]]


class Caller(msgspec.Struct, frozen=True):
    """Somebody who proved who they are, or nobody."""

    actor: Actor
    find: Find
    """The project at a path or with a number, as the caller sees it; raises ``NotFound``."""
    reads: bool = True
    writes: bool = True
    """What the credential reaches, whatever its holder may do."""
    key: SshKey | None = None
    """What they proved it by, where that was a key."""

    @property
    def deploys(self) -> bool:
        """Whether a key opens projects by itself, and stands for nobody."""
        return self.key is not None and self.key.user_id is None

    @property
    def name(self) -> str:
        """What the log calls them."""
        return f"deploy key {self.key.id}" if self.key is not None and self.deploys else self.actor.username


Prove = Callable[[Connection], Caller]
"""Proves the caller anew: what was revoked meanwhile counts no more."""


def nobody(_db: Connection) -> Caller:
    """A caller without any credential."""
    return Caller(NOBODY, lambda db, name: find_project(db, NOBODY, name))


def by_secret(db: Connection, username: str, secret: str) -> Caller:
    """Whoever holds a token, whatever name they give with it, or a deploy token under its own name."""
    deploy_token = deploy_token_holder(db, username, secret)
    if deploy_token is not None:
        return _by_deploy_token(deploy_token)
    actor = authenticate(db, Credentials(token=secret))
    reads, writes = within_scope(actor, READING), within_scope(actor, WRITING)
    return Caller(actor, lambda db, name: find_project(db, actor, name), reads, writes)


def by_user(db: Connection, user_id: int) -> Caller:
    """A user who proved who they are by a password or a key, and still may come in."""
    user = user_or_none(db, str(user_id))
    if user is None or user.state != "active" or user.placeholder or user.confirmed_at is None:
        raise Unauthenticated
    actor = Actor(
        user_id=user.id, username=user.username, name=user.name, admin=user.admin, external=user.external, via="session"
    )
    return Caller(actor, lambda db, name: find_project(db, actor, name))


def by_key(db: Connection, fingerprint: str) -> Caller:
    """Whoever proved to hold a key, as long as that still opens something."""
    key = key_by_fingerprint(db, fingerprint)
    if key is None or not key.active(db.now):
        raise Unauthenticated
    return _by_deploy_key(key) if key.user_id is None else replace(by_user(db, key.user_id), key=key)


def author_of(db: Connection, caller: Caller, project: Project) -> Actor:
    """In whose name it is recorded what a caller does: for a deploy key, whoever let it into the project."""
    link = link_or_none(db, caller.key.id, project.id) if caller.key is not None and caller.deploys else None
    return caller.actor if link is None else Actor(user_id=link.creator_id or 0)


def _by_deploy_key(key: SshKey) -> Caller:
    def find(db: Connection, name: str) -> tuple[Access, Project]:
        _, project = find_project(db, _ANYBODY, name)
        link = link_or_none(db, key.id, project.id)
        if link is None:
            # What is open to everybody is open to machines too.
            return find_project(db, NOBODY, name)
        return Access(level=Level.MASTER if link.can_push else Level.REPORTER), project

    return Caller(NOBODY, find, key=key)


def _by_deploy_token(token: DeployToken) -> Caller:
    def find(db: Connection, name: str) -> tuple[Access, Project]:
        _, project = find_project(db, _ANYBODY, name)
        if token.project_id != project.id and token.group_id not in ancestors_of(db, project.namespace_id):
            raise NotFound("Project")
        return Access(level=Level.REPORTER), project

    scopes = frozenset(token.scopes.split())
    return Caller(NOBODY, find, reads=bool(scopes & READING), writes=False)
