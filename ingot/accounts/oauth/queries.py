"""Queries of OAuth applications, codes and tokens."""

from sqlalchemy import bindparam, func, select

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.oauth.tables import (
    Application,
    AuthorizedApplication,
    OAuthCode,
    OAuthToken,
    oauth_applications,
    oauth_codes,
    oauth_tokens,
)
from ingot.accounts.tokens.tables import access_tokens
from ingot.accounts.users.tables import User, users
from ingot.core.access.scopes import IDENTITY_SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound

_HARMLESS_SCOPES = frozenset({"read_user", *IDENTITY_SCOPES})
_BY_UID = select(oauth_applications).where(oauth_applications.c.uid == bindparam("uid"))
_BY_ID = select(oauth_applications).where(oauth_applications.c.id == bindparam("application"))
_ALL = list_query(select(oauth_applications), oauth_applications.c.id, oauth_applications.c.id.asc())
_OF_INSTANCE = (
    select(oauth_applications)
    .where(oauth_applications.c.owner_id.is_(None), ~oauth_applications.c.dynamic)
    .order_by(oauth_applications.c.id)
)
_OF_OWNER = (
    select(oauth_applications)
    .where(oauth_applications.c.owner_id == bindparam("owner"))
    .order_by(oauth_applications.c.id)
)
_CODE = select(oauth_codes).where(oauth_codes.c.digest == bindparam("digest"))
_TOKENS = (
    select(
        oauth_tokens.c.id,
        oauth_tokens.c.access_token_id,
        oauth_tokens.c.application_id,
        oauth_tokens.c.user_id,
        oauth_tokens.c.family,
        access_tokens.c.scopes,
        access_tokens.c.revoked,
        access_tokens.c.created_at,
        access_tokens.c.expires_at,
        oauth_applications.c.uid,
    )
    .join(access_tokens, access_tokens.c.id == oauth_tokens.c.access_token_id)
    .outerjoin(oauth_applications, oauth_applications.c.id == oauth_tokens.c.application_id)
)
_BY_REFRESH = _TOKENS.where(oauth_tokens.c.refresh_digest == bindparam("digest"))
_BY_ACCESS = _TOKENS.where(access_tokens.c.digest == bindparam("digest"))
_GRANTED = _TOKENS.where(
    oauth_tokens.c.user_id == bindparam("user"),
    oauth_tokens.c.application_id == bindparam("application"),
    ~access_tokens.c.revoked,
)
# The scopes of an application's newest token represent all its tokens, which rarely differ.
_NEWEST = (
    select(
        oauth_tokens.c.application_id.label("application_id"),
        func.max(access_tokens.c.id).label("newest"),
        func.min(access_tokens.c.created_at).label("since"),
    )
    .join(access_tokens, access_tokens.c.id == oauth_tokens.c.access_token_id)
    .where(
        oauth_tokens.c.user_id == bindparam("user"),
        oauth_tokens.c.application_id.is_not(None),
        ~access_tokens.c.revoked,
    )
    .group_by(oauth_tokens.c.application_id)
    .subquery()
)
_AUTHORIZED = (
    select(
        oauth_applications.c.id,
        oauth_applications.c.name,
        users.c.username,
        access_tokens.c.scopes,
        _NEWEST.c.since,
        oauth_applications.c.dynamic,
    )
    .join(_NEWEST, _NEWEST.c.application_id == oauth_applications.c.id)
    .join(access_tokens, access_tokens.c.id == _NEWEST.c.newest)
    .outerjoin(users, users.c.id == oauth_applications.c.owner_id)
    .order_by(oauth_applications.c.id)
)


def application_by_uid_or_none(db: Connection, uid: str) -> Application | None:
    """Return the application with this client id."""
    return None if "\0" in uid else db.first(Application, _BY_UID, uid=uid)


def application_by_id_or_none(db: Connection, application_id: int) -> Application | None:
    """Return the application with this id."""
    return db.first(Application, _BY_ID, application=application_id)


def find_own_application(db: Connection, application_id: int, owner_id: int | None) -> Application:
    """Return the owner's application with this id; raise NotFound otherwise."""
    application = application_by_id_or_none(db, application_id)
    if application is None or application.owner_id != owner_id:
        raise NotFound("Application")
    return application


def list_applications(db: Connection, page: Page) -> Listing[Application]:
    """List all applications, including those of users."""
    return fetch_page(db, Application, _ALL, page)


def applications_of_owner(db: Connection, owner_id: int | None) -> list[Application]:
    """List the applications of a user, or of the instance for None."""
    if owner_id is None:
        return db.all(Application, _OF_INSTANCE)
    return db.all(Application, _OF_OWNER, owner=owner_id)


def code_or_none(db: Connection, code: str) -> OAuthCode | None:
    """Return an authorization code, even if it is used or expired."""
    return db.first(OAuthCode, _CODE, digest=db.vault.digest(code))


def token_by_refresh_token_or_none(db: Connection, refresh_token: str) -> OAuthToken | None:
    """Return the token with this refresh token, even if it is revoked or expired."""
    return db.first(OAuthToken, _BY_REFRESH, digest=db.vault.digest(refresh_token))


def token_by_access_token_or_none(db: Connection, access_token: str) -> OAuthToken | None:
    """Return the token with this access token, even if it is revoked or expired."""
    return db.first(OAuthToken, _BY_ACCESS, digest=db.vault.digest(access_token))


def has_granted(db: Connection, user_id: int, application: Application, scopes: set[str]) -> bool:
    """Check whether the user has already granted the application all these scopes."""
    tokens = db.all(OAuthToken, _GRANTED, user=user_id, application=application.id)
    return any(scopes <= set(token.scopes.split()) for token in tokens)


def authorized_applications(db: Connection, user_id: int) -> list[AuthorizedApplication]:
    """List the applications that a user has authorized."""
    return db.all(AuthorizedApplication, _AUTHORIZED, user=user_id)


def is_refused_to_administrator(db: Connection, user: User, scope: str | None) -> bool:
    """Return whether the instance does not let an administrator grant the requested scopes to an application."""
    requested = (scope or "api").split()
    return (
        user.admin and cached_all_settings(db).disable_admin_oauth_scopes and not _HARMLESS_SCOPES.issuperset(requested)
    )
