"""Signed commits by the real git: verified against the SSH and GPG keys of users."""

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ingot.accounts.users.tables import users
from ingot.repositories.certificates.service import enqueue_revocation_checks
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, changed_settings, make_project
from tests.web.browser import Browser
from tests.x509_signer import other_authority, revocation_list, x509_program


def _run(*command: str, cwd: Path, **env: str) -> str:
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1", **env}
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class _Signer:
    """A clone of a project in which a user signs commits."""

    def __init__(self, folder: Path, instance: Instance, person: User, project: Project) -> None:
        self.folder = folder
        self._push_to = f"{instance.url.replace('://', f'://x:{person.token}@')}/{project.path}.git"
        self._person = person
        _run("git", "init", "-q", "-b", "master", cwd=folder)

    def commit(self, *config: str, email: str = "", **env: str) -> str:
        options = [part for setting in config for part in ("-c", setting)]
        name = ("-c", f"user.email={email or self._person.email}", "-c", "user.name=Ada")
        _run("git", *options, *name, "commit", "-q", "--allow-empty", "-S", "-m", "Signed", cwd=self.folder, **env)
        _run("git", "push", "-q", self._push_to, "HEAD:master", cwd=self.folder)
        return _run("git", "rev-parse", "HEAD", cwd=self.folder)


@pytest.fixture
def project(make: Make, person: User, instance: Instance) -> Project:
    """Return a project of a user whose address is verified."""
    now = instance.app.database.clock()
    instance.app.database.write(lambda db: db.update(users, person.id, proven_at=now))
    return make_project(make, person)


def _status(make: Make, person: User, project: Project, oid: str) -> str:
    answer = make.api.get(f"{project.url}/repository/commits/{oid}/signature", person)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["verification_status"])


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_ssh_signature(
    tmp_path: Path, instance: Instance, browser: Browser, make: Make, person: User, project: Project, kind: str
) -> None:
    signer = _Signer(tmp_path, instance, person, project)
    _run("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", "key", cwd=tmp_path)
    config = ("gpg.format=ssh", f"user.signingkey={tmp_path / 'key'}")
    first = signer.commit(*config)
    assert _status(make, person, project, first) == "unknown_key"
    browser.signed_in_as(person)
    for address in (f"commit/{first}", "commits/master"):
        page = browser.get(f"/{project.path}/-/{address}").text
        assert ("Unverified" in page, "SSH signature by an unknown key" in page) == (True, True), address
    added = make.api.post("/user/keys", person, title="k", key=(tmp_path / "key.pub").read_text())
    assert added.status_code == 201
    assert _status(make, person, project, first) == "verified"
    tag = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={tmp_path / 'key'}", "-c", f"user.email={person.email}")
    _run("git", *tag, "-c", "user.name=Ada", "tag", "-s", "-m", "Signed tag", "v1", cwd=tmp_path)
    _run("git", "push", "-q", signer._push_to, "v1", cwd=tmp_path)
    of_tag = make.api.get(f"{project.url}/repository/tags/v1/signature", person).json()
    assert (of_tag["signature_type"], of_tag["verification_status"]) == ("SSH", "verified")
    make.api.post(f"{project.url}/repository/tags", person, tag_name="unsigned", ref="master", message="x")
    for name, caller, answer in (
        ("unsigned", person, 404),
        ("missing", person, 404),
        ("v1", make.user(), 404),
        ("v1", None, 401),
    ):
        path = f"{project.url}/repository/tags/{name}/signature"
        assert make.api.get(path, caller).status_code == answer, (name, caller)
    make.api.post(f"{project.url}/releases", person, tag_name="v1", description="x")
    signers = {f"commit/{first}": "committer", "commits/master": "committer"}
    signers |= dict.fromkeys(("tags", "tags/v1", "releases", "releases/v1"), "tagger")
    for address, signer_role in signers.items():
        page = browser.get(f"/{project.path}/-/{address}").text
        assert ("Verified" in page, "BEGIN SSH" in page) == (True, False), address
        assert f"Signed with SSH by a key of the {signer_role}, whose email address is verified" in page, address

    other = make.user()
    assert _status(make, person, project, signer.commit(*config, email=other.email)) == "unverified", "Another author."
    instance.app.database.write(lambda db: db.update(users, person.id, proven_at=None))
    assert _status(make, person, project, first) == "unverified", "The address is not verified."


