"""Custom domains on sockets of their own: verification, certificates and redirects, and paths without a host."""

import json
import os
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from ingot.sites.domains.queries import find_domain
from ingot.sites.domains.verification import DomainVerification
from tests.certificates import certificate_for
from tests.ci.artifacts.files import zip_of
from tests.client import Make
from tests.conftest import Instance
from tests.factories import later, make_project
from tests.free_ports import free_port, free_ports
from tests.server.process import Server, until
from tests.sites.dns_server import NameServer

CONFIG = "pages: {script: build, artifacts: {paths: [public]}}\n"
CODE = "gitlab-pages-verification-code"


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    """Yield a name server."""
    with NameServer() as names:
        yield names


@pytest.fixture(scope="module")
def ports() -> tuple[int, int]:
    """Return the ports of sites."""
    return free_port(), free_port()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, names: NameServer, ports: tuple[int, int]) -> Iterator[Server]:
    """Yield a server with a deployed site of the project root/site."""
    server = Server(tmp_path_factory.mktemp("sites") / "data")
    try:
        yield server.start(wait=True, **_settings(names, ports))
    finally:
        server.kill()


def _settings(names: NameServer, ports: tuple[int, int]) -> dict[str, str]:
    return {
        "INGOT_PAGES_PORT": str(ports[0]),
        "INGOT_PAGES_HTTPS_PORT": str(ports[1]),
        "INGOT_PAGES_DNS_SERVER": names.address,
    }


