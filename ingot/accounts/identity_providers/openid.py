"""Signing in by an OpenID Connect provider: where people are sent, and what is made of what they come back with."""

import base64
import hashlib
import time
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from ingot.accounts.identity_providers.account_link import ProviderIdentity
from ingot.core.outgoing.client import Unreachable, send
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.refusal import OutgoingRequestBlocked
from ingot.settings import Settings

PROVIDER = "openid_connect"
SCOPES = "openid profile email"
# Nothing that the client secret could sign: whoever knows it must not be able to be everybody.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_LEEWAY_SECONDS = 60
_MAX_RESPONSE_BYTES = 256 * 1024
_TIMEOUT_SECONDS = 10.0


class ProviderError(Exception):
    """The provider does not answer, or not as it should; the sentence holds no secret."""


class OpenIdProvider:
    """The provider of the settings; all that is asked of it goes through the guard."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._guard = SsrfGuard(settings.allow_local_requests, settings.allowed_outgoing_networks)
        self._issuer = settings.oidc_issuer.rstrip("/")

    def address(self, redirect_uri: str, state: str, nonce: str, verifier: str) -> str:
        """Where to send somebody who wants to sign in."""
        digest = hashlib.sha256(verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": redirect_uri,
            "scope": SCOPES,
            "state": state,
            "nonce": nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        endpoint = self._endpoint(self._discovery_document(), "authorization_endpoint")
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}"

    def known(self, code: str, redirect_uri: str, nonce: str, verifier: str) -> ProviderIdentity:
        """Who came back with this code."""
        about = self._discovery_document()
        token = self._exchange_code(about, code, redirect_uri, verifier)
        claims = self._claims(about, str(token.get("id_token", "")), nonce)
        if "email" not in claims and about.get("userinfo_endpoint"):
            told = self._request(
                self._endpoint(about, "userinfo_endpoint"),
                headers={"Authorization": f"Bearer {token.get('access_token', '')}"},
            )
            if told.get("sub") == claims["sub"]:
                claims = {**told, **claims}
        email = claims.get("email") if claims.get("email_verified") in (True, "true") else ""
        username = claims.get("preferred_username") or claims.get("nickname") or ""
        return ProviderIdentity(PROVIDER, str(claims["sub"]), _text(username), _text(claims.get("name")), _text(email))

    def _exchange_code(self, about: dict[str, Any], code: str, redirect_uri: str, verifier: str) -> dict[str, Any]:
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        name, secret = self._settings.oidc_client_id, self._settings.oidc_client_secret
        methods = about.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if secret and "client_secret_basic" in methods:
            pair = f"{quote(name, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            sent |= {"client_id": name, **({"client_secret": secret} if secret else {})}
        endpoint = self._endpoint(about, "token_endpoint")
        return self._request(endpoint, "POST", headers, urlencode(sent).encode())

    def _claims(self, about: dict[str, Any], id_token: str, nonce: str) -> dict[str, Any]:
        """What the signed text says, once everything about it is right."""
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            keys = KeySet.import_key_set(self._request(self._endpoint(about, "jwks_uri")))  # type: ignore[arg-type] # Checked by it.
            read = jwt.decode(id_token, keys, ALGORITHMS)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise ProviderError("The provider's signature is not right.") from error
        claims = dict(read.claims)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        own, now = self._settings.oidc_client_id, time.time()
        right = (
            claims.get("iss") == about["issuer"]
            and own in audiences
            and (len(audiences) == 1 or claims.get("azp") == own)
            and claims.get("nonce") == nonce
            and _number(claims.get("exp")) > now - _LEEWAY_SECONDS
            and _number(claims.get("iat")) < now + _LEEWAY_SECONDS
            and isinstance(claims.get("sub"), str)
            and 0 < len(claims["sub"]) <= 255
        )
        if not right:
            raise ProviderError("What the provider says is not meant for this sign-in.")
        return claims

    def _discovery_document(self) -> dict[str, Any]:
        about = self._request(f"{self._issuer}/.well-known/openid-configuration")
        if str(about.get("issuer", "")).rstrip("/") != self._issuer:
            raise ProviderError("The provider calls itself by another name.")
        return about

    def _endpoint(self, about: dict[str, Any], name: str) -> str:
        address = about.get(name)
        if not isinstance(address, str) or not address.startswith(("https://", "http://")):
            raise ProviderError("The provider does not say where to ask.")
        if self._issuer.startswith("https:") and not address.startswith("https:"):
            raise ProviderError("The provider leads to an address that is not secure.")
        return address

    def _request(
        self, url: str, method: str = "GET", headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> dict[str, Any]:
        try:
            answer = send(
                self._guard.pin(url),
                method,
                {"Accept": "application/json", **(headers or {})},
                body,
                deadline_seconds=_TIMEOUT_SECONDS,
                max_bytes=_MAX_RESPONSE_BYTES,
            )
            told = msgspec.json.decode(answer.body)
        except (OutgoingRequestBlocked, Unreachable) as error:
            raise ProviderError("The provider cannot be reached.") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ProviderError("The provider's answer cannot be read.") from error
        if answer.status != 200 or not isinstance(told, dict):
            raise ProviderError("The provider refuses the sign-in.")
        return told


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")


def _text(value: Any) -> str:
    return value.replace("\0", "") if isinstance(value, str) else ""
