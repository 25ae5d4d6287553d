"""What applications call themselves: for tokens, about tokens, and for who somebody is."""

from typing import Any

from ingot.access.scopes import OAUTH_SCOPES
from ingot.db.connection import Connection
from ingot.db.times import Timestamp, moment
from ingot.errors import Throttled, Unauthenticated
from ingot.inline import expect_a_wait
from ingot.oauth.claims import claims_about, discovery
from ingot.oauth.queries import held_by_access, held_by_refresh
from ingot.oauth.service import revoke_family
from ingot.oauth.signing import public_keys
from ingot.oauth.tables import HeldToken
from ingot.users.accounts.queries import user_or_none
from ingot.users.accounts.tables import User
from ingot.users.sessions.service import check_password
from ingot.web.oauth.asking import sent_by
from ingot.web.pages import Data, Pages, Reply, Visit

pages = Pages()
_METHODS = ["client_secret_basic", "client_secret_post", "none"]


@pages.post("/oauth/token", open=True, by_link=True, programs=True)
def trade(visit: Visit) -> Reply:
    """Give a token for a code, a password or a token to renew."""
    from ingot.oauth.server import Exchange, Sent

    sent = sent_by(visit)
    proven: User | None = None
    if sent.get("grant_type") == "password":
        try:
            proven = _by_password(visit, sent)
        except Throttled as error:
            text = {"error": "invalid_grant", "error_description": "Too many tries. Retry later."}
            return Data(text, 429, [(b"retry-after", b"%d" % error.retry_after)])

    def work(db: Connection) -> Any:
        exchange = Exchange(db, visit.settings.data, visit.origin.base, proven)
        status, body, headers = exchange.traded(Sent("POST", sent, visit.authorization))
        if status == 200:
            body["created_at"] = _seconds(db.now)
        return status, body, headers

    return _data(*visit.database.write(work))


def _by_password(visit: Visit, sent: dict[str, str]) -> User | None:
    """Whom the password proves; who has a second factor, or must choose another password first, needs more than it."""
    try:
        name, password = sent.get("username", ""), sent.get("password", "")
        origin = visit.origin
        user = check_password(visit.database, name, password, origin.ip, origin.user_agent, visit.settings)
    except Unauthenticated:
        return None
    return None if user.two_factor_enabled or user.password_expired else user


@pages.post("/oauth/revoke", open=True, by_link=True, programs=True)
def revoke(visit: Visit) -> Reply:
    """Take a token back, and what it can be renewed with; one that is not there is taken back already."""

    def work(db: Connection) -> Reply:
        application_id, refusal = _application(visit, db)
        if refusal is not None:
            return refusal
        held = _held(db, sent_by(visit).get("token", ""))
        if held is not None and held.application_id == application_id:
            revoke_family(db, held.family)
        return Data({})

    return visit.database.write(work)


@pages.post("/oauth/introspect", open=True, by_link=True, programs=True)
def introspect(visit: Visit) -> Reply:
    """Tell an application about a token of its own; of all others, only that they open nothing."""

    def work(db: Connection) -> Reply:
        application_id, refusal = _application(visit, db)
        if refusal is not None or application_id is None:
            return refusal or Data({"error": "invalid_client"}, 401)
        held = _held(db, sent_by(visit).get("token", ""))
        if held is None or held.application_id != application_id or not _is_active(held, db.now):
            return Data({"active": False})
        user = user_or_none(db, held.user_id)
        if user is None or user.state != "active":
            return Data({"active": False})
        about = {"active": True, "scope": held.scopes, "client_id": held.application_uid, "token_type": "Bearer"}
        about |= {"sub": str(user.id), "username": user.username, "iat": _seconds(held.created_at)}
        if held.expires_at is not None:
            about["exp"] = _seconds(held.expires_at)
        return Data(about)

    return visit.database.read(work)


