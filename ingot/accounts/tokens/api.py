"""Endpoints of tokens, and of the current user."""

from msgspec import UNSET, to_builtins
from msgspec.structs import replace

from ingot.accounts.tokens import policy, queries, service
from ingot.accounts.tokens.granular_scopes import granular_scopes
from ingot.accounts.tokens.params import CreateOwnToken, CreateToken, CreateUserToken, ListTokens, RotateToken
from ingot.accounts.tokens.reuse import revoke_family_of_reused_token
from ingot.accounts.tokens.service import ROTATION
from ingot.accounts.tokens.tables import AccessToken
from ingot.accounts.tokens.views import TokenAuditEventView, TokenView, audit_event_views, token_view
from ingot.accounts.users.api import user_in_path
from ingot.accounts.users.queries import find_user
from ingot.accounts.users.tables import User
from ingot.accounts.users.views import AdminUserView, OwnUserView, admin_user_view, own_user_view
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.restrictions import TokenRestrictions
from ingot.core.access.rules import administrators, require, signed_in
from ingot.core.access.scopes import ANY_SCOPE, READ_USER_SCOPES, SELF_ROTATE_SCOPES
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.db.times import Date, Timestamp
from ingot.core.errors import Invalid, NotFound

routes = Routes("users")


@routes.get("/user", may=signed_in, returns=AdminUserView | OwnUserView, scopes=READ_USER_SCOPES, cached=True)
def get_current_user(call: Call) -> OwnUserView:
    """Get the caller; administrators also get their private token."""
    actor = call.actor
    user = find_user(call.db, actor.user_id)
    if not actor.admin and not actor.sudo_by:
        return own_user_view(call.db, user, call.origin.base)
    view = admin_user_view(call.db, user, call.origin.base)
    if policy.may_see_private_token(actor, queries.credential_expiry(call.db, actor)):
        view.private_token = queries.private_token_or_none(call.db, user.id)
    return view


def _midnight(day: Date | None) -> Timestamp | None:
    return Timestamp(f"{day}T00:00:00.000Z") if day else None


def _restrictions(params: CreateToken | CreateUserToken | CreateOwnToken) -> TokenRestrictions:
    return TokenRestrictions(mcp_tools=None if params.mcp_tools is None else tuple(params.mcp_tools))


def _token_in_path(call: Call) -> tuple[Access, AccessToken]:
    """Return the token with the id in the path, if the caller may manage it."""
    token_id = path_number(call.path, "id")
    token = queries.token_or_none(call.db, token_id, "personal")
    if token is None or not policy.may_manage_token(call.actor, NO_ACCESS, token):
        raise NotFound("Personal Access Token")
    return NO_ACCESS, token


def _own_token(call: Call) -> tuple[Access, AccessToken]:
    """Return the personal access token that authenticates this request."""
    token = queries.token_or_none(call.db, call.actor.token_id, "personal")
    if token is None:
        raise Invalid("400 (Bad request) the request was not made with a personal access token")
    return NO_ACCESS, token


def _own_token_to_rotate(call: Call) -> tuple[Access, AccessToken]:
    """Return the token that authenticates this request; raise Denied for a token that cannot be rotated."""
    require(policy.may_rotate_itself(call.actor), "OAuth and impersonation tokens cannot create or rotate tokens")
    return _own_token(call)


@routes.get("/personal_access_tokens", may=signed_in, returns=list[TokenView])
def list_personal_access_tokens(call: Call, params: ListTokens, page: Page) -> Listing[TokenView]:
    """List the caller's personal access tokens; administrators see those of all users."""
    user_id = params.user_id if call.actor.admin else call.actor.user_id
    if params.user_id not in (None, user_id):
        raise NotFound("User")
    listing = queries.list_tokens(call.db, "personal", user_id, params, page)
    return listing.of([token_view(token, call.db.now) for token in listing.items])


@routes.get("/personal_access_tokens/self", on=_own_token, may=signed_in, returns=TokenView, scopes=ANY_SCOPE)
def get_own_token(call: Call, token: AccessToken) -> TokenView:
    """Get the token that authenticates the request."""
    return token_view(token, call.db.now)


@routes.get("/personal_access_tokens/:id", on=_token_in_path, may=policy.may_manage_token, returns=TokenView)
def get_personal_access_token(call: Call, token: AccessToken) -> TokenView:
    """Get a personal access token."""
    return token_view(token, call.db.now)


@routes.get(
    "/personal_access_tokens/:id/audit_events",
    on=_token_in_path,
    may=policy.may_manage_token,
    returns=list[TokenAuditEventView],
)
def list_token_audit_events(call: Call, token: AccessToken, page: Page) -> Listing[TokenAuditEventView]:
    """List the calls that changed something and were made with a personal access token, newest first."""
    listing = queries.list_audit_events(call.db, token, page)
    return listing.of(audit_event_views(listing.items))


@routes.get("/user/token_audit_events", may=signed_in, returns=list[TokenAuditEventView])
def list_own_audit_events(call: Call, page: Page) -> Listing[TokenAuditEventView]:
    """List the calls that changed something and were made with the caller's access tokens, also by applications."""
    listing = queries.list_audit_events_of_user(call.db, call.actor.user_id, page)
    return listing.of(audit_event_views(listing.items))


