"""Examples of reverse proxies: TLS, clone and push in both directions, LFS, live events, client addresses."""

import hashlib
import html
import json
import re
import secrets
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.certificates import certificate_for
from tests.free_ports import free_port
from tests.server.process import ROOT, TOKEN, environment, serving, until

EXAMPLES = ROOT / "deploy" / "proxies"
LARGE_BYTES = 20_000_000
AUTHOR = {f"GIT_{role}_{field}": "a@localhost" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}


def _nginx(folder: Path, port: int, upstream: str, certificate: str) -> list[str]:
    text = (EXAMPLES / "nginx.conf").read_text()
    text = text[: text.rindex("server {")]  # Without the redirect, which needs a second port.
    text = re.sub(r"listen \[::\].*", "", text).replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    text = re.sub(r"ssl_certificate(_key)? .*;", rf"ssl_certificate\1 {certificate};", text)
    text = text.replace("server_name git.example.org;", "").replace("server 127.0.0.1:8080", f"server {upstream}")
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = folder / "nginx.conf"
    configuration.write_text(f"pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}{text}\n}}\n")
    return ["nginx", "-e", str(folder / "error.log"), "-c", str(configuration), "-g", "daemon off; user root;"]


def _haproxy(folder: Path, port: int, upstream: str, certificate: str) -> list[str]:
    text = (EXAMPLES / "haproxy.cfg").read_text()
    text = text.replace("/etc/ssl/private/git.example.org.pem", certificate).replace(":443", f"127.0.0.1:{port}")
    text = text.replace("    bind :80\n", "").replace("127.0.0.1:8080", upstream)
    configuration = folder / "haproxy.cfg"
    configuration.write_text(text)
    return ["haproxy", "-db", "-f", str(configuration)]


def _caddy(folder: Path, port: int, upstream: str, certificate: str) -> list[str]:
    names = f"INGOT_DOMAIN=https://localhost:{port}", f"INGOT_UPSTREAM={upstream}"
    site = "{$INGOT_DOMAIN:git.example.org} {"
    text = (EXAMPLES / "Caddyfile").read_text()
    text = text.replace(site, f"{site}\nbind 127.0.0.1\ntls {certificate} {certificate}")
    options = f"admin off\ngrace_period 1s\nauto_https disable_redirects\nstorage file_system {folder}/caddy"
    configuration = folder / "Caddyfile"
    configuration.write_text(f"{{\n{options}\n}}\n{text}")
    return ["env", *names, "caddy", "run", "--adapter", "caddyfile", "--config", str(configuration)]


def _check_transport(port: int, context: ssl.SSLContext) -> None:
    """Negotiate HTTP/2, which git uses, too."""
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", port)) as connection,
        context.wrap_socket(connection, server_hostname="localhost") as encrypted,
    ):
        assert encrypted.selected_alpn_protocol() == "h2"


def _check_events(client: httpx.Client, project: int) -> None:
    """Receive an event of a page at once, although the response stays open."""
    client.post(f"/api/v4/projects/{project}/issues", json={"title": "Live"})
    page = client.get("/root/code/issues/1").text
    stream = re.search(r'data-live="([^"]+)"', page)
    assert stream is not None
    with client.stream("GET", html.unescape(stream[1])) as response:
        lines = response.iter_lines()
        next(lines)
        client.post(f"/api/v4/projects/{project}/issues/1/notes", json={"body": "Now"})
        assert next(line for line in lines if line.startswith("event: "))


def _check_large_files(client: httpx.Client) -> None:
    """Upload and download a file by the protocol of Git LFS."""
    content = secrets.token_bytes(2_000_000)
    wanted = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
    media = "application/vnd.git-lfs+json"
    for operation, method in (("upload", "PUT"), ("download", "GET")):
        batch = client.post(
            "/root/code.git/info/lfs/objects/batch",
            content=json.dumps({"operation": operation, "transfers": ["basic"], "objects": [wanted]}),
            headers={"Accept": media, "Content-Type": media},
            auth=("root", TOKEN),
        ).json()
        action = batch["objects"][0]["actions"][operation]
        body = content if operation == "upload" else None
        answer = client.request(method, action["href"], headers=action.get("header", {}), content=body)
        assert answer.status_code == 200, answer.text
    assert answer.content == content


PROXIES = {"nginx": _nginx, "haproxy": _haproxy, "caddy": _caddy}


@contextmanager
def _proxy(name: str, folder: Path, port: int, upstream: str) -> Iterator[ssl.SSLContext]:
    certificate = certificate_for(folder, "localhost")
    with (folder / "proxy.log").open("wb") as log:
        process = subprocess.Popen(PROXIES[name](folder, port, upstream, certificate), stdout=log, stderr=log)
    context = ssl.create_default_context(cafile=certificate)
    try:

        def answers() -> bool:
            assert process.poll() is None, (folder / "proxy.log").read_text()
            try:
                return httpx.get(f"https://localhost:{port}/-/liveness", verify=context).status_code == 200
            except httpx.TransportError:
                return False

        until("the proxy", answers)
        yield context
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.parametrize("name", sorted(PROXIES))
def test_git_and_the_api_work_behind_the_proxy(name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    port = free_port()
    url = f"https://localhost:{port}"
    flags = "--external-url", url, "--trusted-proxies", "127.0.0.1"
    with (
        serving(tmp_path / "data", "", *flags) as server,
        _proxy(name, tmp_path, port, server.url.removeprefix("http://")) as context,
    ):
        with httpx.Client(base_url=url, verify=context, headers={"PRIVATE-TOKEN": TOKEN}, timeout=120) as client:
            created = client.post("/api/v4/projects", json={"name": "code", "visibility": "public"}).json()
            assert created["http_url_to_repo"].startswith(url)
            forged = client.get("/users/sign_in", headers={"X-Forwarded-For": "203.0.113.9"})
            assert forged.status_code == 200 and "Secure" in forged.headers["set-cookie"]
            assert forged.headers["strict-transport-security"] == "max-age=31536000"
            _check_events(client, created["id"])
            _check_large_files(client)
        _check_transport(port, context)
        settings = environment(GIT_SSL_CAINFO=str(tmp_path / "localhost.pem"), GIT_CONFIG_GLOBAL="/dev/null", **AUTHOR)
        clone = tmp_path / "clone"

        def git(*words: str) -> None:
            subprocess.run(["git", *words], env=settings, check=True, capture_output=True)

        address = f"https://root:{TOKEN}@localhost:{port}/root/code.git"
        git("clone", "-q", address, str(clone))
        (clone / "large.bin").write_bytes(secrets.token_bytes(LARGE_BYTES))
        git("-C", str(clone), "add", ".")
        git("-C", str(clone), "commit", "-q", "-m", "Add a large file")
        git("-C", str(clone), "push", "-q", "origin", "HEAD")
        git("clone", "-q", address, str(tmp_path / "again"))
        assert (tmp_path / "again" / "large.bin").stat().st_size == LARGE_BYTES
