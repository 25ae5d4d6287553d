"""The ways to a token: the protocol is the library's, what is stored and who may is ours."""

import secrets
from typing import Any

from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidRequestError, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode

from ingot.accounts.oauth.claims import user_claims
from ingot.accounts.oauth.clients import AuthorizationCodeAdapter, OAuthClient, RefreshTokenAdapter
from ingot.accounts.oauth.queries import code_or_none, token_by_refresh_token_or_none
from ingot.accounts.oauth.service import create_code, redeem_code, redeem_refresh_token, revoke_family
from ingot.accounts.oauth.signing_key import ALGORITHM, signing_key
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User

_CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "none"]
_MAX_NONCE_LENGTH = 1000


def invalid_grant_error(status: int = 400) -> InvalidGrantError:
    """What is brought opens nothing; why is nobody's business."""
    return InvalidGrantError(
        "The provided authorization grant is invalid, expired, revoked, or was issued to another client.",
        status_code=status,
    )


def _active_user(grant: Any, user_id: int) -> User:
    """The user for whom an application acts, as long as they may act themselves."""
    user = user_or_none(grant.server.db, user_id)
    if user is None or user.state != "active" or user.placeholder:
        raise invalid_grant_error(401)
    return user


class AuthorizationCodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc] # The library has no types.
    """A person agrees in the browser, and the application trades what it gets there for a token."""

    TOKEN_ENDPOINT_AUTH_METHODS = _CLIENT_AUTH_METHODS

    def save_authorization_code(self, code: str, request: Any) -> None:
        """Keep what the code stands for."""
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
        """The code, if it is this application's and still good; one that comes twice has been stolen."""
        db = self.server.db
        found = code_or_none(db, code)
        if found is None or client.application is None or found.application_id != client.application.id:
            return None
        if found.used:
            revoke_family(db, found.family)
            return None
        return AuthorizationCodeAdapter(found) if found.expires_at > db.now else None

    def authenticate_user(self, authorization_code: AuthorizationCodeAdapter) -> User:
        """For whom it is; from here on the code is used."""
        self.server.family = authorization_code.code.family
        if not redeem_code(self.server.db, authorization_code.code):
            raise invalid_grant_error()
        return _active_user(self, authorization_code.code.user_id)

    def delete_authorization_code(self, authorization_code: AuthorizationCodeAdapter) -> None:
        """Nothing: it stays, so that a second use of it shows."""


class ImplicitGrant(grants.ImplicitGrant):  # type: ignore[misc] # The library has no types.
    """A person agrees in the browser, and the application gets its token right there."""

    def authenticate_token_endpoint_client(self) -> OAuthClient:
        """Whoever the application says it is: the token goes only to an address that it has registered."""
        client: OAuthClient = self.server.find_client(self.request)
        return client


class PasswordGrant(grants.ResourceOwnerPasswordCredentialsGrant):  # type: ignore[misc] # The library has no types.
    """A person gives name and password; an application may say which it is, but need not."""

    TOKEN_ENDPOINT_AUTH_METHODS = _CLIENT_AUTH_METHODS

    def authenticate_token_endpoint_client(self) -> OAuthClient:
        """The application, or nobody in particular."""
        client: OAuthClient = self.server.client_or_anonymous(self.request, _CLIENT_AUTH_METHODS)
        return client

    def authenticate_user(self, username: str, password: str) -> User:  # noqa: ARG002 - Checked ahead.
        """Whom the password proved, before the transaction began."""
        if self.server.authenticated_user is None:
            raise invalid_grant_error(401)
        user: User = self.server.authenticated_user
        return user


class RefreshTokenGrant(grants.RefreshTokenGrant):  # type: ignore[misc] # The library has no types.
    """An application renews a token; the one before ends."""

    TOKEN_ENDPOINT_AUTH_METHODS = _CLIENT_AUTH_METHODS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_token_endpoint_client(self) -> OAuthClient:
        """The application, or nobody in particular for what a password opened."""
        client: OAuthClient = self.server.client_or_anonymous(self.request, _CLIENT_AUTH_METHODS)
        return client

    def authenticate_refresh_token(self, refresh_token: str) -> RefreshTokenAdapter | None:
        """The token to renew."""
        held = token_by_refresh_token_or_none(self.server.db, refresh_token)
        return RefreshTokenAdapter(held) if held is not None else None

    def authenticate_user(self, refresh_token: RefreshTokenAdapter) -> User:
        """For whom it is; from here on the token before has ended."""
        self.server.family = refresh_token.held.family
        if not redeem_refresh_token(self.server.db, refresh_token.held):
            raise invalid_grant_error()
        return _active_user(self, refresh_token.held.user_id)

    def revoke_old_credential(self, refresh_token: RefreshTokenAdapter) -> None:
        """Nothing: it ended before the new one was made."""


class PkceChallenge(CodeChallenge):  # type: ignore[misc] # The library has no types.
    """Ties a code to who asked for it; programs that cannot keep a secret must use it."""

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        """Refuse such a program already when it asks."""
        application = grant.request.client.application
        if not application.confidential and not grant.request.payload.data.get("code_challenge"):
            raise InvalidRequestError("Missing 'code_challenge'")
        super().validate_code_challenge(grant, redirect_uri)

    def validate_code_verifier(self, grant: Any, result: Any) -> None:
        """Whoever cannot show what belongs to the challenge has stolen the code."""
        try:
            super().validate_code_verifier(grant, result)
        except InvalidRequestError:
            raise invalid_grant_error() from None


class IdTokenExtension(OpenIDCode):  # type: ignore[misc] # The library has no types.
    """Says in a signed text who the person is, where an application asked for that."""

    def __init__(self, server: Any) -> None:
        super().__init__(require_nonce=False)
        self._server = server

    def exists_nonce(self, nonce: str, request: Any) -> bool:  # noqa: ARG002 - The library's form.
        """A code works once, and so does what is tied to it."""
        return False

    def resolve_client_private_key(self, client: OAuthClient) -> Any:  # noqa: ARG002 - One key for all.
        """The instance's key."""
        return signing_key(self._server.data)

    def get_encode_header(self, client: OAuthClient) -> dict[str, str]:  # noqa: ARG002 - One key for all.
        """Which key it is."""
        return {"alg": ALGORITHM, "kid": signing_key(self._server.data).thumbprint()}

    def get_client_claims(self, client: OAuthClient) -> dict[str, Any]:
        """Who says so, and to whom."""
        return {"iss": self._server.base, "aud": client.get_client_id(), "jti": secrets.token_hex(16)}

    def generate_user_info(self, user: User, scope: str) -> dict[str, Any]:
        """Who the person is."""
        return user_claims(self._server.db, user, set(scope.split()), self._server.base)


class RefreshedIdTokenExtension(IdTokenExtension):
    """Says it again of the same person when a token is renewed; what tied the first to a request is left out."""

    def __call__(self, grant: Any) -> None:
        """Only the answer is added to: nobody asks for consent here."""
        grant.register_hook("after_create_token_response", self._process)

    def _process(self, grant: Any, response: Any) -> None:
        # What a password opened belongs to no application, so that nobody could be named as who it is meant for.
        if response[0] == 200 and grant.request.client.application is not None:
            self.process_token(grant, response)

    def get_compatible_claims(self, request: Any) -> dict[str, Any]:
        """Without when they signed in: the library knows only the time of this renewal."""
        claims: dict[str, Any] = super().get_compatible_claims(request)
        claims.pop("auth_time", None)
        return claims