@pages.get("/oauth/token/info", open=True, programs=True)
def tell_about_own(visit: Visit, db: Connection) -> Reply:
    """Tell whoever holds a token what it is."""
    found = _holder(visit, db)
    if isinstance(found, Data):
        return found
    held, _ = found
    left = _seconds(held.expires_at) - _seconds(db.now) if held.expires_at else None
    return Data(
        {
            "resource_owner_id": held.user_id,
            "scope": held.scopes.split(),
            "scopes": held.scopes.split(),
            "expires_in": left,
            "expires_in_seconds": left,
            "application": {"uid": held.application_uid} if held.application_uid else None,
            "created_at": _seconds(held.created_at),
        }
    )


@pages.get("/oauth/userinfo", open=True, programs=True)
def tell_who(visit: Visit, db: Connection) -> Reply:
    """Tell an application for whom it acts."""
    found = _holder(visit, db)
    if isinstance(found, Data):
        return found
    held, user = found
    scopes = set(held.scopes.split())
    if "openid" not in scopes:
        challenge = (b"www-authenticate", b'Bearer realm="Ingot", error="insufficient_scope", scope="openid"')
        return Data({"error": "insufficient_scope", "scope": "openid"}, 403, [challenge])
    return Data(claims_about(db, user, scopes, visit.origin.base))


@pages.post("/oauth/userinfo", open=True, by_link=True, programs=True)
def tell_who_by_post(visit: Visit) -> Reply:
    """Tell an application for whom it acts."""
    return visit.database.read(lambda db: tell_who(visit, db))


@pages.get("/.well-known/openid-configuration", open=True, programs=True)
def tell_addresses(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Tell programs how people sign in by us."""
    return Data(discovery(visit.origin.base, OAUTH_SCOPES))


@pages.get("/.well-known/oauth-authorization-server", open=True, programs=True)
def tell_addresses_again(visit: Visit, db: Connection) -> Reply:
    """The same for programs that look where the newer standard says."""
    return tell_addresses(visit, db)


@pages.get("/oauth/discovery/keys", open=True, programs=True)
def tell_keys(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Tell programs by which keys our signature is known."""
    expect_a_wait()
    return Data(public_keys(visit.settings.data))


def _application(visit: Visit, db: Connection) -> tuple[int | None, Data | None]:
    """Which application asks, or what it is told where it does not prove that; nobody in particular is none."""
    from ingot.oauth.server import Exchange, OAuth2Error, Sent

    exchange = Exchange(db, visit.settings.data, visit.origin.base)
    try:
        client = exchange.client_or_nobody(Sent("POST", sent_by(visit), visit.authorization), _METHODS)
    except OAuth2Error as error:
        return None, _data(*error(None))
    return client.application.id if client.application else None, None


def _held(db: Connection, token: str) -> HeldToken | None:
    return held_by_access(db, token) or held_by_refresh(db, token) if token else None


def _holder(visit: Visit, db: Connection) -> tuple[HeldToken, User] | Data:
    """The token that the caller brings as a program would, and whose it is."""
    token = visit.credentials.token or sent_by(visit).get("access_token", "")
    held = held_by_access(db, token) if token else None
    user = user_or_none(db, held.user_id) if held is not None and _is_active(held, db.now) else None
    if held is None or user is None or user.state != "active":
        text = {"error": "invalid_token", "error_description": "The access token is invalid, expired or revoked."}
        return Data(text, 401, [(b"www-authenticate", b'Bearer realm="Ingot", error="invalid_token"')])
    return held, user


def _is_active(held: HeldToken, now: Timestamp) -> bool:
    return not held.revoked and (held.expires_at is None or held.expires_at > now)


def _seconds(stamp: Timestamp) -> int:
    return int(moment(stamp).timestamp())


def _data(status: int, body: Any, headers: Any) -> Data:
    kept = [(name.lower().encode(), value.encode()) for name, value in headers if name.lower() == "www-authenticate"]
    return Data(body, status, kept)
