"""Callers of git services, and the projects that their credentials give access to."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from ingot.accounts.authentication import authenticate
from ingot.accounts.instance.access_settings import access_settings
from ingot.accounts.keys.queries import key_by_fingerprint_or_none
from ingot.accounts.keys.restrictions import key_restriction_error
from ingot.accounts.keys.tables import SshKey
from ingot.accounts.sessions.password_check import require_password_use
from ingot.accounts.users.confirmations import has_access_without_confirmation
from ingot.accounts.users.queries import user_or_none
from ingot.ci.job_tokens.authentication import actor_by_job_token
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.credentials import Credentials
from ingot.core.access.levels import Access, Level
from ingot.core.access.scopes import has_any_scope
from ingot.core.api.granular_permissions import BOUNDARIES, PUSH_REPOSITORY, READ_REPOSITORY
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound, Unauthenticated
from ingot.core.http.transfer_slots import TransferCaller, caller_of
from ingot.projects.deploy_keys.queries import deploy_key_project_or_none
from ingot.projects.deploy_keys.tables import DeployKeyProject
from ingot.projects.deploy_tokens.queries import deploy_token_by_credentials
from ingot.projects.deploy_tokens.tables import DeployToken
from ingot.projects.groups.queries import find_group
from ingot.projects.namespaces.ip_restrictions import actor_at, is_closed
from ingot.projects.namespaces.queries import ancestor_ids
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

READ_SCOPES = frozenset({"api", "read_repository", "write_repository"})
WRITE_SCOPES = frozenset({"api", "write_repository"})
_ANY_PROJECT = Actor(admin=True)
"""Finds every project; only for credentials that belong to projects and not to users."""
READ_ONLY_DEPLOY_KEY = "This deploy key does not have write access to this project."
_DEPLOY_KEY_WITHOUT_CREATOR = (
    "This deploy key can no longer push: the user who added it to the project is blocked or lacks the role Developer. "
    "A maintainer can remove the key and add it again."
)

FindProject = Callable[[Connection, str], tuple[Access, Project]]
FindGroup = Callable[[Connection, str], tuple[Access, Namespace]]


def _no_group(_db: Connection, _name: str) -> tuple[Access, Namespace]:
    """Raise ``NotFound``, for credentials that belong to projects."""
    raise NotFound("Group")


class DeployKeyAccess(Access, frozen=True):
    """Access of a deploy key to a project; the level is that of a reporter if it may not push."""

    push_refusal: str | None = None
    """Message if the key may not push."""


class GitCaller(msgspec.Struct, frozen=True):
    """Authenticated or anonymous caller."""

    actor: Actor
    find: FindProject
    """Returns the project with a path or id as the caller sees it; raises ``NotFound``."""
    find_group: FindGroup = _no_group
    """Returns the group with a path or id as the caller sees it; raises ``NotFound``."""
    can_read: bool = True
    can_write: bool = True
    """The scope of the credential, whatever its owner may do."""
    key: SshKey | None = None
    """The key that authenticated the caller, if it was a key."""
    deploy_token_id: int | None = None
    terms_due: bool = False
    """Whether the user must accept the terms of service first."""

    @property
    def is_deploy_key(self) -> bool:
        """Whether the caller is a deploy key, which belongs to no user."""
        return self.key is not None and self.key.user_id is None

    @property
    def deploy_key_id(self) -> int | None:
        """Id of the key if the caller is a deploy key."""
        return self.key.id if self.key is not None and self.is_deploy_key else None

    @property
    def name(self) -> str:
        """Name of the caller for the log."""
        return self.actor.username if self.deploy_key_id is None else f"deploy key {self.deploy_key_id}"

    def in_transfers(self, ip: str) -> TransferCaller:
        """Return what the transfers of the caller count for."""
        caller = caller_of(self.actor, ip)
        if self.deploy_key_id is not None:
            return caller._replace(name=self.name)
        return caller if self.deploy_token_id is None else caller._replace(name=f"deploy token {self.deploy_token_id}")


Authenticate = Callable[[Connection], GitCaller]
"""Authenticates the caller again, so that a credential that was revoked meanwhile is refused."""


def anonymous(_db: Connection) -> GitCaller:
    """Return a caller without a credential."""
    return _caller(ANONYMOUS)


def caller_at(db: Connection, *, authenticate: Authenticate, address: str) -> GitCaller:
    """Return an authenticated caller who does not find what groups close to the address."""
    caller = authenticate(db)
    actor = actor_at(db, caller.actor, address)
    if not actor.closed_groups:
        return caller

    def find(db: Connection, name: str) -> tuple[Access, Project]:
        access, project = caller.find(db, name)
        if is_closed(actor, project.full_path):
            raise NotFound("Project")
        return access, project

    def find_open_group(db: Connection, name: str) -> tuple[Access, Namespace]:
        access, group = caller.find_group(db, name)
        if is_closed(actor, group.full_path):
            raise NotFound("Group")
        return access, group

    return replace(caller, actor=actor, find=find, find_group=find_open_group)


def _caller(actor: Actor, *, can_read: bool = True, can_write: bool = True) -> GitCaller:
    """Return a caller who finds all that the actor may see."""
    return GitCaller(
        actor,
        lambda db, name: find_project(db, actor, name),
        lambda db, name: find_group(db, actor, name),
        can_read,
        can_write,
    )


def caller_by_token(db: Connection, username: str, secret: str) -> GitCaller:
    """Return the owner of an access token, with any username, or of a deploy token, with its own username."""
    deploy_token = deploy_token_by_credentials(db, username, secret)
    if deploy_token is not None:
        return _caller_by_deploy_token(deploy_token)
    actor = authenticate(db, Credentials(token=secret))
    if actor.restrictions.granular_scopes is not None:
        return _caller_with_permissions(actor)
    return _caller(actor, can_read=has_any_scope(actor, READ_SCOPES), can_write=has_any_scope(actor, WRITE_SCOPES))


def _caller_with_permissions(actor: Actor) -> GitCaller:
    """Return the owner of a token with fine-grained permissions, who finds only the projects that it may read.

    It pushes if the permission to push accompanies that to read everywhere, because each push reads first.
    """
    reads = actor.restrictions.scopes_with(READ_REPOSITORY, BOUNDARIES["project"])
    can_push = bool(reads) and all(PUSH_REPOSITORY in scope.permissions for scope in reads)
    return _caller(replace(actor, boundary=reads), can_read=bool(reads), can_write=can_push)


def caller_by_job_token(db: Connection, token: str) -> GitCaller:
    """Return the user of a running CI job; raise ``Unauthenticated`` if no such job runs."""
    actor = actor_by_job_token(db, token)
    return GitCaller(actor, lambda db, name: find_project(db, actor, name))


def caller_by_password(db: Connection, user_id: int) -> GitCaller:
    """Return a user whose password was checked earlier; raise ``Unauthenticated`` if it does not suffice any more."""
    require_password_use(db, user_id, "git")
    return caller_by_user(db, user_id)


def caller_by_user(db: Connection, user_id: int) -> GitCaller:
    """Return a user who was authenticated by a password or a key; raise ``Unauthenticated`` if not active any more."""
    user = user_or_none(db, str(user_id))
    if user is None or user.state != "active" or user.placeholder or not has_access_without_confirmation(db, user):
        raise Unauthenticated
    actor = Actor(
        user_id=user.id,
        username=user.username,
        name=user.name,
        admin=user.admin,
        external=user.external,
        via="session",
        bot=user.bot,
    )
    terms_due = not user.bot and access_settings(db).requires_acceptance(user.terms_accepted_at)
    return replace(_caller(actor), terms_due=terms_due)


def caller_by_key(db: Connection, fingerprint: str) -> GitCaller:
    """Return the user or deploy key with a fingerprint; raise ``Unauthenticated`` if it is not valid any more."""
    key = key_by_fingerprint_or_none(db, fingerprint)
    if key is None or not key.active(db.now) or key_restriction_error(db, key.kind, key.bits) is not None:
        raise Unauthenticated
    return _caller_by_deploy_key(key) if key.user_id is None else replace(caller_by_user(db, key.user_id), key=key)


def recorded_author(db: Connection, caller: GitCaller, project: Project) -> Actor:
    """Return the user to record as author: for a deploy key, the user who enabled it for the project."""
    key_id = caller.deploy_key_id
    link = None if key_id is None else deploy_key_project_or_none(db, key_id, project.id)
    return caller.actor if link is None else Actor(user_id=link.creator_id or 0)


def _caller_by_deploy_key(key: SshKey) -> GitCaller:
    def find(db: Connection, name: str) -> tuple[Access, Project]:
        _, project = find_project(db, _ANY_PROJECT, name)
        link = deploy_key_project_or_none(db, key.id, project.id)
        if link is None:
            # A deploy key may read public projects, as an anonymous caller may.
            return find_project(db, ANONYMOUS, name)
        return _deploy_key_access(db, link, project), project

    return GitCaller(ANONYMOUS, find, key=key)


def _deploy_key_access(db: Connection, link: DeployKeyProject, project: Project) -> DeployKeyAccess:
    """Return the access of a key: pushes need a creator who is active and may push, and never exceed that user's level.

    Otherwise a key would keep the access of a user who was blocked or removed.
    """
    if not link.can_push:
        return DeployKeyAccess(level=Level.REPORTER, push_refusal=READ_ONLY_DEPLOY_KEY)
    level = _creator_level(db, link, project)
    if level < Level.DEVELOPER:
        return DeployKeyAccess(level=Level.REPORTER, push_refusal=_DEPLOY_KEY_WITHOUT_CREATOR)
    return DeployKeyAccess(level=min(level, Level.MASTER))


def _creator_level(db: Connection, link: DeployKeyProject, project: Project) -> Level:
    try:
        creator = caller_by_user(db, link.creator_id or 0)
        access, _ = creator.find(db, str(project.id))
    except (Unauthenticated, NotFound):  # Blocked or deleted, or without access to a private project.
        return Level.NONE
    return Level.MASTER if creator.actor.admin else access.level


def _caller_by_deploy_token(token: DeployToken) -> GitCaller:
    def find(db: Connection, name: str) -> tuple[Access, Project]:
        _, project = find_project(db, _ANY_PROJECT, name)
        if token.project_id != project.id and token.group_id not in ancestor_ids(db, project.namespace_id):
            raise NotFound("Project")
        return Access(level=Level.REPORTER), project

    def find_group_of_token(db: Connection, name: str) -> tuple[Access, Namespace]:
        _, group = find_group(db, _ANY_PROJECT, name)
        if token.group_id not in ancestor_ids(db, group.id):
            raise NotFound("Group")
        return Access(level=Level.REPORTER), group

    scopes = frozenset(token.scopes.split())
    return GitCaller(
        ANONYMOUS,
        find,
        find_group_of_token,
        can_read=bool(scopes & READ_SCOPES),
        can_write=False,
        deploy_token_id=token.id,
    )