def test_changed_ssh_signature(tmp_path: Path, instance: Instance, make: Make, person: User, project: Project) -> None:
    """Attack: the signature of one commit is attached to another."""
    signer = _Signer(tmp_path, instance, person, project)
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key", cwd=tmp_path)
    make.api.post("/user/keys", person, title="k", key=(tmp_path / "key.pub").read_text())
    signer.commit("gpg.format=ssh", f"user.signingkey={tmp_path / 'key'}")
    signed = _run("git", "cat-file", "commit", "HEAD", cwd=tmp_path)
    for forged in (signed.replace("\n\nSigned", "\n\nForged"), signed.replace("U1NIU0lH", "U1NIU0lI")):
        (tmp_path / "forged").write_text(forged + "\n")
        oid = _run("git", "hash-object", "-t", "commit", "-w", "forged", cwd=tmp_path)
        _run("git", "push", "-q", signer._push_to, f"{oid}:refs/heads/forged-{oid[:8]}", cwd=tmp_path)
        assert _status(make, person, project, oid) == "unverified"


@pytest.fixture
def gpg_home() -> Iterator[Path]:
    """Yield a folder for gpg, whose path is short enough for the socket of its agent."""
    if not (shutil.which("gpg") and shutil.which("gpgv")):
        pytest.skip("NO GPG: gpg or gpgv is missing")
    with tempfile.TemporaryDirectory(prefix="gpg", dir="/tmp") as folder:
        yield Path(folder)
        _run("gpgconf", "--kill", "all", cwd=Path(folder), GNUPGHOME=folder)


def test_gpg_signature(
    tmp_path: Path, gpg_home: Path, instance: Instance, make: Make, person: User, project: Project
) -> None:
    signer = _Signer(tmp_path, instance, person, project)
    home = {"GNUPGHOME": str(gpg_home)}
    create = ("gpg", "--batch", "--passphrase", "", "--quick-gen-key", person.email, "ed25519", "sign", "never")
    _run(*create, cwd=gpg_home, **home)
    first = signer.commit(f"user.signingkey={person.email}", **home)
    assert _status(make, person, project, first) == "unknown_key"
    armored = _run("gpg", "--armor", "--export", person.email, cwd=gpg_home, **home)
    added = make.api.post("/user/gpg_keys", person, key=armored)
    assert added.status_code == 201, added.text
    answer = make.api.get(f"{project.url}/repository/commits/{first}/signature", person).json()
    assert (answer["signature_type"], answer["verification_status"]) == ("PGP", "verified")
    assert answer["gpg_key_id"] == added.json()["id"]
    other = make.user()
    foreign = signer.commit(f"user.signingkey={person.email}", email=other.email, **home)
    assert _status(make, person, project, foreign) == "unknown_key"


@pytest.mark.parametrize("state", ["good", "expired", "expired subkey", "revoked"])
def test_signature_of_an_expired_or_revoked_gpg_key(
    tmp_path: Path, gpg_home: Path, instance: Instance, make: Make, person: User, project: Project, state: str
) -> None:
    """The holder of such a key could have made the signature at any time, so it is not verified."""
    signer = _Signer(tmp_path, instance, person, project)
    home = {"GNUPGHOME": str(gpg_home)}
    program = gpg_home / "gpg-in-2020"
    # The clock stands still: otherwise a key that took seconds to generate is from the future of the next command.
    program.write_text('#!/bin/sh\nexec gpg --faked-system-time 20200101T000000! "$@"\n')
    program.chmod(0o700)

    def gpg(*arguments: str) -> str:
        return _run(str(program), "--batch", "--passphrase", "", *arguments, cwd=gpg_home, **home)

    gpg("--quick-gen-key", person.email, "ed25519", "sign", "1y" if state == "expired" else "never")
    listed = gpg("--list-keys", "--with-colons").splitlines()
    fingerprint = next(line.split(":")[9] for line in listed if line.startswith("fpr"))
    if state == "expired subkey":
        gpg("--quick-add-key", fingerprint, "ed25519", "sign", "1y")
    oid = signer.commit(f"user.signingkey={fingerprint}", f"gpg.program={program}", **home)
    if state == "revoked":
        certificate = gpg_home / "openpgp-revocs.d" / f"{fingerprint}.rev"
        certificate.write_text(certificate.read_text().replace(":-----BEGIN", "-----BEGIN"))
        gpg("--import", str(certificate))
    added = make.api.post("/user/gpg_keys", person, key=gpg("--armor", "--export", fingerprint))
    assert added.status_code == 201, added.text
    assert _status(make, person, project, oid) == ("verified" if state == "good" else "unknown_key")