def _deployed(server: Server) -> int:
    """Create a project with a site, and return its id."""
    found = server.call("GET", "/projects/root%2Fsite")
    if found.status_code == 200:
        return int(found.json()["id"])
    project = server.call("POST", "/projects", json={"name": "site", "visibility": "public"}).json()
    actions = [{"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIG}]
    commit = {"branch": "main", "commit_message": "Publish", "actions": actions}
    created = {"runner_type": "project_type", "project_id": project["id"], "run_untagged": True}
    runner = server.call("POST", "/user/runners", json=created).json()["token"]
    made = server.call("POST", f"/projects/{project['id']}/repository/commits", json=commit)
    assert made.status_code == 201, made.text
    job = until("the job", lambda: _requested(server, runner))
    token = {"JOB-TOKEN": job["token"]}
    url = f"{server.url}/api/v4/jobs/{job['id']}"
    files = {"file": ("artifacts.zip", zip_of({"public/index.html": b"a page of the site"}))}
    assert (
        httpx.post(f"{url}/artifacts", data={"artifact_type": "archive"}, files=files, headers=token).status_code == 201
    )
    assert httpx.put(url, json={"token": job["token"], "state": "success"}, timeout=60).status_code == 200
    pages = f"/projects/{project['id']}/pages"
    until("the deployment", lambda: server.call("GET", pages).json()["deployments"])
    return int(project["id"])


def _requested(server: Server, token: str) -> dict[str, Any] | None:
    body = {"token": token, "info": {"name": "gitlab-runner", "version": "17.0.0", "features": {}}}
    asked = httpx.post(f"{server.url}/api/v4/jobs/request", json=body, timeout=60)
    return dict(asked.json()) if asked.status_code == 201 else None


def _get(port: int, path: str, host: str) -> httpx.Response:
    return httpx.get(f"http://127.0.0.1:{port}{path}", headers={"host": host})


def _verified_domain(server: Server, names: NameServer, domain: str, **fields: Any) -> str:
    """Add a verified domain, and return its path in the API."""
    path = f"/projects/{_deployed(server)}/pages/domains"
    made = server.call("POST", path, json={"domain": domain, **fields})
    assert made.status_code == 201, made.text
    names.records[f"_{CODE}.{domain}"] = ["other", f"{CODE}={made.json()['verification_code']}"]
    verified = server.call("PUT", f"{path}/{domain}/verify")
    assert verified.json()["verified"] is True, verified.text
    return f"{path}/{domain}"


def test_without_a_domain_the_namespace_is_in_the_path(server: Server, ports: tuple[int, int]) -> None:
    project = _deployed(server)
    url = server.call("GET", f"/projects/{project}/pages").json()["url"]
    assert url == f"http://127.0.0.1:{ports[0]}/root/site"
    assert httpx.get(f"{url}/").content == b"a page of the site"
    assert httpx.get(f"{url}/missing").status_code == 404
    # Neither does the forge serve sites, nor its pages the socket of sites.
    assert httpx.get(f"{server.url}/root/site/index.html").status_code == 404
    for path in ("/users/sign_in", "/api/v4/version", "/-/health", "/-/metrics"):
        hidden = httpx.get(f"http://127.0.0.1:{ports[0]}{path}", headers={"sec-fetch-mode": "cors"})
        assert hidden.status_code == 404, path


def test_only_domains_of_the_project_are_verified(server: Server) -> None:
    project = _deployed(server)
    assert server.call("PUT", f"/projects/{project}/pages/domains/unknown.example/verify").status_code == 404
    other = server.call("POST", "/projects", json={"name": "without-site"}).json()["id"]
    made = server.call("POST", f"/projects/{project}/pages/domains", json={"domain": "own.example"})
    assert made.status_code == 201, made.text
    assert server.call("PUT", f"/projects/{other}/pages/domains/own.example/verify").status_code == 404
    anonymous = httpx.put(f"{server.url}/api/v4/projects/{project}/pages/domains/own.example/verify")
    assert anonymous.status_code == 401
    assert server.call("PUT", f"/projects/{project}/pages/domains/own.example/verify").status_code == 400


def test_a_domain_is_served_once_its_record_was_found(
    server: Server, names: NameServer, ports: tuple[int, int]
) -> None:
    path = f"/projects/{_deployed(server)}/pages/domains"
    made = server.call("POST", path, json={"domain": "WWW.verified.example"}).json()
    assert (made["domain"], made["verified"], made["enabled_until"]) == ("www.verified.example", False, None)
    refused = server.call("PUT", f"{path}/www.verified.example/verify")
    assert (refused.status_code, refused.json()["message"]) == (400, "Couldn't verify www.verified.example")
    assert _get(ports[0], "/", "www.verified.example").status_code == 404
    names.records["www.verified.example"] = [
        f"x{CODE}={made['verification_code']}",
        f"{CODE}={made['verification_code']}0",
    ]
    assert server.call("PUT", f"{path}/www.verified.example/verify").status_code == 400
    names.records["www.verified.example"] = [f"{CODE}={made['verification_code']}"]
    verified = server.call("PUT", f"{path}/www.verified.example/verify").json()
    assert verified["verified"] is True
    assert verified["enabled_until"] is not None
    assert _get(ports[0], "/", "www.verified.example").content == b"a page of the site"
    listed = server.call("GET", "/pages/domains").json()
    assert "www.verified.example" in [each["domain"] for each in listed]
    assert server.call("DELETE", f"{path}/www.verified.example").status_code == 204
    assert _get(ports[0], "/", "www.verified.example").status_code == 404


def test_the_owner_takes_a_domain_over_that_another_project_has_not_verified(server: Server, names: NameServer) -> None:
    domain, first = "www.claimed.example", f"/projects/{_deployed(server)}/pages/domains"
    other = server.call("POST", "/projects", json={"name": "owner-of-the-domain"}).json()["id"]
    second = f"/projects/{other}/pages/domains"
    assert server.call("POST", first, json={"domain": domain}).status_code == 201
    assert server.call("POST", first, json={"domain": domain}).json()["message"] == {
        "domain": ["has already been taken"]
    }
    refused = server.call("POST", second, json={"domain": domain})
    (message,) = refused.json()["message"]["domain"]
    name, _, code = message.partition("the record ")[2].partition(" and ")[0].split()
    assert (refused.status_code, name) == (400, f"_{CODE}.{domain}")
    names.records[name] = [code]
    taken = server.call("POST", second, json={"domain": domain})
    assert (taken.status_code, taken.json()["verified"]) == (201, True)
    assert server.call("GET", f"{first}/{domain}").status_code == 404
    # It is verified now, so nobody takes it back, whatever the records say.
    names.records[name] = [code, f"{CODE}=other"]
    assert server.call("POST", first, json={"domain": domain}).json()["message"] == {
        "domain": ["has already been taken"]
    }
    assert server.call("DELETE", f"/projects/{other}").status_code in (200, 202, 204)


def test_the_domain_of_a_deleted_project_is_free_at_once(make: Make) -> None:
    one, two = make_project(make), make_project(make)
    domain = {"domain": f"{make.name('freed')}.example"}
    assert make.api.post(f"{one.url}/pages/domains", make.root, **domain).status_code == 201
    assert make.api.delete(one.url, make.root, permanently_remove=True).status_code in (200, 202, 204)
    assert make.api.post(f"{two.url}/pages/domains", make.root, **domain).status_code == 201


def test_domains_that_nobody_verifies_are_removed_after_a_week(
    make: Make, instance: Instance, names: NameServer
) -> None:
    project, domain = make_project(make), f"{make.name('unverified')}.example"
    path = f"{project.url}/pages/domains"
    row = make.api.post(path, make.root, domain=domain).json()
    verification = DomainVerification(replace(instance.app.settings, pages_dns_server=names.address))
    domain_id = make.database.read(partial(find_domain, project_id=project.id, name=domain)).id

    def status_after(days: int) -> int:
        with later(instance, days=days):
            verification.run(make.database, domain_id)
            return make.api.get(f"{path}/{domain}", make.root).status_code

    assert [status_after(days) for days in (0, 6)] == [200, 200]
    names.records[domain] = [row["verification_code"]]
    assert status_after(7) == 200
    names.records[domain] = []
    # It was seen on the seventh day, is served for another week, and removed one later.
    assert [status_after(days) for days in (8, 15, 21)] == [200, 200, 200]
    assert status_after(22) == 404


def test_domains_need_no_record_where_administrators_trust_all_users(server: Server, ports: tuple[int, int]) -> None:
    path = f"/projects/{_deployed(server)}/pages/domains"
    assert server.call("POST", path, json={"domain": "www.trusted.example"}).status_code == 201
    assert _get(ports[0], "/", "www.trusted.example").status_code == 404
    for enabled, status in ((False, 200), (True, 404)):
        settings = {"pages_domain_verification_enabled": enabled}
        assert server.call("PUT", "/application/settings", json=settings).status_code == 200
        assert _get(ports[0], "/", "www.trusted.example").status_code == status


def test_options_without_effect_on_this_server_are_refused(server: Server) -> None:
    path = f"/projects/{_deployed(server)}/pages"
    refused = server.call("PATCH", path, json={"pages_unique_domain_enabled": True})
    assert refused.status_code == 400
    assert refused.json()["message"] == {
        "pages_unique_domain_enabled": ["is not available: the sites of this server have no subdomains"]
    }
    assert server.call("GET", path).json()["is_unique_domain_enabled"] is False
    assert server.call("PATCH", path, json={"pages_unique_domain_enabled": False}).status_code == 200
    domain, automatic = {"domain": "manual.example"}, {"auto_ssl_enabled": True}
    no_acme = {"auto_ssl_enabled": ["is not available on this server; upload a certificate instead"]}
    refused = server.call("POST", f"{path}/domains", json=domain | automatic)
    assert (refused.status_code, refused.json()["message"]) == (400, no_acme)
    assert server.call("POST", f"{path}/domains", json=domain | {"auto_ssl_enabled": False}).status_code == 201
    refused = server.call("PUT", f"{path}/domains/manual.example", json=automatic)
    assert (refused.status_code, refused.json()["message"]) == (400, no_acme)


@pytest.mark.parametrize("domain", ["localhost", "a..example", "127.0.0.1", "-a.example", "x" * 64 + ".example", ""])
def test_other_texts_are_no_domains(server: Server, domain: str) -> None:
    refused = server.call("POST", f"/projects/{_deployed(server)}/pages/domains", json={"domain": domain})
    assert refused.status_code == 400


def test_certificates_are_chosen_by_the_name_of_the_domain(
    server: Server, names: NameServer, ports: tuple[int, int], tmp_path: Path
) -> None:
    pem = Path(certificate_for(tmp_path, "secure.example")).read_text()
    begin = pem.index("-----BEGIN CERTIFICATE")
    path = f"/projects/{_deployed(server)}/pages/domains"
    sent = {"domain": "b.a.secure.example", "certificate": pem[begin:], "key": pem[:begin]}
    refused = server.call("POST", path, json=sent)
    assert (refused.status_code, refused.json()["message"]) == (
        400,
        {"certificate": ["is not valid for b.a.secure.example"]},
    )
    weak = rsa.generate_private_key(65537, 1024).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    refused = server.call("POST", path, json={**sent, "domain": "secure.example", "key": weak.decode()})
    assert refused.json()["message"] == {"key": ["Certificate Key is too short. (Min 2048 bits)"]}
    wildcard = Path(certificate_for(tmp_path, "*.wild.example")).read_text()
    begin_of_other = wildcard.index("-----BEGIN CERTIFICATE")
    for domain, status in (("a.wild.example", 201), ("wild.example", 400), ("a.b.wild.example", 400)):
        sent = {"domain": domain, "certificate": wildcard[begin_of_other:], "key": wildcard[:begin_of_other]}
        assert server.call("POST", path, json=sent).status_code == status, domain
    path = _verified_domain(server, names, "secure.example")
    wrong = Path(certificate_for(tmp_path, "other.example")).read_text()
    other_key = wrong[: wrong.index("-----BEGIN CERTIFICATE")]
    refused = server.call("PUT", path, json={"certificate": pem[begin:], "key": other_key})
    assert refused.status_code == 400, refused.text
    stored = server.call("PUT", path, data={}, files={"certificate": pem[begin:], "key": pem[:begin]})
    assert stored.status_code == 200, stored.text
    assert stored.json()["url"] == "https://secure.example"
    assert "CN=secure.example" in stored.json()["certificate"]["subject"]
    assert "key" not in stored.json()
    (tmp_path / "ca.pem").write_text(pem[begin:])
    shown = _get_securely(ports[1], "secure.example", tmp_path / "ca.pem")
    assert shown.endswith("a page of the site")
    # Sites with hosts below the same domain cannot set cookies with this prefix.
    project = f"/projects/{_deployed(server)}"
    assert server.call("PUT", project, json={"pages_access_level": "private"}).status_code == 200
    head = _get_securely(ports[1], "secure.example", tmp_path / "ca.pem").lower()
    (cookie,) = [line for line in head.splitlines() if line.startswith("set-cookie:")]
    assert cookie.startswith("set-cookie: __host-ingot_site_nonce=")
    assert "; path=/;" in cookie and cookie.endswith("; secure")
    server.call("PUT", project, json={"pages_access_level": "enabled"})
    with pytest.raises(ssl.SSLError):
        _get_securely(ports[1], "unknown.example", tmp_path / "ca.pem")
    redirects = f"/projects/{_deployed(server)}/pages"
    server.call("PATCH", redirects, json={"pages_https_only": True, "pages_primary_domain": "https://secure.example"})
    assert (
        _get(ports[0], "/index.html?a=b", "secure.example").headers["location"]
        == "https://secure.example/index.html?a=b"
    )
    moved = _get(ports[0], "/root/site/index.html", "127.0.0.1")
    assert (moved.status_code, moved.headers["location"]) == (307, "https://secure.example/index.html")
    foreign = server.call("PATCH", redirects, json={"pages_primary_domain": "https://foreign.example"})
    assert foreign.status_code == 400
    server.call("PATCH", redirects, json={"pages_https_only": False, "pages_primary_domain": ""})
    removed = server.call("PUT", path, data={"certificate": "", "key": ""}).json()
    assert "certificate" not in removed


def _get_securely(port: int, host: str, authority: Path) -> str:
    """Return the response to a request over TLS, whose certificate must be valid for the host."""
    context = ssl.create_default_context(cafile=str(authority))
    with (
        socket.create_connection(("127.0.0.1", port), timeout=30) as connection,
        context.wrap_socket(connection, server_hostname=host) as secured,
    ):
        secured.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        received = b""
        while piece := secured.recv(65536):
            received += piece
    return received.decode()


@contextmanager
def _pebble(folder: Path, names: NameServer) -> Iterator[tuple[str, int]]:
    """Run an ACME server; yield its directory and the port at which it expects answers."""
    listening, management, answers = free_ports(3)
    pem = certificate_for(folder, "localhost")
    text = Path(pem).read_text()
    (folder / "acme.pem").write_text(text[text.index("-----BEGIN CERTIFICATE") :])
    config = {
        "listenAddress": f"127.0.0.1:{listening}",
        "managementListenAddress": f"127.0.0.1:{management}",
        "certificate": pem,
        "privateKey": pem,
        "httpPort": answers,
        "tlsPort": free_port(),
    }
    (folder / "pebble.json").write_text(json.dumps({"pebble": config}))
    command = [os.environ["INGOT_TEST_PEBBLE"], "-config", str(folder / "pebble.json"), "-dnsserver", names.address]
    clean = {**os.environ, "PEBBLE_VA_NOSLEEP": "1"}
    with (folder / "pebble.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=clean)
        try:
            yield f"https://localhost:{listening}/dir", answers
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.skipif(not os.environ.get("INGOT_TEST_PEBBLE"), reason="INGOT_TEST_PEBBLE names no ACME server")
def test_certificates_are_obtained_by_acme(tmp_path: Path, names: NameServer) -> None:
    with _pebble(tmp_path, names) as (directory, port):
        server = Server(tmp_path / "data")
        own_ports = (port, free_port())
        acme = {
            "INGOT_PAGES_ACME_DIRECTORY": directory,
            "INGOT_PAGES_ACME_EMAIL": "admin@forge.example",
            "INGOT_PAGES_ACME_CA_FILE": str(tmp_path / "acme.pem"),
        }
        try:
            server.start(wait=True, **_settings(names, own_ports), **acme)
            path = _verified_domain(server, names, "automatic.example", auto_ssl_enabled=True)
            shown = until("the certificate", lambda: server.call("GET", path).json().get("certificate"))
            assert shown["expired"] is False
            assert "Pebble" in shown["certificate_text"]
        finally:
            server.kill()
