"""Sign-in with an OpenID Connect provider."""

import hmac
import secrets
from collections.abc import Callable
from urllib.parse import urlencode

import msgspec

from ingot.accounts.identity_providers.identities import (
    ProviderIdentity,
    find_or_create_account,
    link_identity,
    unlink_identity,
)
from ingot.accounts.identity_providers.openid import PROVIDER, OpenIdProvider, ProviderError
from ingot.accounts.instance.settings import InstanceSettings, current_settings
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.core.names import NAMESPACES
from ingot.errors import Conflict, Denied, NotFound
from ingot.offload import require_blocking_allowed
from ingot.web.cookies import set_cookie
from ingot.web.form_errors import error_messages
from ingot.web.page_routes import (
    ExternalRedirect,
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    local_path,
)
from ingot.web.profile.account import account_page
from ingot.web.sign_in.session_start import HOME, start_session
from ingot.web.signed_values import sign_value, verify_signed

pages = PageRoutes()
STATE_COOKIE = "_service_openid"
STATE_MINUTES = 10
_PURPOSE = "sign-in elsewhere"
_LINK_PURPOSE = "linking an identity"


class SignOnState(msgspec.Struct):
    """Signed state in a cookie while the user is at the provider; the callback must match it."""

    state: str
    nonce: str
    verifier: str
    back: str
    until: float
    links: int = 0
    """Id of the signed-in user to link the identity to; 0 for a sign-in."""


@pages.get("/users/auth/openid_connect", open=True)
def start_sign_on(visit: Visit) -> PageResponse:
    """Redirect the user to the provider."""
    provider = _provider(visit)
    back = local_path(visit.request.query.get("redirect_to")) or ""
    links = visit.viewer.user.id if visit.viewer.user is not None and visit.request.query.get("link") == "1" else 0
    if visit.viewer.user is not None and not links and "again" not in visit.request.query:
        return LocalRedirect(back or HOME)
    require_blocking_allowed()
    state, nonce, verifier = (secrets.token_urlsafe(size) for size in (32, 32, 48))
    away = SignOnState(state, nonce, verifier, back, _now(visit) + 60 * STATE_MINUTES, links)
    try:
        address = provider.authorization_url(_callback(visit), away.state, away.nonce, away.verifier)
    except ProviderError as trouble:
        return _error_page(visit, str(trouble), 502)
    kept = sign_value(visit.database.vault, _PURPOSE, away)
    return ExternalRedirect(address, [set_cookie(visit.settings, STATE_COOKIE, kept)])


@pages.get("/users/auth/openid_connect/callback", open=True)
def finish_sign_on(visit: Visit) -> PageResponse:
    """Handle the provider's callback: sign the user in, or ask to confirm the link."""
    provider = _provider(visit)
    require_blocking_allowed()
    away = verify_signed(visit.database.vault, _PURPOSE, visit.headers.cookies.get(STATE_COOKIE, ""), SignOnState)
    state, code = visit.request.query.get("state"), visit.request.query.get("code")
    if away is None or away.until < _now(visit) or not isinstance(state, str) or not _is_same(state, away.state):
        return _error_page(visit, "The sign-in has expired or was started in another browser. Try again.", 400)
    if not isinstance(code, str) or not code:
        return _error_page(visit, "The provider denied the sign-in.", 401)
    if away.links and (visit.viewer.user is None or visit.viewer.user.id != away.links):
        return _error_page(visit, "Another user is now signed in. Try again.", 400)
    try:
        known = provider.fetch_identity(code, _callback(visit), away.nonce, away.verifier)
        if away.links:
            return _confirm_link(visit, known)
        user = visit.database.write(lambda db: _account(db, visit, known))
    except ProviderError as trouble:
        return _error_page(visit, str(trouble), 502)
    except Denied as denied:
        return _error_page(visit, denied.reason, 403)
    if user.state != "active" or user.placeholder:
        return _error_page(visit, "Your account is blocked.", 403)
    reply = start_session(visit, user, away.back, "OpenID Connect")
    reply.headers = [*reply.headers, _clear_state_cookie(visit)]
    return reply


class PendingLink(msgspec.Struct):
    """Provider identity that awaits the user's confirmation; signed and bound to the session."""

    known: ProviderIdentity
    csrf: str
    until: float


def _confirm_link(visit: Visit, known: ProviderIdentity) -> TemplateResponse:
    """Show the identity for confirmation, because another person may be signed in to the provider in this browser."""
    kept = sign_value(
        visit.database.vault, _LINK_PURPOSE, PendingLink(known, visit.viewer.csrf, _now(visit) + 60 * STATE_MINUTES)
    )
    context = {"tab": "account", "known": known, "kept": kept, "label": visit.settings.oidc_label}
    return TemplateResponse("profile/link.html", context, headers=[_clear_state_cookie(visit)])


@pages.post("/profile/identities")
def link_account(visit: Visit) -> PageResponse:
    """Link the confirmed identity to the user's account."""
    found = verify_signed(visit.database.vault, _LINK_PURPOSE, str(visit.request.form.get("kept", "")), PendingLink)
    if found is None or not _is_same(found.csrf, visit.viewer.csrf) or found.until < _now(visit):
        return _error_page(visit, "The confirmation has expired. Start again from your account page.", 400)
    known = found.known
    return _change_identity(visit, lambda db: link_identity(db, visit.viewer.signed_in, known))


@pages.delete("/profile/identities/openid_connect")
def unlink_account(visit: Visit) -> PageResponse:
    """Unlink the identity from the user's account."""
    return _change_identity(visit, lambda db: unlink_identity(db, visit.viewer.signed_in, PROVIDER))


def _change_identity(visit: Visit, change: Callable[[Connection], None]) -> PageResponse:
    try:
        visit.database.write(change)
    except Conflict as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: account_page(visit, db, {"identity": errors}))
    return LocalRedirect("/profile/account")


def _account(db: Connection, visit: Visit, known: ProviderIdentity) -> User:
    db.lock(NAMESPACES)
    settings = visit.settings
    return find_or_create_account(db, known, sign_up=settings.oidc_sign_up, link_by_email=settings.oidc_link_by_email)


def sign_on_url(visit: Visit, settings: InstanceSettings, back: str) -> str:
    """Return the URL of the provider's sign-in; empty if no provider is configured or enabled."""
    if not visit.settings.oidc_issuer or PROVIDER in settings.disabled_oauth_sign_in_sources:
        return ""
    asked = ({"again": "true"} if visit.viewer.user else {}) | ({"redirect_to": back} if back else {})
    return "/users/auth/openid_connect" + (f"?{urlencode(asked)}" if asked else "")


def _provider(visit: Visit) -> OpenIdProvider:
    settings = visit.database.read(current_settings)
    if not visit.settings.oidc_issuer or PROVIDER in settings.disabled_oauth_sign_in_sources:
        raise NotFound("Page")
    return OpenIdProvider(visit.settings)


def _callback(visit: Visit) -> str:
    return f"{visit.request.origin.base}/users/auth/openid_connect/callback"


def _is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def _clear_state_cookie(visit: Visit) -> tuple[bytes, bytes]:
    return set_cookie(visit.settings, STATE_COOKIE, "", ends=True)


def _error_page(visit: Visit, text: str, status: int) -> TemplateResponse:
    context = {"title": "You are not signed in", "text": text}
    return TemplateResponse("message.html", context, status, headers=[_clear_state_cookie(visit)])


def _now(visit: Visit) -> float:
    return to_datetime(visit.database.clock()).timestamp()
