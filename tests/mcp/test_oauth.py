"""Clients that find the authorization server, register themselves and get a token for the tools."""

import asyncio
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from sqlalchemy import update

from ingot.accounts.oauth import registration
from ingot.accounts.oauth.tables import oauth_applications
from ingot.accounts.tokens.tables import access_tokens
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, make_project
from tests.oauth_client import RegisteredApplication, authorize, callback_parameters, with_bearer
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD, browser, open_browser, person, reset_rate_limits

__all__ = ["browser", "open_browser", "person", "reset_rate_limits"]
CALLBACK = "http://127.0.0.1:33418/callback"
VERIFIER = "v" * 50
CHALLENGE = "CrlVwe1WSHWuTQYh3iczmx3aS-faRx6C92k9_hNxl4A"


class Storage:
    """Memory of a client."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store the tokens."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the registration."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Store the registration."""
        self.client = client_info


def _register(instance: Instance, **metadata: Any) -> httpx.Response:
    return httpx.post(f"{instance.url}/oauth/register", json={"redirect_uris": [CALLBACK], **metadata})


def test_the_official_client_gets_a_token_and_calls_a_tool(
    instance: Instance, make: Make, browser: Browser, person: User
) -> None:
    project = make_project(make, person)
    signed_in = browser.signed_in_as(person)
    storage, results = Storage(), []

    async def redirect(address: str) -> None:
        page = await asyncio.to_thread(signed_in.get, address.removeprefix(instance.url))
        assert "registered itself" in page.text and CALLBACK in page.text
        answer = await asyncio.to_thread(authorize, signed_in, address.removeprefix(instance.url))
        results.append(callback_parameters(answer))

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=results[-1]["code"], state=results[-1]["state"])

    async def run() -> dict[str, Any]:
        url = f"{instance.url}/api/v4/mcp"
        metadata = OAuthClientMetadata(redirect_uris=[CALLBACK], client_name="An agent")  # type: ignore[list-item]
        auth = OAuthClientProvider(url, metadata, storage, redirect, callback)
        async with (
            httpx2.AsyncClient(auth=auth, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            assert "get_project" in [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("create_issue", {"id": project.path, "title": "From an agent"})
            assert not result.is_error
            return result.structured_content or {}

    issue = asyncio.run(run())
    assert issue["title"] == "From an agent" and issue["author"] == person.username
    assert storage.tokens is not None and storage.tokens.scope == "mcp"
    # The token gives the tools and nothing else of the API.
    assert with_bearer(instance.url, storage.tokens.access_token).status_code == 403
    authorized = browser.get("/profile/applications").text
    assert "An agent" in authorized and "registered itself" in authorized


def test_refusals_name_the_metadata(instance: Instance, make: Make) -> None:
    url = f"{instance.url}/api/v4/mcp"
    for headers, error in (({}, ""), ({"Authorization": "Bearer wrong"}, 'error="invalid_token"')):
        refused = httpx.post(url, json={}, headers=headers)
        challenge = refused.headers["www-authenticate"]
        assert refused.status_code == 401 and challenge.startswith("Bearer ") and error in challenge
        assert 'scope="mcp"' in challenge
    address = challenge.split('resource_metadata="')[1].split('"')[0]
    resource = httpx.get(address).json()
    assert resource["resource"] == url and resource["authorization_servers"] == [instance.url]
    assert httpx.get(f"{instance.url}/.well-known/oauth-protected-resource").json() == resource
    metadata = httpx.get(
        f"{instance.url}/.well-known/oauth-authorization-server", headers={"Origin": "https://a.example"}
    )
    assert metadata.headers["access-control-allow-origin"] == "*"
    assert metadata.json()["registration_endpoint"] == f"{instance.url}/oauth/register"
    assert metadata.json()["code_challenge_methods_supported"] == ["S256"]
    limited = make.token(make.root.id, "read_repository")
    forbidden = httpx.post(url, json={}, headers={"Authorization": f"Bearer {limited}"})
    assert forbidden.status_code == 403 and 'error="insufficient_scope"' in forbidden.headers["www-authenticate"]


def test_registrations_are_validated(instance: Instance) -> None:
    made = _register(instance, client_name="A", scope="api mcp openid", token_endpoint_auth_method="client_secret_post")
    assert made.status_code == 201 and made.headers["cache-control"] == "no-store"
    document = made.json()
    assert document["token_endpoint_auth_method"] == "none" and "client_secret" not in document
    assert document["scope"] == "mcp openid"
    accepted = [
        "https://agent.example/cb",
        "http://localhost:1/cb",
        "http://[::1]/cb",
        "cursor://anysphere/callback",
        "com.example.agent:/cb",
    ]
    assert _register(instance, redirect_uris=accepted).status_code == 201
    for redirect_uris in (
        *("nonsense", [], None, [1], ["http://agent.example/cb"], ["javascript:alert(1)"], ["https://a.example/#x"]),
        *(["https://u@a.example/"], ["urn:ietf:wg:oauth:2.0:oob"], ["http://127.0.0.1.a.example/"], ["a b"], ["/cb"]),
        *(["intent://x"], ["agent:/cb"], ["ms-settings:x"]),
        *([f"https://a.example/{number}" for number in range(21)], ["https://a.example/\n"], ["http://localhost.a/"]),
    ):
        refused = _register(instance, redirect_uris=redirect_uris)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_redirect_uri"), redirect_uris
    for metadata in (
        *({"client_name": ""}, {"client_name": 1}, {"client_name": "x" * 256}, {"client_name": "a\u202eb"}),
        *({"grant_types": ["password"]}, {"response_types": ["token"]}, {"grant_types": "code"}, {"scope": [1]}),
    ):
        refused = _register(instance, **metadata)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_client_metadata"), metadata
    assert httpx.post(f"{instance.url}/oauth/register", content=b"{").status_code == 400
    assert httpx.post(f"{instance.url}/oauth/register", json=[]).status_code == 400


def test_registered_clients_need_consent_and_pkce(instance: Instance, browser: Browser, person: User) -> None:
    signed_in = browser.signed_in_as(person)
    uid = _register(instance).json()["client_id"]
    app = RegisteredApplication(instance.url, uid, "", CALLBACK)
    refused = signed_in.get(app.address())
    assert refused.status_code == 400 and "Missing" in refused.text
    pkce = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    # Anybody can register an address, so errors lead nobody there.
    for changes in (
        {"scope": "api"},
        {"response_type": "token"},
        {"response_type": "nonsense"},
        {"response_mode": "nonsense"},
        {"code_challenge": ""},
        {"prompt": "none"},
        {"resource": "https://other.example/"},
        {"resource": f"{instance.url}.example/"},
    ):
        address = app.address(**{**pkce, **changes})
        refused = signed_in.get(address)
        assert refused.status_code == 400 and "location" not in refused.headers, changes
        anonymous = httpx.get(f"{instance.url}{address}")
        assert anonymous.status_code == 400 or anonymous.headers["location"].startswith("/users/sign_in"), changes
    another_port = app.address(**pkce, redirect_uri=CALLBACK.replace("33418", "1234"))
    assert signed_in.get(another_port).status_code == 200
    assert signed_in.get(app.address(**pkce, redirect_uri="https://a.example/")).status_code == 400
    resource = f"{instance.url}/api/v4/mcp"
    sent = {"client_secret": None, "resource": resource}
    code = app.code(signed_in, **pkce, resource=resource)
    assert app.exchange(code, **sent, code_verifier="w" * 50).json()["error"] == "invalid_grant"
    code = app.code(signed_in, **pkce, resource=resource)
    refused = app.exchange(code, client_secret=None, code_verifier=VERIFIER, resource="https://other.example/")
    assert refused.json()["error"] == "invalid_target"
    token = app.exchange(code, **sent, code_verifier=VERIFIER).json()
    assert token["scope"] == "mcp"
    assert app.refresh(token["refresh_token"], **sent).json()["scope"] == "mcp"
    password = app.token(grant_type="password", username=person.username, password=PASSWORD, client_secret=None)
    assert password.status_code in (400, 401) and "access_token" not in password.json()


def test_registration_is_limited(instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "REGISTRATIONS_PER_HOUR", 1)
    assert _register(instance).status_code == 201
    refused = _register(instance)
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
    monkeypatch.setattr(registration, "REGISTRATIONS_PER_HOUR", 100)
    monkeypatch.setattr(registration, "MAX_CLIENTS", 1)
    assert _register(instance).status_code == 429
    with changed_settings(make, dynamic_client_registration_enabled=False):
        assert _register(instance).status_code == 404
        metadata = httpx.get(f"{instance.url}/.well-known/oauth-authorization-server").json()
        assert "registration_endpoint" not in metadata


def test_unused_clients_are_deleted(instance: Instance, browser: Browser, person: User) -> None:
    signed_in = browser.signed_in_as(person)
    unauthorized, authorized = (_register(instance).json()["client_id"] for _ in range(2))
    app = RegisteredApplication(instance.url, authorized, "", CALLBACK)
    code = app.code(signed_in, code_challenge=CHALLENGE, code_challenge_method="S256")
    token = app.exchange(code, client_secret=None, code_verifier=VERIFIER).json()["access_token"]
    database = instance.app.database

    def age(db: Connection, days: int) -> None:
        before = add_duration(db.now, days=-days)
        db.run(update(oauth_applications).where(oauth_applications.c.dynamic).values(created_at=before))
        ours = access_tokens.c.digest == db.vault.digest(token)
        db.run(update(access_tokens).where(ours).values(created_at=before))

    def sweep(days: int) -> list[int]:
        database.write(lambda db: age(db, days))
        database.write(registration.delete_unused_clients)
        pkce = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        addresses = [RegisteredApplication(instance.url, uid, "", CALLBACK) for uid in (unauthorized, authorized)]
        return [signed_in.get(each.address(**pkce)).status_code for each in addresses]

    assert sweep(0) == [200, 200]
    assert sweep(2) == [400, 200]
    assert sweep(91) == [400, 400]
    assert httpx.post(f"{instance.url}/api/v4/mcp", headers={"Authorization": f"Bearer {token}"}).status_code == 401
