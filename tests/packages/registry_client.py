"""Client of the container registry that follows the distribution specification."""

import hashlib
import json
import re
from typing import Any

import httpx

from tests.conftest import Instance
from tests.packages.client import basic
from tests.server.process import Server

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"


def digest_of(content: bytes) -> str:
    """Return the digest of a content."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def described(kind: str, content: bytes) -> dict[str, Any]:
    """Return the descriptor of a content."""
    return {"mediaType": kind, "digest": digest_of(content), "size": len(content)}


class RegistryClient:
    """Client that gets its tokens as the registry's challenges tell it."""

    def __init__(self, instance: Instance | Server, username: str = "", secret: str = "") -> None:
        self._client = httpx.Client(base_url=instance.url, timeout=60, trust_env=False)
        self._login = basic(username, secret) if secret else {}
        self._tokens: dict[str, str] = {}

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request, with a token if the registry asks for one."""
        headers = options.pop("headers", {})
        answer = self._client.request(method, path, headers={**headers, **self.authorization()}, **options)
        if answer.status_code != 401:
            return answer
        parts = dict(re.findall(r'(\w+)="([^"]*)"', answer.headers["www-authenticate"]))
        assert answer.headers["www-authenticate"].startswith("Bearer realm=")
        asked = self._client.get(parts.pop("realm"), params={"service": parts["service"], **parts}, headers=self._login)
        if asked.status_code != 200:
            return asked
        self._tokens[""] = asked.json()["token"]
        return self._client.request(method, path, headers={**headers, **self.authorization()}, **options)

    def authorization(self, scope: str = "") -> dict[str, str]:
        """Return the header with the token of the last challenge."""
        return {"Authorization": f"Bearer {self._tokens[scope]}"} if scope in self._tokens else {}

    def push_blob(self, name: str, content: bytes) -> str:
        """Upload a blob with one request for its content."""
        digest = digest_of(content)
        started = self("POST", f"/v2/{name}/blobs/uploads/")
        assert started.status_code == 202, started.text
        done = self("PUT", started.headers["location"], params={"digest": digest}, content=content)
        assert done.status_code == 201, done.text
        assert done.headers["docker-content-digest"] == digest
        return digest

    def push_manifest(self, name: str, reference: str, document: dict[str, Any]) -> httpx.Response:
        """Upload a manifest."""
        kind = document["mediaType"]
        return self(
            "PUT",
            f"/v2/{name}/manifests/{reference}",
            content=json.dumps(document).encode(),
            headers={"Content-Type": kind},
        )

    def push_image(self, name: str, tag: str, *layers: bytes) -> dict[str, Any]:
        """Upload an image; return its manifest."""
        config = json.dumps({"architecture": "amd64", "tag": tag}).encode()
        for content in (config, *layers):
            self.push_blob(name, content)
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": described(CONFIG, config),
            "layers": [described(LAYER, layer) for layer in layers],
        }
        answer = self.push_manifest(name, tag, manifest)
        assert answer.status_code == 201, answer.text
        return manifest
