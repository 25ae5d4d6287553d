"""The part of Vault that jobs use: sign-in with signed tokens, and reading of key-value secrets.

With ``INGOT_TEST_VAULT``, the path of the program of Vault or OpenBao, its development server takes its place.
"""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.free_ports import free_port
from tests.server.process import until

BINARY = os.environ.get("INGOT_TEST_VAULT", "")
ROOT_TOKEN = "root-token-of-vault"
AUDIENCE = "https://vault.example.org"
ROLE = "deploy"
VERSION_2, VERSION_1 = "ops", "old"
SECRETS = {"production/db": {"password": "correct horse battery", "port": 5432}}


@contextmanager
def vault_server(issuer: str, project_id: int) -> Iterator[str]:
    """Start a server whose role admits jobs of one project of an issuer; yield its address."""
    if BINARY:
        with _development_server() as url:
            _configure(url, issuer, project_id)
            yield url
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(issuer, project_id))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def _development_server() -> Iterator[str]:
    """Start Vault's development server, whose data are in memory."""
    url = f"http://127.0.0.1:{free_port()}"
    command = [BINARY, "server", "-dev", f"-dev-root-token-id={ROOT_TOKEN}", "-dev-no-store-token"]
    command.append(f"-dev-listen-address={url.removeprefix('http://')}")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_ready() -> bool:
        try:
            return httpx.get(f"{url}/v1/sys/health").status_code == 200
        except httpx.TransportError:
            return False

    try:
        until("the start of Vault", is_ready)
        yield url
    finally:
        process.terminate()
        process.wait()


def _configure(url: str, issuer: str, project_id: int) -> None:
    def call(path: str, **fields: Any) -> None:
        answer = httpx.post(f"{url}/v1/{path}", json=fields, headers={"X-Vault-Token": ROOT_TOKEN})
        assert answer.status_code in (200, 204), answer.text

    call("sys/auth/jwt", type="jwt")
    call("auth/jwt/config", oidc_discovery_url=issuer, bound_issuer=issuer)
    policy = "\n".join(f'path "{engine}/*" {{ capabilities = ["read"] }}' for engine in (VERSION_1, VERSION_2))
    call("sys/policies/acl/deploy", policy=policy)
    call(
        f"auth/jwt/role/{ROLE}",
        role_type="jwt",
        policies=["deploy"],
        user_claim="user_login",
        bound_audiences=[AUDIENCE],
        bound_claims={"project_id": str(project_id)},
    )
    call(f"sys/mounts/{VERSION_2}", type="kv", options={"version": "2"})
    call(f"sys/mounts/{VERSION_1}", type="kv", options={"version": "1"})
    for path, fields in SECRETS.items():
        call(f"{VERSION_2}/data/{path}", data=fields)
        call(f"{VERSION_1}/{path}", **fields)


def _handler(issuer: str, project_id: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Sign in with a token that the issuer has signed."""
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/auth/jwt/login" or sent.get("role") != ROLE:
                return self._answer(400, {"errors": [f'role "{sent.get("role")}" could not be found']})
            if not _is_admitted(sent["jwt"], issuer, project_id):
                return self._answer(400, {"errors": ["error validating token"]})
            return self._answer(200, {"auth": {"client_token": "hvs.of-the-job", "policies": ["deploy"]}})

        def do_GET(self) -> None:
            """Read a secret of either version of the engine."""
            if self.headers.get("X-Vault-Token") != "hvs.of-the-job":
                return self._answer(403, {"errors": ["permission denied"]})
            engine, _, path = self.path.removeprefix("/v1/").partition("/")
            if engine == VERSION_2 and path.removeprefix("data/") in SECRETS:
                return self._answer(200, {"data": {"data": SECRETS[path.removeprefix("data/")], "metadata": {}}})
            if engine == VERSION_1 and path in SECRETS:
                return self._answer(200, {"data": SECRETS[path]})
            return self._answer(404, {"errors": []})

        def _answer(self, status: int, content: object) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Write no log."""

    return Handler


def _is_admitted(token: str, issuer: str, project_id: int) -> bool:
    """Verify a token with the keys that the issuer publishes."""
    address = httpx.get(f"{issuer}/.well-known/openid-configuration").json()["jwks_uri"]
    keys = KeySet.import_key_set(httpx.get(address).json())
    try:
        claims = jwt.decode(token, keys).claims
    except ValueError:
        return False
    return bool((claims["iss"], claims["aud"], claims["project_id"]) == (issuer, AUDIENCE, str(project_id)))
