"""Response structs of tokens; the secret is included only when it was just created."""

from msgspec import UNSET, UnsetType

from ingot.accounts.tokens.params import ListTokens
from ingot.accounts.tokens.queries import list_tokens, private_token_or_none
from ingot.accounts.tokens.tables import AccessToken, TokenAuditEvent
from ingot.core.access.restrictions import GranularScope, read_restrictions
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.db.times import Date, Timestamp, day_of


class GranularScopeView(View):
    """Fine-grained permissions of a token, in one project or group if either is set."""

    access: str
    permissions: list[str]
    project_id: int | None
    group_id: int | None


class TokenView(View):
    """A personal access token or an impersonation token."""

    id: int
    name: str
    revoked: bool
    created_at: Timestamp
    scopes: list[str]
    active: bool
    expires_at: Date | None
    user_id: int
    last_used_at: Timestamp | None
    impersonation: bool | UnsetType = UNSET
    token: str | UnsetType = UNSET
    mcp_tools: list[str] | UnsetType = UNSET
    granular_scopes: list[GranularScopeView] | UnsetType = UNSET


class TokenAuditEventView(View):
    """A call that changed something, made with a token."""

    id: int
    token_id: int
    token_name: str
    method: str
    route: str
    entity_path: str | None
    status: int
    ip_address: str
    created_at: Timestamp


def audit_event_views(events: list[TokenAuditEvent]) -> list[TokenAuditEventView]:
    """Return calls that were made with tokens."""
    return [
        TokenAuditEventView(
            event.id,
            event.token_id,
            event.token_name,
            event.method,
            event.route,
            event.entity_path,
            event.status,
            event.ip_address,
            event.created_at,
        )
        for event in events
    ]


def mcp_tools_of(token: AccessToken) -> list[str] | UnsetType:
    """Return the tools that agents may call with a token; UNSET without a list."""
    tools = read_restrictions(token.restrictions).mcp_tools
    return UNSET if tools is None else list(tools)


def _granular_scopes_of(token: AccessToken) -> list[GranularScopeView] | UnsetType:
    scopes = read_restrictions(token.restrictions).granular_scopes
    if scopes is None:
        return UNSET
    return [
        GranularScopeView(scope.access, list(scope.permissions), project_id, group_id)
        for scope in scopes
        for project_id, group_id in _targets(scope)
    ]


def _targets(scope: GranularScope) -> list[tuple[int | None, int | None]]:
    targets: list[tuple[int | None, int | None]] = [(project_id, None) for project_id in scope.project_ids]
    return [*targets, *((None, group_id) for group_id in scope.group_ids)] or [(None, None)]


def token_view(token: AccessToken, now: Timestamp, secret: str | UnsetType = UNSET) -> TokenView:
    """Return a token, with its secret if it was just created."""
    return TokenView(
        token.id,
        token.name,
        token.revoked,
        token.created_at,
        token.scopes.split(),
        token.active(now),
        day_of(token.expires_at) if token.expires_at else None,
        token.user_id,
        token.last_used_at,
        True if token.kind == "impersonation" else UNSET,
        secret,
        mcp_tools_of(token),
        _granular_scopes_of(token),
    )


def personal_tokens(db: Connection, user_id: int) -> list[AccessToken]:
    """Return the personal access tokens of a user."""
    return list_tokens(db, "personal", user_id, ListTokens(), Page(size=100)).items


def own_private_token(db: Connection, user_id: int) -> str:
    """Return the private token of a user in the clear, for its owner."""
    return private_token_or_none(db, user_id)