def test_signature_of_an_expired_ssh_key(
    tmp_path: Path, instance: Instance, make: Make, person: User, project: Project
) -> None:
    signer = _Signer(tmp_path, instance, person, project)
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key", cwd=tmp_path)
    oid = signer.commit("gpg.format=ssh", f"user.signingkey={tmp_path / 'key'}")
    key = (tmp_path / "key.pub").read_text()
    for expires_at, status in (("2001-01-01T00:00:00Z", "unverified"), ("2999-01-01T00:00:00Z", "verified")):
        added = make.api.post("/user/keys", person, title="k", key=key, expires_at=expires_at)
        assert added.status_code == 201, added.text
        assert _status(make, person, project, oid) == status
        make.api.delete(f"/user/keys/{added.json()['id']}", person)


def test_x509_signature(
    tmp_path: Path,
    instance: Instance,
    browser: Browser,
    make: Make,
    person: User,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The certificate is shown; the signature is verified if its authority is trusted and it names the committer."""
    signer = _Signer(tmp_path, instance, person, project)
    config = ("gpg.format=x509", f"gpg.x509.program={x509_program(tmp_path, person.email)}", "user.signingkey=x")
    untrusted = signer.commit(*config)
    answer = make.api.get(f"{project.url}/repository/commits/{untrusted}/signature", person).json()
    assert (answer["signature_type"], answer["verification_status"]) == ("X509", "unverified")
    certificate = answer["x509_certificate"]
    assert (certificate["subject"], certificate["email"]) == ("CN=Ada,O=World", person.email)
    assert (certificate["serial_number"], certificate["certificate_status"]) == (2**80, "good")
    assert certificate["subject_key_identifier"].count(":") == 19
    issuer = certificate["x509_issuer"]
    assert (issuer["subject"], issuer["crl_url"]) == ("CN=PKI,O=World", "http://pki.example.com/pki.crl")
    assert len({certificate["subject_key_identifier"], issuer["subject_key_identifier"]}) == 2
    browser.signed_in_as(person)
    page = browser.get(f"/{project.path}/-/commit/{untrusted}").text
    assert "X509 signature with a certificate that is not trusted: CN=Ada,O=World" in page

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    trusted = signer.commit(*config)
    assert _status(make, person, project, trusted) == "verified"
    page = browser.get(f"/{project.path}/-/commit/{trusted}").text
    assert "Signed with a trusted X509 certificate that names the committer" in page
    tag = [part for setting in (*config, f"user.email={person.email}", "user.name=Ada") for part in ("-c", setting)]
    _run("git", *tag, "tag", "-s", "-m", "Signed tag", "v1", cwd=tmp_path)
    _run("git", "push", "-q", signer._push_to, "v1", cwd=tmp_path)
    of_tag = make.api.get(f"{project.url}/repository/tags/v1/signature", person).json()
    assert (of_tag["verification_status"], of_tag["x509_certificate"]) == ("verified", certificate)

    other = make.user()
    assert _status(make, person, project, signer.commit(*config, email=other.email)) == "unverified", "Another author."
    early = signer.commit(*config, GIT_COMMITTER_DATE="2001-01-01T00:00:00Z")
    assert _status(make, person, project, early) == "unverified", "The certificate was not valid yet."


def test_changed_x509_signature(
    tmp_path: Path, instance: Instance, make: Make, person: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: a signature of other content, and ones that are malformed, have no certificate."""
    signer = _Signer(tmp_path, instance, person, project)
    program = x509_program(tmp_path, person.email)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    signer.commit("gpg.format=x509", f"gpg.x509.program={program}", "user.signingkey=x")
    signed = _run("git", "cat-file", "commit", "HEAD", cwd=tmp_path)
    start = signed.index("gpgsig")
    empty = signed[:start] + "gpgsig -----BEGIN SIGNED MESSAGE-----\n MIIB\n -----END SIGNED MESSAGE-----\n\nSigned"
    armor = signed[:start] + "gpgsig -----BEGIN CMS\n\nSigned"
    for forged in (signed.replace("\n\nSigned", "\n\nForged"), empty, armor):
        (tmp_path / "forged").write_text(forged + "\n")
        oid = _run("git", "hash-object", "-t", "commit", "-w", "forged", cwd=tmp_path)
        _run("git", "push", "-q", signer._push_to, f"{oid}:refs/heads/forged-{oid[:8]}", cwd=tmp_path)
        answer = make.api.get(f"{project.url}/repository/commits/{oid}/signature", person).json()
        assert (answer["verification_status"], "x509_certificate" in answer) == ("unverified", False), forged


class _ListServer:
    """A server of revocation lists, which may be any bytes."""

    def __init__(self) -> None:
        self.body, self.status, self.requests = b"", 200, 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests += 1
                self.send_response(outer.status)
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_: object) -> None:
                """Write nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/pki.crl"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def lists() -> Iterator[_ListServer]:
    """Yield a server of revocation lists."""
    server = _ListServer()
    yield server
    server.close()


def test_revoked_certificate(
    tmp_path: Path,
    instance: Instance,
    browser: Browser,
    make: Make,
    person: User,
    project: Project,
    lists: _ListServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The list of the issuer is read when a certificate is new, and daily; only a list that the issuer has signed."""
    signer = _Signer(tmp_path, instance, person, project)
    program = x509_program(tmp_path, person.email, lists.url)
    oid = signer.commit("gpg.format=x509", f"gpg.x509.program={program}", "user.signingkey=x")

    def status() -> tuple[str, str]:
        answer = make.api.get(f"{project.url}/repository/commits/{oid}/signature", person).json()
        return answer["verification_status"], answer["x509_certificate"]["certificate_status"]

    def check() -> tuple[str, str]:
        make.database.write(enqueue_revocation_checks)
        instance.work()
        return status()

    lists.body = revocation_list(tmp_path, revoked=False)
    # Anybody can push a certificate that names an address, so lists of untrusted ones are not read.
    assert status() == ("unverified", "good")
    assert check() == ("unverified", "good")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    oid = signer.commit("gpg.format=x509", f"gpg.x509.program={program}", "user.signingkey=x")
    assert status() == ("verified", "good")
    assert lists.requests == 0
    with changed_settings(make, allow_local_requests_from_web_hooks_and_services=False):
        assert check() == ("verified", "good")
        assert lists.requests == 0, "Local addresses are not allowed."
    with changed_settings(make, allow_local_requests_from_web_hooks_and_services=True):
        assert check() == ("verified", "good")
        assert lists.requests == 1
        good = lists.body
        other_authority(tmp_path)
        (tmp_path / "index.txt").unlink()
        forged = revocation_list(tmp_path, revoked=True, signer="other")
        (tmp_path / "index.txt").unlink()
        true = revocation_list(tmp_path, revoked=True)
        for body in (forged, b"", b"<html>", b"-----BEGIN X509 CRL-----\nAA==", true[:-9] + bytes(9), good[:40]):
            lists.body = body
            assert check() == ("verified", "good")
        lists.body, lists.status = true, 404
        assert check() == ("verified", "good")
        lists.status = 200
        assert check() == ("unverified", "revoked")
        lists.body = good
        assert check() == ("unverified", "revoked"), "An old list makes nothing good again."
    browser.signed_in_as(person)
    page = browser.get(f"/{project.path}/-/commit/{oid}").text
    assert "X509 signature with a certificate that its issuer has revoked: CN=Ada,O=World" in page


