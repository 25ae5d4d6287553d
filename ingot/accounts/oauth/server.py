"""OAuth 2 authorization server, created per request and bound to its transaction."""

import base64
import secrets
from pathlib import Path
from typing import Any

from authlib.oauth2.rfc6749 import AuthorizationServer, InvalidClientError, InvalidRequestError, OAuth2Request
from authlib.oauth2.rfc6749.errors import (
    InvalidScopeError,
    OAuth2Error,
    UnsupportedGrantTypeError,
    UnsupportedResponseTypeError,
)
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oidc.core.errors import ConsentRequiredError, LoginRequiredError

from ingot.accounts.oauth.clients import OAuthClient
from ingot.accounts.oauth.grants import (
    AuthorizationCodeGrant,
    IdTokenExtension,
    ImplicitGrant,
    PasswordGrant,
    PkceChallenge,
    RefreshedIdTokenExtension,
    RefreshTokenGrant,
)
from ingot.accounts.oauth.queries import application_by_uid_or_none
from ingot.accounts.oauth.service import TOKEN_SECONDS, store_token
from ingot.accounts.users.tables import User
from ingot.core.access.scopes import OAUTH_SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp

__all__ = ["ConsentRequiredError", "LoginRequiredError", "OAuth2Error", "OAuthServer"]

_ENDPOINT_URL = "https://localhost/oauth"
_GRANT_TYPES = ("authorization_code", "password", "refresh_token")
_TOKEN_PREFIX = "ingoto-"  # noqa: S105 - A public prefix, not a secret.

OAuthResponse = tuple[int, Any, list[tuple[str, str]]]
"""Status, body and headers, in authlib's format."""


class InvalidTargetError(OAuth2Error):  # type: ignore[misc] # The library has no types.
    """Refusal of a token for a resource of another server (RFC 8707)."""

    error = "invalid_target"
    description = "The resource is not on this server."


class OAuthRequest(OAuth2Request):  # type: ignore[misc] # The library has no types.
    """Parameters of an OAuth request, from the query and the form alike."""

    def __init__(self, method: str, sent: dict[str, str], authorization: str) -> None:
        # authlib refuses http URLs, but the settings decide whether http is allowed; so it gets a fixed https URL.
        header = _basic_authorization(authorization)
        super().__init__(method, _ENDPOINT_URL, headers={"Authorization": header} if header else {})
        self.payload = BasicOAuth2Payload(sent)
        self._sent = sent

    @property
    def args(self) -> dict[str, str]:
        """Return all parameters: query and form are merged."""
        return self._sent

    @property
    def form(self) -> dict[str, str]:
        """Return all parameters."""
        return self._sent


def _basic_authorization(authorization: str) -> str:
    """Return the Basic authorization header; a malformed one becomes empty credentials, so that it is refused."""
    if authorization[:6].lower() != "basic ":
        return ""
    try:
        base64.b64decode(authorization[6:].strip(), validate=True).decode()
    except ValueError:
        return "Basic Og=="
    return authorization


