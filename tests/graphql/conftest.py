"""Client of the GraphQL API."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.client import User
from tests.conftest import Instance


class Graphql:
    """Client that sends queries as a user."""

    def __init__(self, url: str) -> None:
        self.url = f"{url}/api/graphql"
        self._client = httpx.Client(timeout=60)

    def send(self, sent: Any, as_user: User | None = None, **headers: str) -> httpx.Response:
        """Send a body as JSON."""
        token = {"PRIVATE-TOKEN": as_user.token} if as_user else {}
        return self._client.post(self.url, json=sent, headers={**token, **headers})

    def get(self, as_user: User | None = None, **params: str) -> httpx.Response:
        """Send a query in the query string."""
        token = {"PRIVATE-TOKEN": as_user.token} if as_user else {}
        return self._client.get(self.url, params=params, headers=token)

    def answer(self, query: str, as_user: User | None = None, **variables: Any) -> dict[str, Any]:
        """Send a query and return the whole response."""
        response = self.send({"query": query, "variables": variables}, as_user)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def data(self, query: str, as_user: User | None = None, **variables: Any) -> Any:
        """Send a query that has no errors and return its data."""
        answer = self.answer(query, as_user, **variables)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def timelogs_of(url: str, user: User, path: str) -> list[dict[str, Any]]:
    """Return the timelogs of a project."""
    query = """query($path: ID!) { project(fullPath: $path) { timelogs { nodes {
        timeSpent summary spentAt user { username } issue { iid } mergeRequest { iid } } } } }"""
    client = Graphql(url)
    nodes: list[dict[str, Any]] = client.data(query, user, path=path)["project"]["timelogs"]["nodes"]
    client.close()
    return nodes


@pytest.fixture(scope="session")
def graphql(instance: Instance) -> Iterator[Graphql]:
    """Yield a client of the GraphQL API."""
    client = Graphql(instance.url)
    yield client
    client.close()
