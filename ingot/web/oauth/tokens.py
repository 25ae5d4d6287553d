"""OAuth and OpenID Connect endpoints: token, revocation, introspection, userinfo, discovery and keys."""

from typing import Any

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.oauth.claims import discovery_document, mcp_resource_document, user_claims
from ingot.accounts.oauth.queries import token_by_access_token_or_none, token_by_refresh_token_or_none
from ingot.accounts.oauth.registration import (
    RegistrationError,
    read_metadata,
    register_application,
    registration_document,
)
from ingot.accounts.oauth.service import revoke_family
from ingot.accounts.oauth.signing_key import public_keys
from ingot.accounts.oauth.tables import OAuthToken
from ingot.accounts.sessions.password_check import PasswordAttempt, check_password
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.core.access.scopes import OAUTH_SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, to_datetime
from ingot.core.errors import NotFound, Throttled, Unauthenticated
from ingot.core.http.client_networks import client_network
from ingot.core.late_imports import require_modules
from ingot.core.offload import require_blocking_allowed
from ingot.web.oauth.authorization_request import request_params
from ingot.web.page_routes import JsonResponse, PageResponse, PageRoutes, Visit

pages = PageRoutes()
_METHODS = ["client_secret_basic", "client_secret_post", "none"]


@pages.post("/oauth/token", open=True, csrf_exempt=True, for_api_clients=True)
def issue_token(visit: Visit) -> PageResponse:
    """Issue a token for an authorization code, a password or a refresh token."""
    from ingot.accounts.oauth.server import OAuthRequest, OAuthServer

    params = request_params(visit)
    user: User | None = None
    refusal = ""
    if params.get("grant_type") == "password":
        try:
            user = _user_by_password(visit, params)
        except Unauthenticated as error:
            refusal = error.reason
        except Throttled as error:
            text = {"error": "invalid_grant", "error_description": "Too many attempts. Retry later."}
            return JsonResponse(text, 429, [(b"retry-after", b"%d" % error.retry_after)])

    def work(db: Connection) -> Any:
        exchange = OAuthServer(db, visit.settings.data, visit.request.origin.base, user, password_refusal=refusal)
        status, body, headers = exchange.issue_token(OAuthRequest("POST", params, visit.headers.authorization))
        if status == 200:
            body["created_at"] = _seconds(db.now)
        return status, body, headers

    return _json_response(*visit.database.write(work))


def _user_by_password(visit: Visit, params: dict[str, str]) -> User:
    """Return the user with this password; raise Unauthenticated if it is wrong or does not suffice."""
    origin = visit.request.origin
    login, password = params.get("username", ""), params.get("password", "")
    attempt = PasswordAttempt("oauth", login, password, origin.ip, origin.user_agent)
    return check_password(visit.database, visit.settings, attempt)


@pages.post("/oauth/revoke", open=True, csrf_exempt=True, for_api_clients=True)
def revoke_token(visit: Visit) -> PageResponse:
    """Revoke a token with its refresh tokens; succeed if the token does not exist."""

    def work(db: Connection) -> PageResponse:
        application_id, error_response = _authenticated_application(visit, db)
        if error_response is not None:
            return error_response
        token = _token_or_none(db, request_params(visit).get("token", ""))
        if token is not None and token.application_id == application_id:
            revoke_family(db, token.family)
        return JsonResponse({})

    return visit.database.write(work)


@pages.post("/oauth/introspect", open=True, csrf_exempt=True, for_api_clients=True)
def introspect_token(visit: Visit) -> PageResponse:
    """Describe a token of the calling application; report all other tokens as inactive."""

    def work(db: Connection) -> PageResponse:
        application_id, error_response = _authenticated_application(visit, db)
        if error_response is not None or application_id is None:
            return error_response or JsonResponse({"error": "invalid_client"}, 401)
        token = _token_or_none(db, request_params(visit).get("token", ""))
        if token is None or token.application_id != application_id or not _is_active(token, db.now):
            return JsonResponse({"active": False})
        user = user_or_none(db, token.user_id)
        if user is None or user.state != "active":
            return JsonResponse({"active": False})
        claims = {"active": True, "scope": token.scopes, "client_id": token.application_uid, "token_type": "Bearer"}
        claims |= {"sub": str(user.id), "username": user.username, "iat": _seconds(token.created_at)}
        if token.expires_at is not None:
            claims["exp"] = _seconds(token.expires_at)
        return JsonResponse(claims)

    return visit.database.read(work)


@pages.get("/oauth/token/info", open=True, for_api_clients=True)
def show_token_info(visit: Visit, db: Connection) -> PageResponse:
    """Describe the token that authenticates the request."""
    result = _token_and_user(visit, db)
    if isinstance(result, JsonResponse):
        return result
    token, _ = result
    seconds_left = _seconds(token.expires_at) - _seconds(db.now) if token.expires_at else None
    return JsonResponse(
        {
            "resource_owner_id": token.user_id,
            "scope": token.scopes.split(),
            "scopes": token.scopes.split(),
            "expires_in": seconds_left,
            "expires_in_seconds": seconds_left,
            "application": {"uid": token.application_uid} if token.application_uid else None,
            "created_at": _seconds(token.created_at),
        }
    )


