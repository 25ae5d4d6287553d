"""Hostile OpenID providers: tokens must be signed, for this client, and for this sign-in."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from tests.second_instance import SecondInstance, serving
from tests.web.browser import Browser

START = "/users/auth/openid_connect"
KEY, OTHER_KEY = RSAKey.generate_key(2048, {"kid": "k"}), RSAKey.generate_key(2048, {"kid": "k"})


class FakeProvider(ThreadingHTTPServer):
    """Provider whose responses tests change."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ProviderHandler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.nonce = ""
        self.asked: dict[str, str] = {}
        self.claims: dict[str, Any] = {}
        self.key: Any = KEY
        self.algorithm = "RS256"
        self.issuer = self.url

    def id_token(self) -> str:
        """Return the signed token, with the changes of the test."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": "us", "sub": "42", "nonce": self.nonce, "iat": now, "exp": now + 300}
        claims |= {"email": "somebody@false.example", "email_verified": True, "name": "Some Body"}
        claims = {name: value for name, value in {**claims, **self.claims}.items() if value is not None}
        return jwt.encode({"alg": self.algorithm, "kid": "k"}, claims, self.key, [self.algorithm])


class ProviderHandler(BaseHTTPRequestHandler):
    """Handler of one request."""

    server: FakeProvider

    def do_GET(self) -> None:
        """Return the discovery document and the signing key."""
        url = self.server.url
        if self.path == "/keys":
            return self._say({"keys": [KEY.as_dict(private=False)]})
        endpoints = {"authorization_endpoint": "/auth", "token_endpoint": "/token", "jwks_uri": "/keys"}
        return self._say({"issuer": self.server.issuer, **{name: url + path for name, path in endpoints.items()}})

    def do_POST(self) -> None:
        """Return a token for a code."""
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked = {name: values[0] for name, values in parse_qs(sent).items()}
        self._say({"access_token": "x", "token_type": "Bearer", "id_token": self.server.id_token()})

    def _say(self, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    """Yield the fake provider."""
    with FakeProvider() as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        yield served
        served.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def second(provider: FakeProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecondInstance]:
    """Yield an instance that trusts it."""
    with serving(
        tmp_path_factory.mktemp("trusting"),
        allow_local_requests=True,
        oidc_issuer=provider.url,
        oidc_client_id="us",
        oidc_sign_up=True,
    ) as served:
        yield served


def _status(second: SecondInstance, provider: FakeProvider, **said: Any) -> int:
    """Return the status of a sign-in with these claims."""
    provider.claims = said.pop("claims", {})
    provider.key, provider.algorithm = said.pop("key", KEY), said.pop("algorithm", "RS256")
    provider.issuer = said.pop("issuer", provider.url)
    with Browser(second.url) as browser:
        left = browser.get(START)
        if left.status_code != 302:
            return left.status_code
        asked = parse_qs(urlsplit(left.headers["location"]).query)
        provider.nonce = said.pop("nonce", asked["nonce"][0])
        came = browser.get(f"{START}/callback?code=c&state={asked['state'][0]}")
        assert (came.status_code == 302) == browser.is_signed_in()
        assert provider.asked["code"] == "c"
        assert len(provider.asked["code_verifier"]) >= 43
        return came.status_code


def test_a_valid_token_is_accepted(second: SecondInstance, provider: FakeProvider) -> None:
    assert _status(second, provider) == 302
    assert _status(second, provider, claims={"aud": ["us", "them"], "azp": "us"}) == 302
    assert second.api.get("/users", second.make.root, search="Some Body").json()[0]["username"] == "somebody"


@pytest.mark.parametrize(
    "said",
    [
        {"key": OTHER_KEY},
        {"key": OctKey.import_key("us" * 20), "algorithm": "HS256"},
        {"nonce": "of another sign-in"},
        {"claims": {"nonce": None}},
        {"claims": {"aud": "them"}},
        {"claims": {"aud": ["us", "them"]}},
        {"claims": {"iss": "http://elsewhere.example"}},
        {"claims": {"exp": 1}},
        {"claims": {"exp": None}},
        {"claims": {"iat": int(time.time()) + 3600}},
        {"claims": {"sub": ""}},
        {"claims": {"sub": None}},
        {"claims": {"sub": 42}},
        {"issuer": "http://elsewhere.example"},
    ],
    ids=lambda said: next(iter(said)),
)
def test_invalid_tokens_are_rejected(second: SecondInstance, provider: FakeProvider, said: dict[str, Any]) -> None:
    assert _status(second, provider, **dict(said)) == 502


def test_an_unverified_address_creates_no_account(second: SecondInstance, provider: FakeProvider) -> None:
    for claims in ({"email_verified": False}, {"email_verified": None}, {"email": None}, {"email": "nonsense"}):
        assert _status(second, provider, claims={"sub": "43", **claims}) == 403
    taken = {"sub": "44", "email": "admin@example.com"}
    assert _status(second, provider, claims=taken) == 403, "The administrator's, and linking is not allowed."


def test_unavailable_usernames_are_changed(second: SecondInstance, provider: FakeProvider) -> None:
    rows = [("45", "root", "root2"), ("46", "../../x y", "x-y"), ("47", "é", "user"), ("48", "api", "api2")]
    for sub, wanted, made in rows:
        claims = {"sub": sub, "email": f"p{sub}@false.example", "preferred_username": wanted}
        assert _status(second, provider, claims=claims) == 302
        found = second.api.get("/users", second.make.root, username=made).json()
        assert found, wanted
