"""OpenID Connect client: the URL that users are sent to, and the verification of the identity they return with."""

import base64
import hashlib
import time
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from ingot.accounts.identity_providers.identities import ProviderIdentity
from ingot.core.outgoing.errors import RequestFailed, RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.settings import Settings

PROVIDER = "openid_connect"
SCOPES = "openid profile email"
# No symmetric algorithms: knowledge of the client secret must not suffice to forge identities.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_LEEWAY_SECONDS = 60
_MAX_BYTES = 256 * 1024
_DEADLINE_SECONDS = 10.0


class ProviderError(Exception):
    """Failure of the provider; the message is a sentence for the user and contains no secret."""


class OpenIdProvider:
    """Provider of the settings; all requests to it pass the SSRF guard."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._guard = SsrfGuard(settings.allow_local_requests, settings.allowed_outgoing_networks)
        self._issuer = settings.oidc_issuer.rstrip("/")

    def authorization_url(self, redirect_uri: str, state: str, nonce: str, verifier: str) -> str:
        """Return the URL at the provider that starts a sign-in."""
        digest = hashlib.sha256(verifier.encode()).digest()
        parameters = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": redirect_uri,
            "scope": SCOPES,
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        endpoint = self._endpoint(self._discover(), "authorization_endpoint")
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"

    def fetch_identity(self, code: str, redirect_uri: str, nonce: str, verifier: str) -> ProviderIdentity:
        """Exchange an authorization code for tokens and return the verified identity."""
        metadata = self._discover()
        token = self._exchange_code(metadata, code, redirect_uri, verifier)
        claims = self._verified_claims(metadata, str(token.get("id_token", "")), nonce)
        if "email" not in claims and metadata.get("userinfo_endpoint"):
            user_info = self._request(
                self._endpoint(metadata, "userinfo_endpoint"),
                headers={"Authorization": f"Bearer {token.get('access_token', '')}"},
            )
            if user_info.get("sub") == claims["sub"]:
                claims = {**user_info, **claims}
        email = claims.get("email") if claims.get("email_verified") in (True, "true") else ""
        username = claims.get("preferred_username") or claims.get("nickname") or ""
        return ProviderIdentity(PROVIDER, str(claims["sub"]), _text(username), _text(claims.get("name")), _text(email))

    def _exchange_code(self, metadata: dict[str, Any], code: str, redirect_uri: str, verifier: str) -> dict[str, Any]:
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        name, secret = self._settings.oidc_client_id, self._settings.oidc_client_secret
        methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if secret and "client_secret_basic" in methods:
            pair = f"{quote(name, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            fields |= {"client_id": name, **({"client_secret": secret} if secret else {})}
        endpoint = self._endpoint(metadata, "token_endpoint")
        return self._request(endpoint, "POST", headers, urlencode(fields).encode())

    def _verified_claims(self, metadata: dict[str, Any], id_token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of an ID token after checking its signature, issuer, audience, nonce and times."""
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            keys = KeySet.import_key_set(self._request(self._endpoint(metadata, "jwks_uri")))  # type: ignore[arg-type] # Checked by it.
            token = jwt.decode(id_token, keys, ALGORITHMS)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise ProviderError("The provider's signature is not valid.") from error
        claims = dict(token.claims)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        own, now = self._settings.oidc_client_id, time.time()
        valid = (
            claims.get("iss") == metadata["issuer"]
            and own in audiences
            and (len(audiences) == 1 or claims.get("azp") == own)
            and claims.get("nonce") == nonce
            and _number(claims.get("exp")) > now - _LEEWAY_SECONDS
            and _number(claims.get("iat")) < now + _LEEWAY_SECONDS
            and isinstance(claims.get("sub"), str)
            and 0 < len(claims["sub"]) <= 255
        )
        if not valid:
            raise ProviderError("The provider's response does not belong to this sign-in.")
        return claims

    def _discover(self) -> dict[str, Any]:
        metadata = self._request(f"{self._issuer}/.well-known/openid-configuration")
        if str(metadata.get("issuer", "")).rstrip("/") != self._issuer:
            raise ProviderError("The provider reports another issuer.")
        return metadata

    def _endpoint(self, metadata: dict[str, Any], name: str) -> str:
        url = metadata.get(name)
        if not isinstance(url, str) or not url.startswith(("https://", "http://")):
            raise ProviderError("The provider does not publish its endpoints.")
        if self._issuer.startswith("https:") and not url.startswith("https:"):
            raise ProviderError("The provider names an endpoint that is not secure.")
        return url

    def _request(
        self, url: str, method: str = "GET", headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> dict[str, Any]:
        from ingot.core.outgoing.client import send  # The sign-in page needs no HTTP client.

        try:
            response = send(
                self._guard.pin(url),
                method,
                {"Accept": "application/json", **(headers or {})},
                body,
                deadline_seconds=_DEADLINE_SECONDS,
                max_bytes=_MAX_BYTES,
            )
            document = msgspec.json.decode(response.body)
        except (RequestRefused, RequestFailed) as error:
            raise ProviderError("The provider cannot be reached.") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ProviderError("The provider's response cannot be read.") from error
        if response.status != 200 or not isinstance(document, dict):
            raise ProviderError("The provider refuses the sign-in.")
        return document


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")


def _text(value: Any) -> str:
    return value.replace("\0", "") if isinstance(value, str) else ""
