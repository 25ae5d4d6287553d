"""Client of the Git LFS protocol."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.client import User
from tests.conftest import Instance
from tests.factories import Project

MEDIA_TYPE = "application/vnd.git-lfs+json"


def oid_of(content: bytes) -> str:
    """Return the digest of content."""
    return hashlib.sha256(content).hexdigest()


def object_of(content: bytes) -> dict[str, Any]:
    """Return the object as named in a batch."""
    return {"oid": oid_of(content), "size": len(content)}


@dataclass
class LfsClient:
    """Calls below a project's repository; tokens are sent as password."""

    url: str
    client: httpx.Client

    def call(
        self,
        method: str,
        project: Project | str,
        path: str,
        who: User | tuple[str, str] | None = None,
        **options: Any,
    ) -> httpx.Response:
        """Send a request."""
        auth = (who.username, who.token) if isinstance(who, User) else who
        place = project if isinstance(project, str) else project.path
        return self.client.request(method, f"{self.url}/{place}.git/{path}", auth=auth, **options)

    def json(
        self, project: Project | str, path: str, who: User | tuple[str, str] | None = None, /, **sent: Any
    ) -> httpx.Response:
        """Send a body in the protocol's media type."""
        headers = {"Accept": MEDIA_TYPE, "Content-Type": f"{MEDIA_TYPE}; charset=utf-8"}
        content = httpx.Request("POST", "http://x", json=sent).read()
        answer = self.call("POST", project, path, who, content=content, headers=headers)
        assert answer.headers["content-type"] == MEDIA_TYPE
        return answer

    def batch(
        self, project: Project | str, who: User | tuple[str, str] | None, operation: str, *contents: bytes
    ) -> httpx.Response:
        """Send a batch request."""
        objects = [object_of(content) for content in contents]
        return self.json(
            project,
            "info/lfs/objects/batch",
            who,
            operation=operation,
            transfers=["basic"],
            ref={"name": "refs/heads/master"},
            objects=objects,
            hash_algo="sha256",
        )

    def follow(self, method: str, action: dict[str, Any], **options: Any) -> httpx.Response:
        """Execute an action of a batch, with its headers."""
        headers = {**action["header"], **options.pop("headers", {})}
        return self.client.request(method, action["href"], headers=headers, **options)

    def upload(self, project: Project, who: User | tuple[str, str], content: bytes) -> str:
        """Upload a file like a client, and return its digest."""
        answer = self.batch(project, who, "upload", content)
        assert answer.status_code == 200, answer.text
        actions = answer.json()["objects"][0].get("actions")
        if actions is not None:
            put = self.follow("PUT", actions["upload"], content=content)
            assert put.status_code == 200, put.text
            verified = self.follow("POST", actions["verify"], json=object_of(content))
            assert verified.status_code == 200, verified.text
        return oid_of(content)

    def get(self, project: Project | str, who: User | tuple[str, str] | None, content: bytes) -> httpx.Response:
        """Download a file directly."""
        return self.call("GET", project, f"gitlab-lfs/objects/{oid_of(content)}", who)


@pytest.fixture(scope="session")
def lfs(instance: Instance) -> Iterator[LfsClient]:
    """Yield a client."""
    with httpx.Client(timeout=60) as client:
        yield LfsClient(instance.url, client)
