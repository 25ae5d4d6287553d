"""State changes of OAuth applications, codes and tokens."""

import hmac
import secrets
from urllib.parse import urlsplit

from sqlalchemy import bindparam, delete, select, update

from ingot.accounts.oauth.queries import find_own_application
from ingot.accounts.oauth.tables import (
    Application,
    OAuthCode,
    OAuthToken,
    oauth_applications,
    oauth_codes,
    oauth_tokens,
)
from ingot.accounts.tokens.service import create_token
from ingot.accounts.tokens.tables import access_tokens
from ingot.core.access.scopes import DEFAULT_OAUTH_SCOPES, OAUTH_SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.errors import Invalid, too_long_message

OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"
"""Redirect URI of applications that cannot receive a redirect; the code is shown to the user instead."""
TOKEN_SECONDS = 7200
CODE_MINUTES = 10
MAX_NAME_LENGTH = 255
MAX_REDIRECT_URI_LENGTH = 2000
MAX_REDIRECT_URIS = 20
_UNSAFE_SCHEMES = ("javascript", "data", "vbscript", "file", "blob", "about", "ftp")

_OF_FAMILY = select(oauth_tokens.c.access_token_id).where(oauth_tokens.c.family == bindparam("family_of"))
_REVOKE_FAMILY = update(access_tokens).where(access_tokens.c.id.in_(_OF_FAMILY)).values(revoked=True)
_OF_APPLICATION = select(oauth_tokens.c.access_token_id).where(
    oauth_tokens.c.application_id == bindparam("application")
)
_REVOKE_GRANTED = (
    update(access_tokens)
    .where(access_tokens.c.id.in_(_OF_APPLICATION.where(oauth_tokens.c.user_id == bindparam("holder"))))
    .values(revoked=True)
)
_REVOKE_OF_APPLICATION = update(access_tokens).where(access_tokens.c.id.in_(_OF_APPLICATION)).values(revoked=True)
_DELETE_CODES = delete(oauth_codes).where(
    oauth_codes.c.application_id == bindparam("application"), oauth_codes.c.user_id == bindparam("holder")
)
# The condition makes redeeming atomic: of two concurrent requests, only one changes the row.
_REDEEM_CODE = (
    update(oauth_codes).where(oauth_codes.c.id == bindparam("code_id"), ~oauth_codes.c.used).values(used=True)
)
_REDEEM_TOKEN = (
    update(access_tokens)
    .where(access_tokens.c.id == bindparam("token_id"), ~access_tokens.c.revoked)
    .values(revoked=True)
)
_DELETE_EXPIRED_CODES = delete(oauth_codes).where(oauth_codes.c.expires_at <= bindparam("long_ago"))


def create_application(
    db: Connection,
    owner_id: int | None,
    name: str,
    redirect_uri: str,
    scopes: list[str],
    *,
    confidential: bool = True,
) -> tuple[Application, str]:
    """Create an application; return it with its secret, which is not stored."""
    columns = _columns(name, redirect_uri, scopes)
    secret = secrets.token_hex(32)
    application_id = db.insert(
        oauth_applications,
        owner_id=owner_id,
        uid=secrets.token_hex(32),
        secret_digest=db.vault.digest(secret),
        confidential=confidential,
        dynamic=False,
        created_at=db.now,
        updated_at=db.now,
        **columns,
    )
    return find_own_application(db, application_id, owner_id), secret


def update_application(
    db: Connection, application: Application, name: str, redirect_uri: str, scopes: list[str], *, confidential: bool
) -> None:
    """Change name, redirect URIs and scopes of an application; issued tokens stay valid."""
    columns = _columns(name, redirect_uri, scopes)
    db.update(oauth_applications, application.id, confidential=confidential, updated_at=db.now, **columns)


def renew_secret(db: Connection, application: Application) -> str:
    """Replace the secret of an application; the previous one stops working at once."""
    secret = secrets.token_hex(32)
    db.update(oauth_applications, application.id, secret_digest=db.vault.digest(secret), updated_at=db.now)
    return secret


def delete_application(db: Connection, application: Application) -> None:
    """Delete an application and revoke its tokens."""
    db.run(_REVOKE_OF_APPLICATION, application=application.id)
    db.delete(oauth_applications, application.id)


def secret_matches(db: Connection, application: Application, secret: str) -> bool:
    """Check a secret against the application's digest in constant time."""
    return hmac.compare_digest(application.secret_digest, db.vault.digest(secret))


