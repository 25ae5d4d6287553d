"""One exchange with an application, within one unit of work."""

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
"""Status, body and headers, as the library writes them."""


class OAuthRequest(OAuth2Request):  # type: ignore[misc] # The library has no types.
    """What an application sent, wherever it put it."""

    def __init__(self, method: str, sent: dict[str, str], authorization: str) -> None:
        # How people reach us is not the library's to judge: http is allowed, and known to the settings.
        proof = _basic_authorization(authorization)
        super().__init__(method, _ENDPOINT_URL, headers={"Authorization": proof} if proof else {})
        self.payload = BasicOAuth2Payload(sent)
        self._sent = sent

    @property
    def args(self) -> dict[str, str]:
        """All of it: query and form are one here."""
        return self._sent

    @property
    def form(self) -> dict[str, str]:
        """All of it."""
        return self._sent


def _basic_authorization(authorization: str) -> str:
    """The header by which an application proves itself; one that cannot be read proves nothing, and is not ignored."""
    if authorization[:6].lower() != "basic ":
        return ""
    try:
        base64.b64decode(authorization[6:].strip(), validate=True).decode()
    except ValueError:
        return "Basic Og=="
    return authorization


class OAuthServer(AuthorizationServer):  # type: ignore[misc] # The library has no types.
    """What applications may ask, of one connection and for one request."""

    def __init__(
        self,
        db: Connection,
        data: Path,
        base: str,
        proven: User | None = None,
        signed_in_at: Timestamp | None = None,
    ) -> None:
        super().__init__(scopes_supported=list(OAUTH_SCOPES))
        self.signed_in_at = signed_in_at or db.now
        self.db = db
        self.data = data
        self.base = base
        self.authenticated_user = proven
        self.family = secrets.token_hex(16)
        self.register_token_generator("default", _make_token)
        self.register_grant(AuthorizationCodeGrant, [PkceChallenge(required=True), IdTokenExtension(self)])
        self.register_grant(RefreshTokenGrant, [RefreshedIdTokenExtension(self)])
        for grant in (ImplicitGrant, PasswordGrant):
            self.register_grant(grant)

    def query_client(self, client_id: str) -> OAuthClient | None:
        """The application that calls itself so."""
        application = application_by_uid_or_none(self.db, client_id)
        return OAuthClient(self.db, application) if application else None

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        """Keep a token that was just made, and say when that was."""
        application = request.client.application
        made = (token["access_token"], token.get("refresh_token"))
        store_token(self.db, request.user.id, application, token["scope"], *made, self.family)

    def find_client(self, request: Any) -> OAuthClient:
        """The application that is named, which has proven nothing."""
        client = self.query_client(request.payload.client_id or "")
        if client is None:
            raise InvalidClientError(description="The client does not exist on this server.")
        return client

    def authenticate_client(self, request: Any, methods: list[str], endpoint: str = "token") -> Any:
        """The application that proves who it is; one that we do not know has proven nothing either."""
        try:
            return super().authenticate_client(request, methods, endpoint)
        except InvalidClientError as error:
            error.status_code = 401
            raise

    def client_or_anonymous(self, request: Any, methods: list[str]) -> OAuthClient:
        """The application that proves who it is, or nobody where none is named."""
        if not request.payload.client_id and "Authorization" not in request.headers:
            return OAuthClient(self.db, None)
        client: OAuthClient = self.authenticate_client(request, methods)
        return client

    def create_oauth2_request(self, request: Any) -> Any:
        """It is one already."""
        return request

    def handle_response(self, status: int, body: Any, headers: list[tuple[str, str]]) -> OAuthResponse:
        """As it is."""
        return status, body, headers

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Nobody listens."""

    def asked(self, request: OAuthRequest, user: User | None) -> Any:
        """What an application asks a person for; raises where that cannot be, and leads nobody where nobody may be led.

        The application and the address come first: an answer goes only where the application has its own.
        """
        sent = request.payload
        client = self.find_client(request)
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
        return self.get_consent_grant(request, user)

    def authorize(self, request: OAuthRequest, user: User | None) -> OAuthResponse:
        """Where to lead a person who has agreed, or, without one, who has not."""
        grant = self.asked(request, user)
        answer: OAuthResponse = self.create_authorization_response(request, user, grant)
        return answer

    def issue_token(self, request: OAuthRequest) -> OAuthResponse:
        """What an application gets for a code, a password or a token to renew."""
        kind = request.payload.grant_type
        if kind not in _GRANT_TYPES:
            error: OAuth2Error = UnsupportedGrantTypeError("") if kind else InvalidRequestError("Missing 'grant_type'")
            return error.status_code, dict(error.get_body()), []
        try:
            answer: OAuthResponse = self.create_token_response(request)
        except InvalidScopeError as error:
            return error.status_code, dict(error.get_body()), []
        return answer


def _make_token(
    grant_type: str,  # noqa: ARG001 - The library's form.
    client: OAuthClient,
    user: User | None = None,  # noqa: ARG001 - The library's form.
    scope: str | None = None,
    expires_in: int | None = None,  # noqa: ARG001 - All tokens live as long.
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
