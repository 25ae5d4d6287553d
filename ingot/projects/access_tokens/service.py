"""State changes of project and group access tokens and their bots."""

import secrets

from sqlalchemy import bindparam, update

from ingot.accounts.tokens.lifetimes import limited_expiry
from ingot.accounts.tokens.queries import credential_expiry
from ingot.accounts.tokens.service import issue_bot_token, revoke_token, rotate_token
from ingot.accounts.tokens.tables import AccessToken, access_tokens
from ingot.accounts.users.addresses import bot_address
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.service import create_user, delete_user
from ingot.accounts.users.tables import User, users
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Access
from ingot.core.access.restrictions import TokenRestrictions
from ingot.core.access.scopes import SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration, day_of
from ingot.core.errors import Denied, Invalid
from ingot.core.names import NAMESPACES
from ingot.projects.access_tokens import policy
from ingot.projects.access_tokens.params import CreateResourceToken
from ingot.projects.access_tokens.queries import bot_or_none, count_bots, expired_bots, removable_bots
from ingot.projects.access_tokens.tables import TokenBot, token_bots
from ingot.projects.members.queries import MemberSource
from ingot.projects.members.service import write_membership
from ingot.projects.namespaces.tables import memberships

MAX_BOTS = 200
MAX_DESCRIPTION_LENGTH = 1_000
LIFETIME_DAYS = 365
RETENTION_DAYS = 30
# A bot acts for itself only, and its profile is of no use to it.
RESOURCE_SCOPES = tuple(scope for scope in SCOPES if scope not in ("sudo", "admin_mode", "read_user"))
_REVOKE_ALL = update(access_tokens).where(access_tokens.c.user_id == bindparam("user")).values(revoked=True)
_SET_EXPIRY = (
    update(memberships).where(memberships.c.user_id == bindparam("user")).values(expires_at=bindparam("expires_on"))
)


def create_resource_token(
    db: Connection, actor: Actor, access: Access, source: MemberSource, params: CreateResourceToken
) -> tuple[AccessToken, TokenBot, str]:
    """Create a bot, its membership and its token; return the token with its secret, which is not stored."""
    if not set(params.scopes) <= set(RESOURCE_SCOPES):
        raise Invalid(scopes=["can only contain available scopes"])
    if not policy.may_use_level(actor, access, params.access_level):
        raise Invalid(access_level=["cannot be higher than your own"])
    if len(params.description) > MAX_DESCRIPTION_LENGTH:
        raise Invalid(description=[f"is too long (maximum is {MAX_DESCRIPTION_LENGTH} characters)"])
    if count_bots(db, source) >= MAX_BOTS:
        raise Invalid(f"400 (Bad request) a {source.kind} has {MAX_BOTS} active access tokens at most")
    expires_at = _midnight(params.expires_at) if params.expires_at else _latest_expiry(db, actor)
    _require_future(db, expires_at)
    bot = _create_bot(db, source, params.name.strip())
    restrictions = TokenRestrictions(mcp_tools=None if params.mcp_tools is None else tuple(params.mcp_tools))
    token, secret = issue_bot_token(db, actor, bot.id, params.name, params.scopes, expires_at, restrictions)
    db.insert_row(
        token_bots,
        user_id=bot.id,
        project_id=source.id if source.kind == "project" else None,
        group_id=source.id if source.kind == "group" else None,
        creator_id=actor.user_id,
        access_level=params.access_level,
        description=params.description,
        created_at=db.now,
    )
    write_membership(db, source, bot.id, params.access_level, day_of(expires_at), actor.user_id)
    return token, _existing_bot(db, bot.id), secret


def rotate_resource_token(
    db: Connection, actor: Actor, access: Access, token: AccessToken, expires_at: Timestamp | None
) -> tuple[AccessToken, TokenBot, str]:
    """Revoke a token and create a new one of the same bot; a token may rotate itself."""
    bot = _existing_bot(db, token.user_id)
    if token.id != actor.token_id:
        _require_level(actor, access, bot)
    if expires_at is not None:
        _require_future(db, expires_at)
    successor, secret = rotate_token(db, actor, token, expires_at, of_bot=True)
    return successor, bot, secret


def revoke_resource_token(db: Connection, actor: Actor, access: Access, token: AccessToken) -> None:
    """Revoke a token, which ends its bot."""
    _require_level(actor, access, _existing_bot(db, token.user_id))
    revoke_token(db, token)


def end_bot(db: Connection, bot: TokenBot) -> None:
    """Revoke all tokens of a bot and block it, so that its schedules, triggers and deploy keys have no effect."""
    db.run(_REVOKE_ALL, user=bot.user_id)
    db.run(_SET_EXPIRY, user=bot.user_id, expires_on=db.today)
    db.update(users, bot.user_id, state="blocked", updated_at=db.now)
    db.update(token_bots, bot.id, ended_at=db.now)


def prolong_membership(db: Connection, bot: TokenBot, expires_at: Timestamp) -> None:
    """Let the access of a bot end together with its new token."""
    db.run(_SET_EXPIRY, user=bot.user_id, expires_on=day_of(expires_at))


def delete_ended_bots(db: Connection) -> int:
    """End bots whose tokens have expired, and delete the users of those that ended a month ago; return their number."""
    db.lock(NAMESPACES)
    for bot in expired_bots(db):
        end_bot(db, bot)
    removable = removable_bots(db, add_duration(db.now, days=-RETENTION_DAYS))
    for user in removable:
        delete_user(db, user, hard=False)
    return len(removable)


def _create_bot(db: Connection, source: MemberSource, name: str) -> User:
    username = f"{source.kind}_{source.id}_bot_{secrets.token_hex(16)}"
    params = CreateUser(
        email=bot_address(username),
        username=username,
        name=name,
        force_random_password=True,
        skip_confirmation=True,
        external=True,
    )
    return create_user(db, params, None, bot=True)


def _existing_bot(db: Connection, user_id: int) -> TokenBot:
    bot = bot_or_none(db, user_id)
    assert bot is not None  # noqa: S101 - Only tokens of bots are looked up by project or group.
    return bot


def _require_level(actor: Actor, access: Access, bot: TokenBot) -> None:
    if not policy.may_use_level(actor, access, bot.access_level):
        raise Denied("The token has a higher access level than you")


def _require_future(db: Connection, expires_at: Timestamp) -> None:
    """Raise Invalid for a token that has expired on an earlier day; one that expires today cannot be used."""
    if day_of(expires_at) < db.today:
        raise Invalid(expires_at=["cannot be a date in the past"])


def _midnight(day: str) -> Timestamp:
    return Timestamp(f"{day}T00:00:00.000Z")


def _latest_expiry(db: Connection, actor: Actor) -> Timestamp:
    in_a_year = _midnight(day_of(add_duration(db.now, days=LIFETIME_DAYS)))
    return limited_expiry(db, min(in_a_year, credential_expiry(db, actor) or in_a_year)) or in_a_year
