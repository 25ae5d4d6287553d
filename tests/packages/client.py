"""Requests of package managers: with any kind of credential, and without the checks of the API's own client."""

import base64
from typing import Any

import httpx

from tests.client import Api, User
from tests.conftest import Instance
from tests.factories import Group, Project


def basic(username: str, secret: str) -> dict[str, str]:
    """Return the header of basic authentication."""
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{secret}".encode()).decode()}


class PackageClient:
    """Client of an instance below a path."""

    def __init__(self, instance: Instance, prefix: str = "/api/v4") -> None:
        self._client = httpx.Client(base_url=instance.url + prefix, timeout=60, trust_env=False)

    def __call__(
        self, method: str, path: str, caller: User | dict[str, str] | None = None, **options: Any
    ) -> httpx.Response:
        """Send a request as a user, or with the headers of a credential."""
        headers = {"PRIVATE-TOKEN": caller.token} if isinstance(caller, User) else caller or {}
        return self._client.request(method, path, headers={**headers, **options.pop("headers", {})}, **options)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()


def deploy_token(api: Api, owner: User, parent: Project | Group, *scopes: str) -> tuple[str, str]:
    """Create a deploy token; return its username and its secret."""
    made = api.post(f"{parent.url}/deploy_tokens", owner, name="packages", scopes=list(scopes))
    assert made.status_code == 201, made.text
    return made.json()["username"], made.json()["token"]
