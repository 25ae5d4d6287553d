"""Applications, codes and tokens as the protocol's library asks about them."""

import re
from calendar import timegm

from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin
from authlib.oidc.core import AuthorizationCodeMixin

from ingot.accounts.oauth.service import secret_matches
from ingot.accounts.oauth.tables import Application, OAuthCode, OAuthToken
from ingot.core.access.scopes import OAUTH_SCOPES
from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime

DEFAULT_SCOPE = "api"
# A program on the person's machine listens where the system lets it, and cannot say so beforehand (RFC 8252, 7.3). By
# number only: a name such as localhost may lead elsewhere.
_LOOPBACK_PORT = re.compile(r"\A(http://(?:127\.0\.0\.1|\[::1\])):[0-9]{1,5}(?=/|\Z)", re.ASCII)
_GRANT_TYPES = ("authorization_code", "implicit", "password", "refresh_token")


class OAuthClient(ClientMixin):  # type: ignore[misc] # The library has no types.
    """An application, or nobody in particular: who gives a password needs none."""

    def __init__(self, db: Connection, application: Application | None) -> None:
        self._db = db
        self.application = application

    def get_client_id(self) -> str:
        """How the application calls itself."""
        return self.application.uid if self.application else ""

    def get_default_redirect_uri(self) -> str | None:
        """None: where people are led is always said, since it is compared."""
        return None

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """What was asked for, where all of it is allowed; asking for nothing means ``api``."""
        wanted = (scope or "").split() or [DEFAULT_SCOPE]
        allowed = self.application.scopes.split() if self.application else OAUTH_SCOPES
        return " ".join(dict.fromkeys(wanted)) if set(wanted) <= set(allowed) else None

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Exactly what was registered, sign by sign; a program on the person's own machine adds a port if none was."""
        registered = self.application.redirect_uris if self.application is not None else ()
        return redirect_uri in registered or _LOOPBACK_PORT.sub(r"\1", redirect_uri, count=1) in registered

    def check_client_secret(self, client_secret: str) -> bool:
        """Whether the secret is the application's."""
        return self.application is not None and secret_matches(self._db, self.application, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:  # noqa: ARG002 - The library's form.
        """Who can keep a secret has to show it."""
        return method != "none" or (self.application is not None and not self.application.confidential)

    def check_response_type(self, response_type: str) -> bool:
        """Every application may use both."""
        return response_type in ("code", "token")

    def check_grant_type(self, grant_type: str) -> bool:
        """Every application may use all of them."""
        return grant_type in _GRANT_TYPES


class AuthorizationCodeAdapter(AuthorizationCodeMixin):  # type: ignore[misc] # The library has no types.
    """A code that an application brings back."""

    def __init__(self, code: OAuthCode) -> None:
        self.code = code
        self.code_challenge = code.code_challenge
        self.code_challenge_method = code.code_challenge_method

    def get_redirect_uri(self) -> str:
        """Where it was sent to."""
        return self.code.redirect_uri

    def get_scope(self) -> str:
        """What it stands for."""
        return self.code.scopes

    def get_nonce(self) -> str | None:
        """What ties the answer to the question."""
        return self.code.nonce

    def get_auth_time(self) -> int:
        """When the person signed in."""
        return timegm(to_datetime(self.code.signed_in_at).utctimetuple())

    def get_acr(self) -> None:
        """Nothing is promised of how."""

    def get_amr(self) -> None:
        """Nothing is promised of how."""


class RefreshTokenAdapter(TokenMixin):  # type: ignore[misc] # The library has no types.
    """A token that an application wants to renew."""

    def __init__(self, held: OAuthToken) -> None:
        self.held = held

    def check_client(self, client: OAuthClient) -> bool:
        """Whether it is this application's."""
        return self.held.application_id == (client.application.id if client.application else None)

    def get_scope(self) -> str:
        """What it opens."""
        return self.held.scopes