class OAuthServer(AuthorizationServer):  # type: ignore[misc] # The library has no types.
    """Authorization server for one request on one database connection."""

    def __init__(
        self,
        db: Connection,
        data: Path,
        base: str,
        authenticated_user: User | None = None,
        signed_in_at: Timestamp | None = None,
        password_refusal: str = "",
    ) -> None:
        super().__init__(scopes_supported=list(OAUTH_SCOPES))
        self.password_refusal = password_refusal
        """Why a correct password does not suffice; empty if it is wrong."""
        self.signed_in_at = signed_in_at or db.now
        self.db = db
        self.data = data
        self.base = base
        self.authenticated_user = authenticated_user
        self.family = secrets.token_hex(16)
        self.register_token_generator("default", _make_token)
        self.register_grant(AuthorizationCodeGrant, [PkceChallenge(required=True), IdTokenExtension(self)])
        self.register_grant(RefreshTokenGrant, [RefreshedIdTokenExtension(self)])
        for grant in (ImplicitGrant, PasswordGrant):
            self.register_grant(grant)

    def query_client(self, client_id: str) -> OAuthClient | None:
        """Return the application with this client id."""
        application = application_by_uid_or_none(self.db, client_id)
        return OAuthClient(self.db, application) if application else None

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        """Store a new token."""
        application = request.client.application
        issued = (token["access_token"], token.get("refresh_token"))
        store_token(self.db, request.user.id, application, token["scope"], *issued, self.family)

    def find_client(self, request: Any) -> OAuthClient:
        """Return the named application without authenticating it; raise invalid_client if it does not exist."""
        client = self.query_client(request.payload.client_id or "")
        if client is None:
            raise InvalidClientError(description="The client does not exist on this server.")
        return client

    def authenticate_client(self, request: Any, methods: list[str], endpoint: str = "token") -> Any:
        """Return the authenticated application; answer 401 for an unknown application too."""
        try:
            return super().authenticate_client(request, methods, endpoint)
        except InvalidClientError as error:
            error.status_code = 401
            raise

    def client_or_anonymous(self, request: Any, methods: list[str]) -> OAuthClient:
        """Return the authenticated application, or the anonymous client if the request names none."""
        if not request.payload.client_id and "Authorization" not in request.headers:
            return OAuthClient(self.db, None)
        client: OAuthClient = self.authenticate_client(request, methods)
        return client

    def create_oauth2_request(self, request: Any) -> Any:
        """Return the request unchanged."""
        return request

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> OAuthResponse:
        """Return the response as a tuple."""
        return status, body, headers

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do nothing: there are no receivers."""

    def validate_authorization_request(self, request: OAuthRequest, user: User | None) -> Any:
        """Return the grant of a valid authorization request; raise OAuth2Error otherwise.

        The application and its redirect URI are checked first: later errors redirect, and only to a registered URI.
        Those of a client that registered itself have no redirect URI (RFC 9700, 4.11.2): anybody can register an
        address, and a user should not get there without having seen a page of this server.
        """
        client = self.find_client(request)
        try:
            return self._validated_grant(request, client, user)
        except OAuth2Error as error:
            if client.registered_itself:
                error.redirect_uri = None
            raise

    def _validated_grant(self, request: OAuthRequest, client: OAuthClient, user: User | None) -> Any:
        sent = request.payload
        if not client.check_redirect_uri(sent.redirect_uri or ""):
            raise InvalidRequestError("The redirect URI included is not valid.")
        if sent.response_type not in ("code", "token"):
            raise UnsupportedResponseTypeError(
                "",
                "The authorization server does not support this response type.",
                redirect_uri=sent.redirect_uri,
                state=sent.state,
            )
        if (sent.data.get("response_mode") or "query") not in ("query", "fragment"):
            raise InvalidRequestError(
                "This response mode is not supported.", redirect_uri=sent.redirect_uri, state=sent.state
            )
        if not self._serves(sent.data.get("resource") or ""):
            raise InvalidTargetError(redirect_uri=sent.redirect_uri, state=sent.state)
        return self.get_consent_grant(request, user)

    def _serves(self, resource: str) -> bool:
        """Return whether a resource for which a token is requested (RFC 8707) is on this server, or none is named."""
        return not resource or f"{resource}/".startswith(f"{self.base}/")

    def authorize(self, request: OAuthRequest, user: User | None) -> OAuthResponse:
        """Return the redirect after the user consented, or after they refused if ``user`` is None."""
        grant = self.validate_authorization_request(request, user)
        response: OAuthResponse = self.create_authorization_response(request, user, grant)
        return response

    def issue_token(self, request: OAuthRequest) -> OAuthResponse:
        """Return the token response for a code, a password or a refresh token."""
        kind = request.payload.grant_type
        if kind not in _GRANT_TYPES:
            error: OAuth2Error = UnsupportedGrantTypeError("") if kind else InvalidRequestError("Missing 'grant_type'")
            return error.status_code, dict(error.get_body()), []
        if not self._serves(request.payload.data.get("resource") or ""):
            return 400, dict(InvalidTargetError().get_body()), []
        try:
            response: OAuthResponse = self.create_token_response(request)
        except InvalidScopeError as error:
            return error.status_code, dict(error.get_body()), []
        return response


def _make_token(
    grant_type: str,  # noqa: ARG001 - The library's form.
    client: OAuthClient,
    user: User | None = None,  # noqa: ARG001 - The library's form.
    scope: str | None = None,
    expires_in: int | None = None,  # noqa: ARG001 - All tokens have the same lifetime.
    include_refresh_token: bool = True,
) -> dict[str, Any]:
    allowed = client.get_allowed_scope(scope)
    if allowed is None:
        raise InvalidScopeError
    token: dict[str, Any] = {
        "access_token": _TOKEN_PREFIX + secrets.token_urlsafe(32),
        "token_type": "bearer",
        "expires_in": TOKEN_SECONDS,
    }
    if include_refresh_token:
        token["refresh_token"] = secrets.token_hex(32)
    token["scope"] = allowed
    return token
