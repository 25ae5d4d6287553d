"""Queries of deploy tokens."""

from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, exists, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.deploy_tokens.params import ListDeployTokens
from ingot.projects.deploy_tokens.tables import DeployToken, deploy_tokens
from ingot.projects.members.queries import MemberSource
from ingot.projects.projects.tables import projects

# The rows of a deleted project remain until a job removes them; they must not give access until then.
_ACTIVE = select(deploy_tokens).where(
    or_(
        deploy_tokens.c.project_id.is_(None),
        exists().where(projects.c.id == deploy_tokens.c.project_id, projects.c.namespace_id.is_not(None)),
    )
)
_CONDITIONS = {
    "project": deploy_tokens.c.project_id == bindparam("source"),
    "group": deploy_tokens.c.group_id == bindparam("source"),
    "active": or_(deploy_tokens.c.expires_at.is_(None), deploy_tokens.c.expires_at > bindparam("now")),
    "inactive": deploy_tokens.c.expires_at <= bindparam("now"),
}
_BY_ID = {
    kind: _ACTIVE.where(_CONDITIONS[kind], deploy_tokens.c.id == bindparam("token")) for kind in ("project", "group")
}
_BY_DIGEST = _ACTIVE.where(deploy_tokens.c.digest == bindparam("digest"))


@lru_cache(maxsize=16)
def _list_query(filters: frozenset[str]) -> ListQuery:
    matching = _ACTIVE.where(*(_CONDITIONS[name] for name in sorted(filters)))
    return list_query(matching, deploy_tokens.c.id, deploy_tokens.c.id.asc())


def list_deploy_tokens(
    db: Connection, source: MemberSource | None, params: ListDeployTokens, page: Page
) -> Listing[DeployToken]:
    """List the tokens of a project or group, or all tokens."""
    filters: set[str] = set()
    values: dict[str, Any] = {}
    if source is not None:
        filters.add(source.kind)
        values["source"] = source.id
    if params.active is not None:
        filters.add("active" if params.active else "inactive")
        values["now"] = db.now
    return fetch_page(db, DeployToken, _list_query(frozenset(filters)), page, **values)


def deploy_token_or_none(db: Connection, source: MemberSource, token_id: int) -> DeployToken | None:
    """Return a token of a project or group."""
    return db.first(DeployToken, _BY_ID[source.kind], source=source.id, token=token_id)


def find_deploy_token(db: Connection, source: MemberSource, token_id: int) -> DeployToken:
    """Return a token of a project or group; raise NotFound if there is none."""
    token = deploy_token_or_none(db, source, token_id)
    if token is None:
        raise NotFound("Deploy Token")
    return token


def deploy_token_by_credentials(db: Connection, username: str, token: str) -> DeployToken | None:
    """Return the unexpired token with these credentials; its scopes and owner determine the access."""
    match = db.first(DeployToken, _BY_DIGEST, digest=db.vault.digest(token))
    if match is None or match.username != username or match.expired(db.now):
        return None
    return match


def deploy_token_by_secret(db: Connection, token: str) -> DeployToken | None:
    """Return the unexpired token with this secret, for clients that send no username."""
    match = db.first(DeployToken, _BY_DIGEST, digest=db.vault.digest(token))
    return None if match is None or match.expired(db.now) else match
