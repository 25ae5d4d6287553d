"""Endpoints of project and group access tokens."""

from typing import NamedTuple

from ingot.accounts.tokens.params import RotateToken
from ingot.accounts.tokens.queries import list_audit_events
from ingot.accounts.tokens.reuse import revoke_family_of_reused_token
from ingot.accounts.tokens.service import ROTATION
from ingot.accounts.tokens.tables import AccessToken
from ingot.accounts.tokens.views import TokenAuditEventView, audit_event_views
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.rules import require, signed_in
from ingot.core.access.scopes import ANY_SCOPE, SELF_ROTATE_SCOPES
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.core.names import NAMESPACES
from ingot.projects.access_tokens import policy, queries, service
from ingot.projects.access_tokens.params import CreateResourceToken, ListResourceTokens
from ingot.projects.access_tokens.views import ResourceTokenView, resource_token_view, resource_token_views
from ingot.projects.groups.api import group_in_path
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.parents import ProjectOrGroup, member_source

routes = Routes("access_tokens")


class TokenParent(NamedTuple):
    """A project or group with the caller's access to it."""

    access: Access
    owner: ProjectOrGroup


class ResourceToken(NamedTuple):
    """A token with its project or group and the caller's access to it."""

    access: Access
    owner: ProjectOrGroup
    token: AccessToken


def _project(call: Call) -> tuple[Access, TokenParent]:
    access, project = project_in_path(call)
    return access, TokenParent(access, project)


def _group(call: Call) -> tuple[Access, TokenParent]:
    access, group = group_in_path(call)
    return access, TokenParent(access, group)


def _token_in(call: Call, parent: TokenParent) -> ResourceToken:
    """Return the token in the path, even a revoked one; raise Denied before the lookup, so that ids reveal nothing."""
    require(policy.may_read_access_tokens(call.actor, parent.access, parent.owner))
    token_id = path_number(call.path, "token_id")
    token = queries.resource_token_or_none(call.db, member_source(parent.owner), token_id)
    if token is None:
        raise NotFound("Access Token")
    return ResourceToken(parent.access, parent.owner, token)


def _token_of_project(call: Call) -> tuple[Access, ResourceToken]:
    access, parent = _project(call)
    return access, _token_in(call, parent)


def _token_of_group(call: Call) -> tuple[Access, ResourceToken]:
    access, parent = _group(call)
    return access, _token_in(call, parent)


def _unrevoked_token_of_project(call: Call) -> tuple[Access, ResourceToken]:
    return _unrevoked(*_token_of_project(call))


def _unrevoked_token_of_group(call: Call) -> tuple[Access, ResourceToken]:
    return _unrevoked(*_token_of_group(call))


def _unrevoked(access: Access, subject: ResourceToken) -> tuple[Access, ResourceToken]:
    if subject.token.revoked:
        raise NotFound("Access Token")
    return access, subject


def _own_token_in(call: Call, parent: TokenParent) -> ResourceToken:
    """Return the token that authenticates this request, if it belongs to the project or group."""
    token = queries.resource_token_or_none(call.db, member_source(parent.owner), call.actor.token_id)
    if token is None or call.actor.sudo_by:
        raise NotFound("Access Token")
    return ResourceToken(parent.access, parent.owner, token)


def _own_token_of_project(call: Call) -> tuple[Access, ResourceToken]:
    access, parent = _project(call)
    return access, _own_token_in(call, parent)


def _own_token_of_group(call: Call) -> tuple[Access, ResourceToken]:
    access, parent = _group(call)
    return access, _own_token_in(call, parent)


def _may_read(actor: Actor, access: Access, subject: TokenParent | ResourceToken) -> bool:
    """Maintainers of a project, owners of a group, and administrators."""
    return policy.may_read_access_tokens(actor, access, subject.owner)


def _may_manage(actor: Actor, access: Access, subject: TokenParent | ResourceToken) -> bool:
    """Maintainers of a project that is not archived, owners of a group, and administrators; no bots."""
    return policy.may_manage_access_tokens(actor, access, subject.owner)


@routes.get("/groups/:id/access_tokens", on=_group, may=_may_read, returns=list[ResourceTokenView])
@routes.get("/projects/:id/access_tokens", on=_project, may=_may_read, returns=list[ResourceTokenView])
def list_access_tokens(
    call: Call, parent: TokenParent, params: ListResourceTokens, page: Page
) -> Listing[ResourceTokenView]:
    """List the access tokens of a project or group."""
    listing = queries.list_resource_tokens(call.db, member_source(parent.owner), params, page)
    return listing.of(resource_token_views(call.db, listing.items))


