"""Queries of project and group access tokens and their bots."""

from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, exists, func, or_, select

from ingot.accounts.tokens.tables import AccessToken, access_tokens
from ingot.accounts.users.tables import User, users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import Timestamp
from ingot.projects.access_tokens.params import ListResourceTokens
from ingot.projects.access_tokens.tables import TokenBot, token_bots
from ingot.projects.members.queries import MemberSource

MAX_BOTS_PER_RUN = 100
_ACTIVE = and_(
    access_tokens.c.revoked.is_(False),
    or_(access_tokens.c.expires_at.is_(None), access_tokens.c.expires_at > bindparam("now")),
)
_OF_SOURCE: dict[str, ColumnElement[bool]] = {
    "project": token_bots.c.project_id == bindparam("source"),
    "group": token_bots.c.group_id == bindparam("source"),
}
_CONDITIONS: dict[str, ColumnElement[bool]] = {
    **_OF_SOURCE,
    "active": _ACTIVE,
    "inactive": or_(access_tokens.c.revoked.is_(True), access_tokens.c.expires_at <= bindparam("now")),
    "revoked": access_tokens.c.revoked.is_(True),
    "unrevoked": access_tokens.c.revoked.is_(False),
    "search": contains(access_tokens.c.name_key, "pattern"),
    "created_before": access_tokens.c.created_at <= bindparam("created_before"),
    "created_after": access_tokens.c.created_at >= bindparam("created_after"),
    "expires_before": access_tokens.c.expires_at < bindparam("expires_before"),
    "expires_after": access_tokens.c.expires_at > bindparam("expires_after"),
    "last_used_before": access_tokens.c.last_used_at <= bindparam("last_used_before"),
    "last_used_after": access_tokens.c.last_used_at >= bindparam("last_used_after"),
}
_TIMES = (
    "created_before",
    "created_after",
    "expires_before",
    "expires_after",
    "last_used_before",
    "last_used_after",
)
_ORDERS = {
    "created": access_tokens.c.id,
    "expires": func.coalesce(access_tokens.c.expires_at, ""),
    "last_used": func.coalesce(access_tokens.c.last_used_at, ""),
    "name": access_tokens.c.name_key,
}
_TOKENS = (
    select(access_tokens)
    .join(token_bots, token_bots.c.user_id == access_tokens.c.user_id)
    .where(access_tokens.c.kind == "personal")
)
_BY_ID = {
    kind: _TOKENS.where(condition, access_tokens.c.id == bindparam("token")) for kind, condition in _OF_SOURCE.items()
}
_BOT = select(token_bots).where(token_bots.c.user_id == bindparam("user"))
_BOTS = select(token_bots).where(in_list(token_bots.c.user_id, "users"))
_BOTS_OF = {kind: select(token_bots).where(condition) for kind, condition in _OF_SOURCE.items()}
_COUNT = {
    kind: select(func.count()).select_from(token_bots).where(condition, token_bots.c.ended_at.is_(None))
    for kind, condition in _OF_SOURCE.items()
}
_TOKEN_OF_BOT = exists().where(access_tokens.c.user_id == token_bots.c.user_id, _ACTIVE)
_WITHOUT_TOKEN = select(token_bots).where(token_bots.c.ended_at.is_(None), ~_TOKEN_OF_BOT)
_EXPIRED = _WITHOUT_TOKEN.order_by(token_bots.c.id).limit(MAX_BOTS_PER_RUN)
_IS_WITHOUT_TOKEN = _WITHOUT_TOKEN.where(token_bots.c.user_id == bindparam("user"))
# The row of a bot is deleted together with its project or group; the user remains for a short time.
_REMOVABLE = (
    select(users)
    .outerjoin(token_bots, token_bots.c.user_id == users.c.id)
    .where(users.c.bot, or_(token_bots.c.id.is_(None), token_bots.c.ended_at <= bindparam("before")))
    .order_by(users.c.id)
    .limit(MAX_BOTS_PER_RUN)
)


@lru_cache(maxsize=256)
def _list_query(filters: frozenset[str], sort: str) -> ListQuery:
    name, _, direction = sort.rpartition("_")
    column = _ORDERS[name]
    order = [column.desc() if direction == "desc" else column.asc()]
    if name != "created":
        order.append(access_tokens.c.id.asc())
    return list_query(_TOKENS.where(*(_CONDITIONS[name] for name in sorted(filters))), access_tokens.c.id, *order)


def list_resource_tokens(
    db: Connection, source: MemberSource, params: ListResourceTokens, page: Page
) -> Listing[AccessToken]:
    """List the access tokens of a project or group; revoked ones only if the caller asks for them."""
    filters: set[str] = {source.kind}
    values: dict[str, Any] = {"source": source.id}
    if params.state in ("active", "inactive"):
        filters.add(params.state)
        values["now"] = db.now
    if params.revoked is not None or params.state != "inactive":
        filters.add("revoked" if params.revoked else "unrevoked")
    if params.search:
        filters.add("search")
        values["pattern"] = like_pattern(params.search)
    for name in _TIMES:
        if getattr(params, name) is not None:
            filters.add(name)
            values[name] = getattr(params, name)
    return fetch_page(db, AccessToken, _list_query(frozenset(filters), params.sort), page, **values)


def resource_token_or_none(db: Connection, source: MemberSource, token_id: int) -> AccessToken | None:
    """Return an access token of a project or group."""
    return db.first(AccessToken, _BY_ID[source.kind], source=source.id, token=token_id)


def bot_or_none(db: Connection, user_id: int) -> TokenBot | None:
    """Return the bot with this user."""
    return db.first(TokenBot, _BOT, user=user_id)


def bots_by_user(db: Connection, user_ids: list[int]) -> dict[int, TokenBot]:
    """Return bots by the id of their user; one statement."""
    return {bot.user_id: bot for bot in db.all(TokenBot, _BOTS, users=user_ids)} if user_ids else {}


def bots_of_source(db: Connection, kind: str, source_id: int) -> list[TokenBot]:
    """Return the bots of a project or group."""
    return db.all(TokenBot, _BOTS_OF[kind], source=source_id)


def count_bots(db: Connection, source: MemberSource) -> int:
    """Return the number of bots of a project or group that can still be used."""
    count: int = db.value(_COUNT[source.kind], source=source.id)
    return count


def has_no_token(db: Connection, user_id: int) -> bool:
    """Return whether the user is a bot that can no longer be used."""
    return db.first(TokenBot, _IS_WITHOUT_TOKEN, user=user_id, now=db.now) is not None


def expired_bots(db: Connection) -> list[TokenBot]:
    """Return some of the bots whose tokens have expired and that were not ended yet."""
    return db.all(TokenBot, _EXPIRED, now=db.now)


def removable_bots(db: Connection, before: Timestamp) -> list[User]:
    """Return some of the bots that ended before a time, or whose project or group no longer exists."""
    return db.all(User, _REMOVABLE, before=before)