@routes.delete("/personal_access_tokens/self", on=_own_token, may=signed_in, returns=None, scopes=ANY_SCOPE)
def revoke_own_token(call: Call, token: AccessToken) -> None:
    """Revoke the token that authenticates the request."""
    service.revoke_token(call.db, token)


# A missing or revoked token is a 404, unlike in families of the specification: the caller must notice a wrong id.
@routes.delete("/personal_access_tokens/:id", on=_token_in_path, may=policy.may_manage_token, returns=None)
def revoke_personal_access_token(call: Call, token: AccessToken) -> None:
    """Revoke a personal access token."""
    if token.revoked:
        raise NotFound("Personal Access Token")
    service.revoke_token(call.db, token)


@routes.post(
    "/personal_access_tokens/self/rotate",
    on=_own_token_to_rotate,
    may=signed_in,
    returns=TokenView,
    status=200,
    locks=ROTATION,
    on_refused_token=revoke_family_of_reused_token,
    scopes=SELF_ROTATE_SCOPES,
)
def rotate_own_token(call: Call, token: AccessToken, params: RotateToken) -> TokenView:
    """Rotate the token that authenticates the request."""
    return rotate_personal_access_token(call, token, params)


@routes.post(
    "/personal_access_tokens/:id/rotate",
    on=_token_in_path,
    may=policy.may_manage_token,
    returns=TokenView,
    status=200,
    locks=ROTATION,
    on_refused_token=revoke_family_of_reused_token,
)
def rotate_personal_access_token(call: Call, token: AccessToken, params: RotateToken) -> TokenView:
    """Rotate a personal access token: revoke it and get a new one."""
    successor, secret = service.rotate_token(call.db, call.actor, token, _midnight(params.expires_at or None))
    return token_view(successor, call.db.now, secret)


@routes.post("/user/personal_access_tokens", may=signed_in, returns=TokenView)
def create_own_token(call: Call, params: CreateOwnToken) -> TokenView:
    """Create a personal access token of the caller, with scopes that give no access to data."""
    token, secret = service.issue_token(
        call.db,
        call.actor,
        call.actor.user_id,
        "personal",
        params.name,
        [str(scope) for scope in params.scopes],
        _midnight(params.expires_at),
        _restrictions(params),
    )
    return token_view(token, call.db.now, secret)


@routes.post("/users/:user_id/personal_access_tokens", on=user_in_path, may=administrators, returns=TokenView)
def create_personal_access_token(call: Call, user: User, params: CreateUserToken) -> TokenView:
    """Create a personal access token for a user."""
    require(not user.placeholder and not user.bot, "This user cannot have further tokens")
    if params.scopes is UNSET and params.granular_scopes is None:
        raise Invalid('400 (Bad request) "scopes" not given')
    token, secret = service.issue_token(
        call.db,
        call.actor,
        user.id,
        "personal",
        params.name,
        params.scopes or [],
        _midnight(params.expires_at),
        replace(_restrictions(params), granular_scopes=granular_scopes(to_builtins(params.granular_scopes))),
    )
    return token_view(token, call.db.now, secret)


@routes.get("/users/:user_id/impersonation_tokens", on=user_in_path, may=administrators, returns=list[TokenView])
def list_impersonation_tokens(call: Call, user: User, params: ListTokens, page: Page) -> Listing[TokenView]:
    """List the impersonation tokens of a user."""
    listing = queries.list_tokens(call.db, "impersonation", user.id, params, page)
    return listing.of([token_view(token, call.db.now) for token in listing.items])


def _impersonation_token_in_path(call: Call) -> tuple[Access, AccessToken]:
    token_id = path_number(call.path, "impersonation_token_id")
    _, user = user_in_path(call)
    return NO_ACCESS, queries.find_impersonation_token(call.db, user, token_id)


@routes.get(
    "/users/:user_id/impersonation_tokens/:impersonation_token_id",
    on=_impersonation_token_in_path,
    may=administrators,
    returns=TokenView,
)
def get_impersonation_token(call: Call, token: AccessToken) -> TokenView:
    """Get an impersonation token, without its secret."""
    return token_view(token, call.db.now)


@routes.post("/users/:user_id/impersonation_tokens", on=user_in_path, may=administrators, returns=TokenView)
def create_impersonation_token(call: Call, user: User, params: CreateToken) -> TokenView:
    """Create an impersonation token of a user."""
    require(not user.placeholder and not user.bot, "This user cannot have further tokens")
    token, secret = service.issue_token(
        call.db,
        call.actor,
        user.id,
        "impersonation",
        params.name,
        params.scopes,
        _midnight(params.expires_at),
        _restrictions(params),
    )
    return token_view(token, call.db.now, secret)


@routes.delete("/users/:user_id/impersonation_tokens/:impersonation_token_id", may=administrators, returns=None)
def revoke_impersonation_token(call: Call) -> None:
    """Revoke an impersonation token; revoking a missing one is not an error."""
    token_id = path_number(call.path, "impersonation_token_id")
    _, user = user_in_path(call)
    token = queries.token_or_none(call.db, token_id, "impersonation", user.id)
    if token is not None:
        service.revoke_token(call.db, token)
