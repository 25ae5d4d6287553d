"""How tokens are found and listed."""

from functools import lru_cache
from typing import Any

from sqlalchemy import and_, bindparam, or_, select

from ingot.db.connection import Connection
from ingot.db.expressions import contains, like_pattern
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.errors import NotFound
from ingot.users.accounts.tables import User, users
from ingot.users.tokens.params import ListTokens
from ingot.users.tokens.tables import Holder, Token, access_tokens

_HOLDER = (
    select(
        access_tokens.c.id,
        access_tokens.c.kind,
        access_tokens.c.scopes,
        access_tokens.c.revoked,
        access_tokens.c.expires_at,
        users.c.id,
        users.c.username,
        users.c.name,
        users.c.admin,
        users.c.external,
        users.c.state,
        users.c.password_expired,
    )
    .join(users, users.c.id == access_tokens.c.user_id)
    .where(access_tokens.c.digest == bindparam("digest"))
)
_BY_ID = select(access_tokens).where(access_tokens.c.id == bindparam("token"))
_OF_USER = select(access_tokens).where(
    access_tokens.c.user_id == bindparam("user"), access_tokens.c.kind == bindparam("kind")
)

_FILTERS = {
    "user": access_tokens.c.user_id == bindparam("user"),
    "active": and_(
        access_tokens.c.revoked.is_(False),
        or_(access_tokens.c.expires_at.is_(None), access_tokens.c.expires_at > bindparam("now")),
    ),
    "inactive": or_(access_tokens.c.revoked.is_(True), access_tokens.c.expires_at <= bindparam("now")),
    "revoked": access_tokens.c.revoked.is_(True),
    "unrevoked": access_tokens.c.revoked.is_(False),
    "search": contains(access_tokens.c.name_key, "pattern"),
    "created_before": access_tokens.c.created_at <= bindparam("created_before"),
    "created_after": access_tokens.c.created_at >= bindparam("created_after"),
}


@lru_cache(maxsize=256)
def _list_query(filters: frozenset[str]) -> ListQuery:
    matching = select(access_tokens).where(
        access_tokens.c.kind == bindparam("kind"), *(_FILTERS[name] for name in sorted(filters))
    )
    return list_query(matching, access_tokens.c.id, access_tokens.c.id.asc())


def holder_or_none(db: Connection, token: str) -> Holder | None:
    """Whose token this is; whether it still opens anything is for the caller to look at."""
    digest = db.vault.digest(token)
    return db.kept(("token", digest), lambda: db.first(Holder, _HOLDER, digest=digest), _holder_bytes)


def _holder_bytes(holder: Holder) -> int:
    return 1_000 + len(holder.scopes)


def token_or_none(db: Connection, token_id: int, kind: str, user_id: int | None = None) -> Token | None:
    """The token with this number, if it is of this kind and, where that is said, this user's."""
    token = db.first(Token, _BY_ID, token=token_id)
    if token is None or token.kind != kind or user_id not in (None, token.user_id):
        return None
    return token


def find_impersonation_token(db: Connection, user: User, token_id: int) -> Token:
    """One of the tokens by which administrators act as the user."""
    token = token_or_none(db, token_id, "impersonation", user.id)
    if token is None:
        raise NotFound("Impersonation Token")
    return token


def private_token_of(db: Connection, user_id: int) -> str:
    """The user's private token, in the clear."""
    token = db.first(Token, _OF_USER, user=user_id, kind="private")
    if token is None or token.sealed is None:
        raise NotFound("Private Token")
    return db.vault.unseal(token.sealed)


def list_tokens(db: Connection, kind: str, user_id: int | None, wanted: ListTokens, page: Page) -> Listing[Token]:
    """A page of the tokens of one kind; of one user, or of everybody."""
    filters: set[str] = set()
    values: dict[str, Any] = {"kind": kind}
    if user_id is not None:
        filters.add("user")
        values["user"] = user_id
    if wanted.state in ("active", "inactive"):
        filters.add(wanted.state)
        values["now"] = db.now
    if wanted.revoked is not None:
        filters.add("revoked" if wanted.revoked else "unrevoked")
    if wanted.search:
        filters.add("search")
        values["pattern"] = like_pattern(wanted.search)
    for name in ("created_before", "created_after"):
        if getattr(wanted, name) is not None:
            filters.add(name)
            values[name] = getattr(wanted, name)
    return fetch_page(db, Token, _list_query(frozenset(filters)), page, **values)
