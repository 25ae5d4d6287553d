"""OAuth grants: authlib implements the protocol; these classes add storage and permissions."""

import secrets
from typing import Any

from authlib.oauth2.rfc6749 import InvalidClientError, InvalidGrantError, InvalidRequestError, InvalidScopeError, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.accounts.oauth.claims import user_claims
from ingot.accounts.oauth.clients import AuthorizationCodeAdapter, OAuthClient, RefreshTokenAdapter
from ingot.accounts.oauth.queries import code_or_none, is_refused_to_administrator, token_by_refresh_token_or_none
from ingot.accounts.oauth.service import create_code, redeem_code, redeem_refresh_token, revoke_family
from ingot.accounts.oauth.signing_key import ALGORITHM, signing_key
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User

_CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
_MAX_NONCE_LENGTH = 1000


_UNUSABLE = "The provided authorization grant is invalid, expired, revoked, or was issued to another client."


def invalid_grant_error(status: int = 400, reason: str = "") -> InvalidGrantError:
    """Return the error for an unusable grant; without a reason it does not reveal what is wrong."""
    return InvalidGrantError(reason or _UNUSABLE, status_code=status)


def _active_user(grant: Any, user_id: int) -> User:
    """Return the user on whose behalf an application acts; raise invalid_grant unless they are active."""
    user = user_or_none(grant.server.db, user_id)
    if user is None or user.state != "active" or user.placeholder:
        raise invalid_grant_error(401)
    return user


class AuthorizationCodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc] # The library has no types.
    """Authorization code grant: the user consents in the browser, then the application exchanges a code for a token."""

    TOKEN_ENDPOINT_AUTH_METHODS = _CLIENT_AUTH_METHODS

    def save_authorization_code(self, code: str, request: Any) -> None:
        """Store the code with its PKCE challenge and nonce."""
        sent = request.payload.data
        challenge = sent.get("code_challenge") or None
        method = (sent.get("code_challenge_method") or "plain") if challenge else None
        create_code(
            self.server.db,
            request.client.application,
            request.user.id,
            code,
            request.payload.redirect_uri,
            request.scope,
            (challenge, method),
            (sent.get("nonce") or "")[:_MAX_NONCE_LENGTH] or None,
            self.server.signed_in_at,
        )

    def query_authorization_code(self, code: str, client: OAuthClient) -> AuthorizationCodeAdapter | None:
        """Return the application's unexpired code; a reused code may be stolen, so its tokens are revoked."""
        db = self.server.db
        stored = code_or_none(db, code)
        if stored is None or client.application is None or stored.application_id != client.application.id:
            return None
        if stored.used:
            revoke_family(db, stored.family)
            return None
        return AuthorizationCodeAdapter(stored) if stored.expires_at > db.now else None

    def authenticate_user(self, authorization_code: AuthorizationCodeAdapter) -> User:
        """Mark the code as used and return its user."""
        self.server.family = authorization_code.code.family
        if not redeem_code(self.server.db, authorization_code.code):
            raise invalid_grant_error()
        return _active_user(self, authorization_code.code.user_id)

    def delete_authorization_code(self, authorization_code: AuthorizationCodeAdapter) -> None:
        """Do nothing: the used code stays, so that a second use can be detected."""


class ImplicitGrant(grants.ImplicitGrant):  # type: ignore[misc] # The library has no types.
    """Implicit grant: the user consents in the browser and the application gets its token in the redirect."""

    def authenticate_token_endpoint_client(self) -> OAuthClient:
        """Return the named application without a secret: the token is sent only to a registered redirect URI."""
        client: OAuthClient = self.server.find_client(self.request)
        return client


class PasswordGrant(grants.ResourceOwnerPasswordCredentialsGrant):  # type: ignore[misc] # The library has no types.
    """Resource owner password grant; the application is optional."""

    TOKEN_ENDPOINT_AUTH_METHODS = _CLIENT_AUTH_METHODS

    def authenticate_token_endpoint_client(self) -> OAuthClient:
        """Return the authenticated application, or the anonymous client if the instance allows it."""
        client: OAuthClient = self.server.client_or_anonymous(self.request, _CLIENT_AUTH_METHODS)
        if client.application is None and not cached_all_settings(self.server.db).ropc_without_client_credentials:
            raise InvalidClientError(status_code=401)
        return client

    def authenticate_user(self, username: str, password: str) -> User:  # noqa: ARG002 - Checked ahead.
        """Return the user whose password was verified before the transaction began."""
        if self.server.authenticated_user is None:
            raise invalid_grant_error(401, self.server.password_refusal)
        user: User = self.server.authenticated_user
        if is_refused_to_administrator(self.server.db, user, self.request.payload.scope):
            raise InvalidScopeError("Administrators of this instance cannot grant these scopes.")
        return user


