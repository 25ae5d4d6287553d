"""Signing in by an OpenID Connect provider."""

import hmac
import secrets
from collections.abc import Callable
from urllib.parse import urlencode

import msgspec

from ingot.db.connection import Connection
from ingot.db.times import moment
from ingot.errors import Conflict, Denied, NotFound
from ingot.inline import expect_a_wait
from ingot.instance.settings import InstanceSettings, current_settings
from ingot.names import NAMESPACES
from ingot.users.accounts.tables import User
from ingot.users.providers.linking import Known, account_of, link_identity, unlink_identity
from ingot.users.providers.openid import PROVIDER, OpenIdProvider, ProviderTrouble
from ingot.web.cookies import set_cookie
from ingot.web.entry.entering import HOME, enter
from ingot.web.pages import Elsewhere, Page, Pages, Redirect, Reply, Visit, local_path
from ingot.web.profile.account import account_page
from ingot.web.refusals import sentences
from ingot.web.signed import read_signed, signed

pages = Pages()
COOKIE = "_service_openid"
MINUTES = 10
_PURPOSE = "sign-in elsewhere"
_LINKING = "linking an identity"


class Away(msgspec.Struct):
    """What a browser keeps while its owner is at the provider; what comes back must belong to it."""

    state: str
    nonce: str
    verifier: str
    back: str
    until: float
    links: int = 0
    """Whose account is to be linked, where somebody is signed in already."""


@pages.get("/users/auth/openid_connect", open=True)
def leave(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Send somebody to the provider."""
    provider = _provider(visit)
    back = local_path(visit.query.get("redirect_to")) or ""
    links = visit.user.id if visit.user is not None and visit.query.get("link") == "1" else 0
    if visit.user is not None and not links and "again" not in visit.query:
        return Redirect(back or HOME)
    expect_a_wait()
    state, nonce, verifier = (secrets.token_urlsafe(size) for size in (32, 32, 48))
    away = Away(state, nonce, verifier, back, _now(visit) + 60 * MINUTES, links)
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
    if away.links and (visit.user is None or visit.user.id != away.links):
        return _refused(visit, "Somebody else is signed in by now. Begin anew.", 400)
    try:
        known = provider.known(code, _callback(visit), away.nonce, away.verifier)
        if away.links:
            return _ask_to_link(visit, known)
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


class Found(msgspec.Struct):
    """Who somebody is there, until they have said that it is them; of no use in another session."""

    known: Known
    csrf: str
    until: float


def _ask_to_link(visit: Visit, known: Known) -> Page:
    """Show who that is: whoever else may have signed in there in this browser must not get in here by it."""
    kept = signed(visit.database.vault, _LINKING, Found(known, visit.csrf, _now(visit) + 60 * MINUTES))
    context = {"tab": "account", "known": known, "kept": kept, "label": visit.settings.oidc_label}
    return Page("profile/link.html", context, headers=[_forgotten(visit)])


@pages.post("/profile/identities")
def link(visit: Visit) -> Reply:
    """Let somebody come in by the provider too."""
    found = read_signed(visit.database.vault, _LINKING, str(visit.form.get("kept", "")), Found)
    if found is None or not _same(found.csrf, visit.csrf) or found.until < _now(visit):
        return _refused(visit, "That took too long. Begin anew from your account.", 400)
    known = found.known
    return _changed(visit, lambda db: link_identity(db, visit.signed_in, known))


@pages.delete("/profile/identities/openid_connect")
def unlink(visit: Visit) -> Reply:
    """Let them come in by it no more."""
    return _changed(visit, lambda db: unlink_identity(db, visit.signed_in, PROVIDER))


def _changed(visit: Visit, change: Callable[[Connection], None]) -> Reply:
    try:
        visit.database.write(change)
    except Conflict as refusal:
        errors = sentences(refusal)
        return visit.database.read(lambda db: account_page(visit, db, {"identity": errors}))
    return Redirect("/profile/account")


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
