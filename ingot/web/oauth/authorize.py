"""OAuth authorization page, where users grant or deny access to an application."""

from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

from ingot.accounts.oauth.queries import has_granted, is_refused_to_administrator
from ingot.accounts.oauth.service import OUT_OF_BAND
from ingot.accounts.oauth.tables import Application
from ingot.accounts.users.tables import User
from ingot.core.access.scopes import OAUTH_SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.offload import require_blocking_allowed
from ingot.web.oauth.authorization_request import request_params
from ingot.web.page_routes import (
    STRICT_POLICY,
    ExternalRedirect,
    LocalRedirect,
    PageResponse,
    PageRoutes,
    TemplateResponse,
    Visit,
    policy_with_form_target,
)
from ingot.web.scope_labels import SCOPE_DESCRIPTIONS

pages = PageRoutes()
# Repeated in both forms, so that the grant covers exactly the request that the page showed.
_FIELDS = (
    *("client_id", "redirect_uri", "state", "response_type", "scope"),
    *("nonce", "code_challenge", "code_challenge_method", "resource"),
)
"""Scopes that administrators may always grant."""
REFUSED_TO_ADMINISTRATORS = "Administrators of this instance cannot grant applications access to the API."
_MAX_AGE = 10
_FORM_TARGETS = {"/oauth/authorize": "redirect_uri", "/-/pages/authorize": "return_to"}
"""Parameters with the address to which pages redirect after a sign-in."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@pages.get("/oauth/authorize", open=True)
def show_consent(visit: Visit, db: Connection) -> PageResponse:
    """Show the consent page of an authorization request; redirect at once if the user has already granted it."""
    # The request may write an authorization code, and it imports the OAuth library.
    require_blocking_allowed()
    from ingot.accounts.oauth.server import (
        ConsentRequiredError,
        LoginRequiredError,
        OAuth2Error,
        OAuthRequest,
        OAuthServer,
    )

    params = request_params(visit)
    without_prompt = params.get("prompt") == "none"
    try:
        grant = OAuthServer(db, visit.settings.data, visit.request.origin.base).validate_authorization_request(
            OAuthRequest("GET", params, ""), visit.viewer.user
        )
    except OAuth2Error as error:
        if visit.viewer.user is None and not without_prompt:
            return _redirect_to_sign_in(visit)
        return _error_response(visit, error)
    client = grant.request.client
    if visit.viewer.user is None:
        return (
            _error_response(visit, _error_redirect(LoginRequiredError, params, client))
            if without_prompt
            else _redirect_to_sign_in(visit)
        )
    if _must_reauthenticate(visit, db, params):
        return (
            _error_response(visit, _error_redirect(LoginRequiredError, params, client))
            if without_prompt
            else _redirect_to_reauthenticate(visit)
        )
    if is_refused_to_administrator(db, visit.viewer.user, params.get("scope")):
        return _error_page(REFUSED_TO_ADMINISTRATORS)
    application: Application = client.application
    scopes = grant.request.scope.split()
    if grant.prompt != "consent" and _may_skip(db, visit.viewer.user, application, params, set(scopes)):
        return _grant(visit, visit.viewer.user)
    if without_prompt:
        return _error_response(visit, _error_redirect(ConsentRequiredError, params, client))
    return TemplateResponse(
        "oauth/authorize.html",
        {
            "application": application,
            "scopes": [(scope, SCOPE_DESCRIPTIONS[scope]) for scope in OAUTH_SCOPES if scope in scopes],
            "fields": [(name, params.get(name, "")) for name in _FIELDS if name in params or name in _FIELDS[:5]],
            "host": urlsplit(params["redirect_uri"]).netloc,
            "redirect_uri": params["redirect_uri"],
        },
        policy=policy_with_form_target(params["redirect_uri"]),
    )


@pages.post("/oauth/authorize")
def grant_consent(visit: Visit) -> PageResponse:
    """Grant an application access to the user's account."""
    return _grant(visit, visit.viewer.signed_in)


@pages.delete("/oauth/authorize")
def deny_consent(visit: Visit) -> PageResponse:
    """Deny an application access to the user's account."""
    return _grant(visit, None)