def create_code(
    db: Connection,
    application: Application,
    user_id: int,
    code: str,
    redirect_uri: str,
    scopes: str,
    challenge: tuple[str | None, str | None],
    nonce: str | None,
    signed_in_at: Timestamp,
) -> None:
    """Store an authorization code by its digest."""
    db.run(_DELETE_EXPIRED_CODES, long_ago=add_duration(db.now, days=-1))
    db.insert(
        oauth_codes,
        application_id=application.id,
        user_id=user_id,
        digest=db.vault.digest(code),
        family=secrets.token_hex(16),
        redirect_uri=redirect_uri,
        scopes=scopes,
        code_challenge=challenge[0],
        code_challenge_method=challenge[1],
        nonce=nonce,
        signed_in_at=signed_in_at,
        used=False,
        created_at=db.now,
        expires_at=add_duration(db.now, minutes=CODE_MINUTES),
    )


def redeem_code(db: Connection, code: OAuthCode) -> bool:
    """Mark a code as used; if it already was, revoke the tokens issued for it and return False."""
    if db.run_counted(_REDEEM_CODE, code_id=code.id) == 1:
        return True
    revoke_family(db, code.family)
    return False


def redeem_refresh_token(db: Connection, token: OAuthToken) -> bool:
    """Revoke the token that is refreshed; if it already was, revoke its whole family and return False.

    A second use means that the refresh token was copied.
    """
    if db.run_counted(_REDEEM_TOKEN, token_id=token.access_token_id) == 1:
        return True
    revoke_family(db, token.family)
    return False


def store_token(
    db: Connection,
    user_id: int,
    application: Application | None,
    scopes: str,
    access_token: str,
    refresh_token: str | None,
    family: str,
) -> None:
    """Store a new token among all access tokens, so that every authentication accepts it."""
    name = application.name if application else "Password"
    expires_at = add_duration(db.now, seconds=TOKEN_SECONDS)
    token, _ = create_token(db, user_id, "oauth", name, scopes.split(), expires_at, access_token)
    db.insert(
        oauth_tokens,
        access_token_id=token.id,
        application_id=application.id if application else None,
        user_id=user_id,
        family=family,
        refresh_digest=db.vault.digest(refresh_token) if refresh_token else None,
    )


def revoke_family(db: Connection, family: str) -> None:
    """Revoke all tokens that originate from one consent."""
    db.run(_REVOKE_FAMILY, family_of=family)


def revoke_application(db: Connection, user_id: int, application_id: int) -> None:
    """Revoke an application's tokens and codes for a user."""
    db.run(_REVOKE_GRANTED, application=application_id, holder=user_id)
    db.run(_DELETE_CODES, application=application_id, holder=user_id)


def _columns(name: str, redirect_uri: str, scopes: list[str]) -> dict[str, str]:
    """Return the columns of an application; raise Invalid with all reasons at once."""
    errors: dict[str, list[str]] = {}
    if not name.strip():
        errors["name"] = ["can't be blank"]
    elif len(name) > MAX_NAME_LENGTH:
        errors["name"] = [too_long_message(MAX_NAME_LENGTH)]
    addresses = redirect_uri.split()
    error = redirect_uris_error(addresses)
    if error:
        errors["redirect_uri"] = [error]
    unique_scopes = list(dict.fromkeys(scopes)) or list(DEFAULT_OAUTH_SCOPES)
    if not set(unique_scopes) <= set(OAUTH_SCOPES):
        errors["scopes"] = ["doesn't match configured on the server."]
    if errors:
        raise Invalid(**errors)
    return {"name": name.strip(), "redirect_uri": "\n".join(addresses), "scopes": " ".join(unique_scopes)}


def redirect_uris_error(addresses: list[str]) -> str | None:
    """Return why these cannot be the redirect URIs of an application; None if they can."""
    if not addresses:
        return "can't be blank"
    if len(addresses) > MAX_REDIRECT_URIS:
        return too_long_message(MAX_REDIRECT_URIS, "addresses")
    return next((error for error in map(_redirect_uri_error, addresses) if error), None)


def _redirect_uri_error(address: str) -> str | None:
    """Return why an address cannot be a redirect URI; only plain ASCII is allowed, for literal comparisons."""
    if address == OUT_OF_BAND:
        return None
    if len(address) > MAX_REDIRECT_URI_LENGTH:
        return too_long_message(MAX_REDIRECT_URI_LENGTH)
    if not (address.isascii() and address.isprintable()) or set(address) & set('"<>\\^`{|}'):
        return "must be a valid URI."
    if "#" in address:
        return "cannot contain a fragment."
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return "must be a valid URI."
    if not parts.scheme or port == 0:
        return "must be an absolute URI."
    if parts.scheme in _UNSAFE_SCHEMES:
        return "is forbidden by the server."
    if parts.scheme in ("http", "https") and (not parts.hostname or "@" in parts.netloc):
        return "must be an absolute URI."
    return None