@routes.post("/groups/:id/access_tokens", on=_group, may=_may_manage, returns=ResourceTokenView, locks=NAMESPACES)
@routes.post("/projects/:id/access_tokens", on=_project, may=_may_manage, returns=ResourceTokenView, locks=NAMESPACES)
def create_access_token(call: Call, parent: TokenParent, params: CreateResourceToken) -> ResourceTokenView:
    """Create an access token of a project or group, with a bot user."""
    token, bot, secret = service.create_resource_token(
        call.db, call.actor, parent.access, member_source(parent.owner), params
    )
    return resource_token_view(token, bot, call.db.now, secret)


@routes.get(
    "/groups/:id/access_tokens/self",
    on=_own_token_of_group,
    may=signed_in,
    returns=ResourceTokenView,
    scopes=ANY_SCOPE,
)
@routes.get(
    "/projects/:id/access_tokens/self",
    on=_own_token_of_project,
    may=signed_in,
    returns=ResourceTokenView,
    scopes=ANY_SCOPE,
)
def get_own_access_token(call: Call, subject: ResourceToken) -> ResourceTokenView:
    """Get the access token that authenticates the request."""
    return resource_token_views(call.db, [subject.token])[0]


@routes.get(
    "/groups/:id/access_tokens/:token_id", on=_unrevoked_token_of_group, may=_may_read, returns=ResourceTokenView
)
@routes.get(
    "/projects/:id/access_tokens/:token_id", on=_unrevoked_token_of_project, may=_may_read, returns=ResourceTokenView
)
def get_access_token(call: Call, subject: ResourceToken) -> ResourceTokenView:
    """Get an access token of a project or group, without its secret."""
    return resource_token_views(call.db, [subject.token])[0]


@routes.get(
    "/groups/:id/access_tokens/:token_id/audit_events",
    on=_token_of_group,
    may=_may_read,
    returns=list[TokenAuditEventView],
)
@routes.get(
    "/projects/:id/access_tokens/:token_id/audit_events",
    on=_token_of_project,
    may=_may_read,
    returns=list[TokenAuditEventView],
)
def list_access_token_audit_events(call: Call, subject: ResourceToken, page: Page) -> Listing[TokenAuditEventView]:
    """List the calls that changed something and were made with an access token of a project or group, newest first."""
    listing = list_audit_events(call.db, subject.token, page)
    return listing.of(audit_event_views(listing.items))


@routes.post(
    "/groups/:id/access_tokens/self/rotate",
    on=_own_token_of_group,
    may=signed_in,
    returns=ResourceTokenView,
    status=200,
    locks=ROTATION,
    on_refused_token=revoke_family_of_reused_token,
    scopes=SELF_ROTATE_SCOPES,
)
@routes.post(
    "/projects/:id/access_tokens/self/rotate",
    on=_own_token_of_project,
    may=signed_in,
    returns=ResourceTokenView,
    status=200,
    locks=ROTATION,
    on_refused_token=revoke_family_of_reused_token,
    scopes=SELF_ROTATE_SCOPES,
)
def rotate_own_access_token(call: Call, subject: ResourceToken, params: RotateToken) -> ResourceTokenView:
    """Rotate the access token that authenticates the request."""
    return rotate_access_token(call, subject, params)


@routes.post(
    "/groups/:id/access_tokens/:token_id/rotate",
    on=_token_of_group,
    may=_may_manage,
    returns=ResourceTokenView,
    status=200,
    locks=ROTATION,
    on_refused_token=revoke_family_of_reused_token,
)
@routes.post(
    "/projects/:id/access_tokens/:token_id/rotate",
    on=_token_of_project,
    may=_may_manage,
    returns=ResourceTokenView,
    status=200,
    locks=ROTATION,
    on_refused_token=revoke_family_of_reused_token,
)
def rotate_access_token(call: Call, subject: ResourceToken, params: RotateToken) -> ResourceTokenView:
    """Rotate an access token: revoke it and get a new one of the same bot."""
    expires_at = Timestamp(f"{params.expires_at}T00:00:00.000Z") if params.expires_at else None
    token, bot, secret = service.rotate_resource_token(call.db, call.actor, subject.access, subject.token, expires_at)
    return resource_token_view(token, bot, call.db.now, secret)


# A missing or revoked token is a 404, unlike in families of the specification: the caller must notice a wrong id.
@routes.delete(
    "/groups/:id/access_tokens/:token_id",
    on=_unrevoked_token_of_group,
    may=_may_manage,
    returns=None,
    on_scheduled=True,
)
@routes.delete(
    "/projects/:id/access_tokens/:token_id",
    on=_unrevoked_token_of_project,
    may=_may_manage,
    returns=None,
    on_scheduled=True,
)
def revoke_access_token(call: Call, subject: ResourceToken) -> None:
    """Revoke an access token of a project or group; its bot ends with it."""
    service.revoke_resource_token(call.db, call.actor, subject.access, subject.token)