def test_new_certificate_is_checked_at_once(
    tmp_path: Path,
    instance: Instance,
    make: Make,
    person: User,
    project: Project,
    lists: _ListServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signer = _Signer(tmp_path, instance, person, project)
    program = x509_program(tmp_path, person.email, lists.url)
    pem = tmp_path / "list.pem"
    revocation_list(tmp_path, revoked=True)
    lists.body = pem.read_bytes()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    oid = signer.commit("gpg.format=x509", f"gpg.x509.program={program}", "user.signingkey=x")
    with changed_settings(make, allow_local_requests_from_web_hooks_and_services=True):
        assert _status(make, person, project, oid) == "verified"
        instance.work()
    assert _status(make, person, project, oid) == "unverified"


@pytest.mark.parametrize("url", [None, "ldap://pki.example.com/cn=PKI"])
def test_certificate_without_a_list_over_http_is_good(
    tmp_path: Path,
    instance: Instance,
    make: Make,
    person: User,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    url: str | None,
) -> None:
    signer = _Signer(tmp_path, instance, person, project)
    program = x509_program(tmp_path, person.email, url)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    oid = signer.commit("gpg.format=x509", f"gpg.x509.program={program}", "user.signingkey=x")
    answer = make.api.get(f"{project.url}/repository/commits/{oid}/signature", person).json()
    assert (answer["verification_status"], answer["x509_certificate"]["certificate_status"]) == ("verified", "good")
    assert answer["x509_certificate"]["x509_issuer"]["crl_url"] == url
