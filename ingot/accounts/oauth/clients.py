"""Adapters of applications, authorization codes and tokens to the interfaces of authlib."""

import re
from calendar import timegm

from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin
from authlib.oidc.core import AuthorizationCodeMixin

from ingot.accounts.oauth.service import secret_matches
from ingot.accounts.oauth.tables import Application, OAuthCode, OAuthToken
from ingot.core.access.scopes import MCP_SCOPE, OAUTH_SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime

DEFAULT_SCOPE = "api"
# Native applications listen on another port each time (RFC 8252, 7.3), so that of a registration does not count. Only
# numeric loopback addresses are accepted: a name such as localhost may resolve to another host.
_LOOPBACK_PORT = re.compile(r"\A(http://(?:127\.0\.0\.1|\[::1\])):[0-9]{1,5}(?=/|\Z)", re.ASCII)
_GRANT_TYPES = ("authorization_code", "implicit", "password", "refresh_token")
_CONSENTED_GRANT_TYPES = ("authorization_code", "refresh_token")


class OAuthClient(ClientMixin):  # type: ignore[misc] # The library has no types.
    """An application, or an anonymous client: the password grant needs no application."""

    def __init__(self, db: Connection, application: Application | None) -> None:
        self._db = db
        self.application = application

    def get_client_id(self) -> str:
        """Return the application's client id; empty for the anonymous client."""
        return self.application.uid if self.application else ""

    def get_default_redirect_uri(self) -> str | None:
        """Return None: every request must name its redirect URI, because it is compared with the registered ones."""
        return None

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """Return the requested scopes if all are allowed, otherwise None; no scope means ``api``, or ``mcp``.

        A client that registered itself cannot have ``api``; without a scope it gets the one for agents.
        """
        default = MCP_SCOPE if self.registered_itself else DEFAULT_SCOPE
        requested = (scope or "").split() or [default]
        allowed = self.application.scopes.split() if self.application else OAUTH_SCOPES
        return " ".join(dict.fromkeys(requested)) if set(requested) <= set(allowed) else None

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Check for an exact match with a registered URI; that of a loopback address may have any port."""
        registered = self.application.redirect_uris if self.application is not None else ()
        return redirect_uri in registered or _without_port(redirect_uri) in map(_without_port, registered)

    def check_client_secret(self, client_secret: str) -> bool:
        """Check the application's secret."""
        return self.application is not None and secret_matches(self._db, self.application, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:  # noqa: ARG002 - The library's form.
        """Require the secret from confidential applications."""
        return method != "none" or (self.application is not None and not self.application.confidential)

    def check_response_type(self, response_type: str) -> bool:
        """Allow ``code`` for every application, and ``token`` (the implicit grant) only for confidential ones.

        A redirect to a public application can be intercepted. PKCE protects a code from this, but nothing a token.
        """
        confidential = self.application is not None and self.application.confidential
        return response_type == "code" or (response_type == "token" and confidential)

    def check_grant_type(self, grant_type: str) -> bool:
        """Allow all supported grant types, but to a client that registered itself only those that need consent."""
        return grant_type in (_CONSENTED_GRANT_TYPES if self.registered_itself else _GRANT_TYPES)

    @property
    def registered_itself(self) -> bool:
        """Whether nobody has looked at the application before users do."""
        return self.application is not None and self.application.dynamic


class AuthorizationCodeAdapter(AuthorizationCodeMixin):  # type: ignore[misc] # The library has no types.
    """An authorization code that an application exchanges for a token."""

    def __init__(self, code: OAuthCode) -> None:
        self.code = code
        self.code_challenge = code.code_challenge
        self.code_challenge_method = code.code_challenge_method

    def get_redirect_uri(self) -> str:
        """Return the redirect URI of the authorization request."""
        return self.code.redirect_uri

    def get_scope(self) -> str:
        """Return the granted scopes."""
        return self.code.scopes

    def get_nonce(self) -> str | None:
        """Return the nonce that binds the ID token to the authorization request."""
        return self.code.nonce

    def get_auth_time(self) -> int:
        """Return when the user signed in."""
        return timegm(to_datetime(self.code.signed_in_at).utctimetuple())

    def get_acr(self) -> None:
        """Return None: no authentication context class is asserted."""

    def get_amr(self) -> None:
        """Return None: no authentication method is asserted."""


class RefreshTokenAdapter(TokenMixin):  # type: ignore[misc] # The library has no types.
    """A refresh token that an application redeems."""

    def __init__(self, token: OAuthToken) -> None:
        self.token = token

    def check_client(self, client: OAuthClient) -> bool:
        """Check whether the token was issued to this application."""
        return self.token.application_id == (client.application.id if client.application else None)

    def get_scope(self) -> str:
        """Return the token's scopes."""
        return self.token.scopes


def _without_port(address: str) -> str:
    """Return a loopback address without its port, and any other as it is."""
    return _LOOPBACK_PORT.sub(r"\1", address, count=1)