def _grant(visit: Visit, user: User | None) -> PageResponse:
    from ingot.accounts.oauth.server import OAuth2Error, OAuthRequest, OAuthServer

    params = request_params(visit)
    if user is not None and visit.database.read(lambda db: is_refused_to_administrator(db, user, params.get("scope"))):
        return _error_page(REFUSED_TO_ADMINISTRATORS)

    def work(db: Connection) -> Any:
        since = visit.viewer.session.created_at if visit.viewer.session else None
        exchange = OAuthServer(db, visit.settings.data, visit.request.origin.base, signed_in_at=since)
        return exchange.authorize(OAuthRequest("POST", params, ""), user)

    try:
        status, body, headers = visit.database.write(work)
    except OAuth2Error as error:
        return _error_response(visit, error)
    location = dict(headers).get("Location")
    if status != 302 or location is None:
        return _error_page(str(body.get("error_description", "")) if isinstance(body, dict) else "")
    return _redirect_to_application(visit, location, params)


def _redirect_to_application(visit: Visit, location: str, params: dict[str, str]) -> PageResponse:  # noqa: ARG001 - Same signature as the other responses.
    """Redirect to the application; show the code instead if the application uses the out-of-band redirect URI."""
    if params.get("redirect_uri") != OUT_OF_BAND:
        return ExternalRedirect(location)
    response = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
    response |= {name: values[0] for name, values in parse_qs(urlsplit(location).fragment).items()}
    secret = response.get("code") or response.get("access_token")
    if secret is None:
        return _error_page(response.get("error_description", "You denied access."))
    return TemplateResponse("oauth/code.html", {"secret": secret})


def _may_skip(db: Connection, user: User, application: Application, params: dict[str, str], scopes: set[str]) -> bool:
    """Return whether consent can be skipped: it was granted before, and the application cannot be impersonated.

    A public application counts as authenticated only if its redirect URI uses https and another host.
    """
    address = urlsplit(params["redirect_uri"])
    authenticated = application.confidential or (address.scheme == "https" and address.hostname not in _LOOPBACK)
    return authenticated and has_granted(db, user.id, application, scopes)


def _redirect_to_sign_in(visit: Visit) -> PageResponse:
    return LocalRedirect(f"/users/sign_in?redirect_to={quote(visit.request.address, safe='')}")


def _must_reauthenticate(visit: Visit, db: Connection, params: dict[str, str]) -> bool:
    """Return whether ``prompt=login`` or ``max_age`` requires the user to sign in again."""
    if "login" in params.get("prompt", "").split():
        return True
    age = params.get("max_age", "")
    if visit.viewer.session is None or not (age.isascii() and age.isdecimal() and len(age) < _MAX_AGE):
        return False
    return add_duration(visit.viewer.session.created_at, seconds=int(age)) <= db.now


def _redirect_to_reauthenticate(visit: Visit) -> PageResponse:
    """Redirect to the sign-in form despite the session, without ``prompt`` and ``max_age``, to ask only once."""
    path, _, query = visit.request.address.partition("?")
    params = [(name, value) for name, value in parse_qsl(query) if name not in ("prompt", "max_age")]
    back = f"{path}?{urlencode(params)}"
    return LocalRedirect(f"/users/sign_in?again=true&redirect_to={quote(back, safe='')}")


def _error_redirect(kind: Any, params: dict[str, str], client: Any) -> Any:
    """Return an OAuth error that is sent to the redirect URI, in the query or fragment.

    A client that registered itself gets none, because the user has not seen a page yet.
    """
    if client.registered_itself:
        return kind()
    in_fragment = params.get("response_type") == "token"
    return kind(redirect_uri=params["redirect_uri"], state=params.get("state"), redirect_fragment=in_fragment)


def _error_response(visit: Visit, error: Any) -> PageResponse:
    if not error.redirect_uri:
        return _error_page(error.description)
    _, _, headers = error(None)
    return _redirect_to_application(visit, dict(headers)["Location"], request_params(visit))


def _error_page(description: str) -> TemplateResponse:
    text = f"{description or 'The authorization request is invalid.'}"
    return TemplateResponse("message.html", {"title": "Invalid authorization request", "text": text}, 400)


def sign_in_policy(back: str) -> bytes:
    """Return the policy of the sign-in page; its form may end at an authorized application, or at a static site."""
    path, _, query = back.partition("?")
    parameter = _FORM_TARGETS.get(path)
    address = parse_qs(query).get(parameter, [""])[0] if parameter is not None else ""
    return policy_with_form_target(address) if address else STRICT_POLICY