class RefreshTokenGrant(grants.RefreshTokenGrant):  # type: ignore[misc] # The library has no types.
    """Refresh token grant; the previous tokens are revoked."""

    TOKEN_ENDPOINT_AUTH_METHODS = _CLIENT_AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_token_endpoint_client(self) -> OAuthClient:
        """Return the authenticated application; the anonymous client for tokens of the password grant."""
        client: OAuthClient = self.server.client_or_anonymous(self.request, _CLIENT_AUTH_METHODS)
        return client

    def authenticate_refresh_token(self, refresh_token: str) -> RefreshTokenAdapter | None:
        """Return the token that the refresh token belongs to."""
        token = token_by_refresh_token_or_none(self.server.db, refresh_token)
        return RefreshTokenAdapter(token) if token is not None else None

    def authenticate_user(self, refresh_token: RefreshTokenAdapter) -> User:
        """Revoke the previous token and return its user."""
        self.server.family = refresh_token.token.family
        if not redeem_refresh_token(self.server.db, refresh_token.token):
            raise invalid_grant_error()
        return _active_user(self, refresh_token.token.user_id)

    def revoke_old_credential(self, refresh_token: RefreshTokenAdapter) -> None:
        """Do nothing: the previous token was revoked before the new one was issued."""


class PkceChallenge(CodeChallenge):  # type: ignore[misc] # The library has no types.
    """PKCE (RFC 7636); required with the method S256 for applications that cannot keep a secret."""

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        """Refuse an authorization request of a public application without a challenge or with a plain one.

        A plain challenge is the verifier itself, so that an attacker who sees the request can redeem the code.
        """
        sent = grant.request.payload.data
        if not grant.request.client.application.confidential:
            if not sent.get("code_challenge"):
                raise InvalidRequestError("Missing 'code_challenge'")
            if sent.get("code_challenge_method") != "S256":
                raise InvalidRequestError("The 'code_challenge_method' must be 'S256'")
        super().validate_code_challenge(grant, redirect_uri)

    def validate_code_verifier(self, grant: Any, result: Any) -> None:
        """Refuse a code without its verifier: it may be stolen."""
        try:
            super().validate_code_verifier(grant, result)
        except InvalidRequestError:
            raise invalid_grant_error() from None


class IdTokenExtension(OpenIDCode):  # type: ignore[misc] # The library has no types.
    """Adds a signed ID token to the response if the scope ``openid`` was granted."""

    def __init__(self, server: Any) -> None:
        super().__init__(require_nonce=False)
        self._server = server

    def exists_nonce(self, nonce: str, request: Any) -> bool:  # noqa: ARG002 - The library's form.
        """Return False: a code works only once, so a nonce cannot be replayed."""
        return False

    def resolve_client_private_key(self, client: OAuthClient) -> Any:  # noqa: ARG002 - One key for all.
        """Return the instance's signing key."""
        return signing_key(self._server.data)

    def get_encode_header(self, client: OAuthClient) -> dict[str, str]:  # noqa: ARG002 - One key for all.
        """Return the JWT header with the key's id."""
        return {"alg": ALGORITHM, "kid": signing_key(self._server.data).thumbprint()}

    def get_client_claims(self, client: OAuthClient) -> dict[str, Any]:
        """Return issuer, audience and token id."""
        return {"iss": self._server.base, "aud": client.get_client_id(), "jti": secrets.token_hex(16)}

    def generate_user_info(self, user: User, scope: str) -> dict[str, Any]:
        """Return the claims about the user."""
        return user_claims(self._server.db, user, set(scope.split()), self._server.base)


class RefreshedIdTokenExtension(IdTokenExtension):
    """Adds an ID token to refresh responses, without the claims that bind it to the authorization request."""

    def __call__(self, grant: Any) -> None:
        """Register only the response hook: a refresh involves no consent."""
        grant.register_hook("after_create_token_response", self._process)

    def _process(self, grant: Any, response: Any) -> None:
        # Tokens of the password grant without an application have no audience, which an ID token requires.
        if response[0] == 200 and grant.request.client.application is not None:
            self.process_token(grant, response)

    def get_compatible_claims(self, request: Any) -> dict[str, Any]:
        """Omit ``auth_time``: authlib only knows the time of this refresh, not of the sign-in."""
        claims: dict[str, Any] = super().get_compatible_claims(request)
        claims.pop("auth_time", None)
        return claims
