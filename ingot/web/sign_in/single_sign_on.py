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
from ingot.core.db.signed_values import sign_value, verify_signed
from ingot.core.db.times import to_datetime
from ingot.core.errors import Conflict, Denied, NotFound
from ingot.core.names import NAMESPACES
from ingot.core.offload import require_blocking_allowed
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

pages = PageRoutes()
STATE_COOKIE = "_service_openid"
STATE_MINUTES = 10
_PURPOSE = "single sign-on"
_LINK_PURPOSE = "identity link"


class SignOnState(msgspec.Struct):
    """Signed state in a cookie while the user is at the provider; the callback must match it."""

    state: str
    nonce: str
    verifier: str
    back: str
    expires_at: float
    link_user_id: int = 0
    """Id of the signed-in user to link the identity to; 0 for a sign-in."""


@pages.get("/users/auth/openid_connect", open=True)
def start_sign_on(visit: Visit) -> PageResponse:
    """Redirect the user to the provider."""
    provider = _provider(visit)
    back = local_path(visit.request.query.get("redirect_to")) or ""
    link_user_id = (
        visit.viewer.user.id if visit.viewer.user is not None and visit.request.query.get("link") == "1" else 0
    )
    if visit.viewer.user is not None and not link_user_id and "again" not in visit.request.query:
        return LocalRedirect(back or HOME)
    require_blocking_allowed()
    state, nonce, verifier = (secrets.token_urlsafe(size) for size in (32, 32, 48))
    sign_on_state = SignOnState(state, nonce, verifier, back, _now(visit) + 60 * STATE_MINUTES, link_user_id)
    try:
        url = provider.authorization_url(
            _callback(visit), sign_on_state.state, sign_on_state.nonce, sign_on_state.verifier
        )
    except ProviderError as error:
        return _error_page(visit, str(error), 502)
    signed_state = sign_value(visit.database.vault, _PURPOSE, sign_on_state)
    return ExternalRedirect(url, [set_cookie(visit.settings, STATE_COOKIE, signed_state)])


@pages.get("/users/auth/openid_connect/callback", open=True)
def finish_sign_on(visit: Visit) -> PageResponse:
    """Handle the provider's callback: sign the user in, or ask to confirm the link."""
    provider = _provider(visit)
    require_blocking_allowed()
    sign_on_state = verify_signed(
        visit.database.vault, _PURPOSE, visit.headers.cookies.get(STATE_COOKIE, ""), SignOnState
    )
    state, code = visit.request.query.get("state"), visit.request.query.get("code")
    if (
        sign_on_state is None
        or sign_on_state.expires_at < _now(visit)
        or not isinstance(state, str)
        or not _is_same(state, sign_on_state.state)
    ):
        return _error_page(visit, "The sign-in has expired or was started in another browser. Try again.", 400)
    if not isinstance(code, str) or not code:
        return _error_page(visit, "The provider denied the sign-in.", 401)
    if sign_on_state.link_user_id and (visit.viewer.user is None or visit.viewer.user.id != sign_on_state.link_user_id):
        return _error_page(visit, "Another user is now signed in. Try again.", 400)
    try:
        identity = provider.fetch_identity(code, _callback(visit), sign_on_state.nonce, sign_on_state.verifier)
        if sign_on_state.link_user_id:
            return _confirm_link(visit, identity)
        user = visit.database.write(lambda db: _account(db, visit, identity))
    except ProviderError as error:
        return _error_page(visit, str(error), 502)
    except Denied as denied:
        return _error_page(visit, denied.reason, 403)
    if user.state != "active" or user.placeholder:
        return _error_page(visit, "Your account is blocked.", 403)
    response = start_session(visit, user, sign_on_state.back, "OpenID Connect")
    response.headers = [*response.headers, _clear_state_cookie(visit)]
    return response


class PendingLink(msgspec.Struct):
    """Provider identity that awaits the user's confirmation; signed and bound to the session."""

    identity: ProviderIdentity
    csrf: str
    expires_at: float


def _confirm_link(visit: Visit, identity: ProviderIdentity) -> TemplateResponse:
    """Show the identity for confirmation, because another person may be signed in to the provider in this browser."""
    signed_link = sign_value(
        visit.database.vault, _LINK_PURPOSE, PendingLink(identity, visit.viewer.csrf, _now(visit) + 60 * STATE_MINUTES)
    )
    context = {"tab": "account", "identity": identity, "signed_link": signed_link, "label": visit.settings.oidc_label}
    return TemplateResponse("profile/link.html", context, headers=[_clear_state_cookie(visit)])


@pages.post("/profile/identities", notice="Account linked.")
def link_account(visit: Visit) -> PageResponse:
    """Link the confirmed identity to the user's account."""
    link = verify_signed(
        visit.database.vault, _LINK_PURPOSE, str(visit.request.form.get("signed_link", "")), PendingLink
    )
    if link is None or not _is_same(link.csrf, visit.viewer.csrf) or link.expires_at < _now(visit):
        return _error_page(visit, "The confirmation has expired. Start again from your account page.", 400)
    identity = link.identity
    return _change_identity(visit, lambda db: link_identity(db, visit.viewer.signed_in, identity))


@pages.delete("/profile/identities/openid_connect", notice="Account unlinked.")
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


def _account(db: Connection, visit: Visit, identity: ProviderIdentity) -> User:
    db.lock(NAMESPACES)
    settings = visit.settings
    return find_or_create_account(
        db, identity, sign_up=settings.oidc_sign_up, link_by_email=settings.oidc_link_by_email
    )


def sign_on_url(visit: Visit, settings: InstanceSettings, back: str) -> str:
    """Return the URL of the provider's sign-in; empty if no provider is configured or enabled."""
    if not visit.settings.oidc_issuer or PROVIDER in settings.disabled_oauth_sign_in_sources:
        return ""
    params = ({"again": "true"} if visit.viewer.user else {}) | ({"redirect_to": back} if back else {})
    return "/users/auth/openid_connect" + (f"?{urlencode(params)}" if params else "")


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