@pages.get("/oauth/userinfo", open=True, for_api_clients=True)
def show_userinfo(visit: Visit, db: Connection) -> PageResponse:
    """Return the OpenID Connect claims of the token's user."""
    result = _token_and_user(visit, db)
    if isinstance(result, JsonResponse):
        return result
    token, user = result
    scopes = set(token.scopes.split())
    if "openid" not in scopes:
        challenge = (b"www-authenticate", b'Bearer realm="Ingot", error="insufficient_scope", scope="openid"')
        return JsonResponse({"error": "insufficient_scope", "scope": "openid"}, 403, [challenge])
    return JsonResponse(user_claims(db, user, scopes, visit.request.origin.base))


@pages.post("/oauth/userinfo", open=True, csrf_exempt=True, for_api_clients=True)
def show_userinfo_by_post(visit: Visit) -> PageResponse:
    """Return the OpenID Connect claims of the token's user."""
    return visit.database.read(lambda db: show_userinfo(visit, db))


@pages.get("/.well-known/openid-configuration", open=True, for_api_clients=True)
def show_discovery_document(visit: Visit, db: Connection) -> PageResponse:
    """Return the OpenID Connect discovery document."""
    registers = cached_all_settings(db).dynamic_client_registration_enabled
    return JsonResponse(discovery_document(visit.request.origin.base, OAUTH_SCOPES, registers_clients=registers))


@pages.get("/.well-known/oauth-authorization-server", open=True, for_api_clients=True)
def show_authorization_server_metadata(visit: Visit, db: Connection) -> PageResponse:
    """Return the discovery document at the URL of RFC 8414."""
    return show_discovery_document(visit, db)


@pages.get("/.well-known/oauth-protected-resource", open=True, for_api_clients=True)
@pages.get("/.well-known/oauth-protected-resource/api/v4/mcp", open=True, for_api_clients=True)
def show_protected_resource_metadata(visit: Visit) -> PageResponse:
    """Return the metadata of the endpoint of the Model Context Protocol."""
    return JsonResponse(mcp_resource_document(visit.request.origin.base))


@pages.post("/oauth/register", open=True, csrf_exempt=True, for_api_clients=True)
def register_client(visit: Visit) -> PageResponse:
    """Register the calling client as a public application, which users must still authorize."""
    if not visit.database.read(cached_all_settings).dynamic_client_registration_enabled:
        raise NotFound
    try:
        metadata = read_metadata(visit.request.form)
    except RegistrationError as error:
        return JsonResponse({"error": error.code, "error_description": str(error)}, 400)
    network = client_network(visit.request.origin.ip)
    try:
        application = visit.database.write(lambda db: register_application(db, metadata, network))
    except Throttled as error:
        text = {"error": "temporarily_unavailable", "error_description": "Too many clients have registered."}
        return JsonResponse(text, 429, [(b"retry-after", b"%d" % error.retry_after)])
    return JsonResponse(registration_document(application), 201)


@pages.get("/oauth/discovery/keys", open=True, for_api_clients=True)
def show_signing_keys(visit: Visit) -> PageResponse:
    """Return the public keys that verify ID tokens."""
    require_blocking_allowed()
    return JsonResponse(public_keys(visit.settings.data))


def _authenticated_application(visit: Visit, db: Connection) -> tuple[int | None, JsonResponse | None]:
    """Return the id of the authenticated application (None if anonymous), or the error response."""
    require_modules("ingot.accounts.oauth.server")
    from ingot.accounts.oauth.server import OAuth2Error, OAuthRequest, OAuthServer

    exchange = OAuthServer(db, visit.settings.data, visit.request.origin.base)
    try:
        client = exchange.client_or_anonymous(
            OAuthRequest("POST", request_params(visit), visit.headers.authorization), _METHODS
        )
    except OAuth2Error as error:
        return None, _json_response(*error(None))
    return client.application.id if client.application else None, None


def _token_or_none(db: Connection, token: str) -> OAuthToken | None:
    return token_by_access_token_or_none(db, token) or token_by_refresh_token_or_none(db, token) if token else None


def _token_and_user(visit: Visit, db: Connection) -> tuple[OAuthToken, User] | JsonResponse:
    """Return the token of the request and its user, or the error response."""
    value = visit.headers.credentials.token or request_params(visit).get("access_token", "")
    token = token_by_access_token_or_none(db, value) if value else None
    user = user_or_none(db, token.user_id) if token is not None and _is_active(token, db.now) else None
    if token is None or user is None or user.state != "active":
        text = {"error": "invalid_token", "error_description": "The access token is invalid, expired or revoked."}
        return JsonResponse(text, 401, [(b"www-authenticate", b'Bearer realm="Ingot", error="invalid_token"')])
    return token, user


def _is_active(token: OAuthToken, now: Timestamp) -> bool:
    return not token.revoked and (token.expires_at is None or token.expires_at > now)


def _seconds(stamp: Timestamp) -> int:
    return int(to_datetime(stamp).timestamp())


def _json_response(status: int, body: Any, headers: Any) -> JsonResponse:
    own_headers = [
        (name.lower().encode(), value.encode()) for name, value in headers if name.lower() == "www-authenticate"
    ]
    return JsonResponse(body, status, own_headers)
