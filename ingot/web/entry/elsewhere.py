"""Signing in by an OpenID Connect provider."""

import hmac
import secrets
from urllib.parse import urlencode

import msgspec

from ingot.db.connection import Connection
from ingot.db.times import moment
from ingot.errors import Denied, NotFound
from ingot.inline import expect_a_wait
from ingot.instance.settings import InstanceSettings, current_settings
from ingot.names import NAMESPACES
from ingot.users.accounts.tables import User
from ingot.users.providers.linking import Known, account_of
from ingot.users.providers.openid import PROVIDER, OpenIdProvider, ProviderTrouble
from ingot.web.cookies import set_cookie
from ingot.web.entry.entering import HOME, enter
from ingot.web.pages import Elsewhere, Page, Pages, Redirect, Reply, Visit, local_path
from ingot.web.signed import read_signed, signed

pages = Pages()
COOKIE = "_service_openid"
MINUTES = 10
_PURPOSE = "sign-in elsewhere"


class Away(msgspec.Struct):
    """What a browser keeps while its owner is at the provider; what comes back must belong to it."""

    state: str
    nonce: str
    verifier: str
    back: str
    until: float


@pages.get("/users/auth/openid_connect", open=True)
def leave(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Send somebody to the provider."""
    provider = _provider(visit)
    back = local_path(visit.query.get("redirect_to")) or ""
    if visit.user is not None and "again" not in visit.query:
        return Redirect(back or HOME)
    expect_a_wait()
    state, nonce, verifier = (secrets.token_urlsafe(size) for size in (32, 32, 48))
    away = Away(state, nonce, verifier, back, _now(visit) + 60 * MINUTES)
    try:
        address = provider.address(_callback(visit), away.state, away.nonce, away.verifier)
    except ProviderTrouble as trouble:
        return _refused(visit, str(trouble), 502)
    kept = signed(visit.database.vault, _PURPOSE, away)
    return Elsewhere(address, [set_cookie(visit.settings, COOKIE, kept)])


@pages.get("/users/auth/openid_connect/callback", open=True)
def come_back(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Let somebody in who comes back from the provider, in the browser in which they left."""
    provider = _provider(visit)
    expect_a_wait()
    away = read_signed(visit.database.vault, _PURPOSE, visit.cookies.get(COOKIE, ""), Away)
    state, code = visit.query.get("state"), visit.query.get("code")
    if away is None or away.until < _now(visit) or not isinstance(state, str) or not _same(state, away.state):
        return _refused(visit, "The sign-in took too long, or was begun in another browser. Begin anew.", 400)
    if not isinstance(code, str) or not code:
        return _refused(visit, "The provider did not let you in.", 401)
    try:
        known = provider.known(code, _callback(visit), away.nonce, away.verifier)
        user = visit.database.write(lambda db: _account(db, visit, known))
    except ProviderTrouble as trouble:
        return _refused(visit, str(trouble), 502)
    except Denied as denied:
        return _refused(visit, denied.reason, 403)
    if user.state != "active" or user.placeholder:
        return _refused(visit, "Your account is blocked.", 403)
    reply = enter(visit, user, away.back, "OpenID Connect")
    reply.headers = [*reply.headers, _forgotten(visit)]
    return reply


def _account(db: Connection, visit: Visit, known: Known) -> User:
    db.lock(NAMESPACES)
    settings = visit.settings
    return account_of(db, known, sign_up=settings.oidc_sign_up, link_by_email=settings.oidc_link_by_email)


def address_of_provider(visit: Visit, settings: InstanceSettings, back: str) -> str:
    """Where the sign-in page leads; nothing where no provider is configured, or administrators turned it off."""
    if not visit.settings.oidc_issuer or PROVIDER in settings.disabled_oauth_sign_in_sources:
        return ""
    asked = ({"again": "true"} if visit.user else {}) | ({"redirect_to": back} if back else {})
    return "/users/auth/openid_connect" + (f"?{urlencode(asked)}" if asked else "")


def _provider(visit: Visit) -> OpenIdProvider:
    settings = visit.database.read(current_settings)
    if not visit.settings.oidc_issuer or PROVIDER in settings.disabled_oauth_sign_in_sources:
        raise NotFound("Page")
    return OpenIdProvider(visit.settings)


def _callback(visit: Visit) -> str:
    return f"{visit.origin.base}/users/auth/openid_connect/callback"


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def _forgotten(visit: Visit) -> tuple[bytes, bytes]:
    return set_cookie(visit.settings, COOKIE, "", ends=True)


def _refused(visit: Visit, text: str, status: int) -> Page:
    context = {"title": "You are not signed in", "text": text}
    return Page("message.html", context, status, headers=[_forgotten(visit)])


def _now(visit: Visit) -> float:
    return moment(visit.database.clock()).timestamp()
