"""Endpoints of secure files, their encryption, and facts about certificates and profiles."""

import datetime
import hashlib
import plistlib
from functools import partial
from typing import Any

import gitlab
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs7, pkcs12

from ingot.ci.secure_files.files import secure_file_store_of
from ingot.ci.secure_files.jobs import SecureFileJobs
from ingot.ci.secure_files.queries import find_secure_file
from ingot.ci.secure_files.service import MAX_FILE_BYTES, MAX_FILES
from ingot.ci.secure_files.tables import secure_files
from ingot.maintenance.doctor.artifacts import check_encrypted_files
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.roles import UsersByRole, project_with

EXPIRY = datetime.datetime(2031, 5, 4, 3, 2, 1, tzinfo=datetime.UTC)


def _upload(
    make: Make, project: Project, name: str = "key.jks", content: bytes = b"secret", user: User | None = None
) -> httpx.Response:
    url = f"{project.url}/secure_files"
    return make.api.request("POST", url, user or make.root, files={"file": ("upload", content)}, data={"name": name})


def _create(make: Make, project: Project, name: str = "key.jks", content: bytes = b"secret") -> dict[str, Any]:
    made = _upload(make, project, name, content)
    assert made.status_code == 201, made.text
    file: dict[str, Any] = made.json()
    return file


def test_a_file_is_uploaded_downloaded_and_deleted(make: Make, instance: Instance) -> None:
    project, other = make_project(make), make_project(make)
    url, content = f"{project.url}/secure_files", bytes(range(256)) * 40
    first, second = _create(make, project, "key.jks", content), _create(make, project, "other")
    assert first["checksum"] == hashlib.sha256(content).hexdigest() and first["checksum_algorithm"] == "sha256"
    assert first["file_extension"] == "jks" and second["file_extension"] is None
    assert first["metadata"] is None and first["expires_at"] is None
    assert [each["id"] for each in make.api.get(url, make.root).json()] == [second["id"], first["id"]]
    assert len(make.api.get(url, make.root, per_page=1).json()) == 1
    one = f"{url}/{first['id']}"
    assert make.api.get(one, make.root).json() == first
    downloaded = make.api.get(f"{one}/download", make.root)
    assert downloaded.content == content and 'filename="key.jks"' in downloaded.headers["content-disposition"]
    store = secure_file_store_of(instance.app.settings)
    row = make.database.read(partial(find_secure_file, project_id=project.id, file_id=first["id"]))
    stored = store.storage.disk.path_of(row.storage_key)
    assert content[:64] not in stored.read_bytes() and stored.stat().st_mode & 0o077 == 0
    for path in (one, f"{one}/download"):
        assert make.api.get(path.replace(project.url, other.url), make.root).status_code == 404
    assert make.api.delete(one, make.root).status_code == 204
    for answer in (make.api.get(one, make.root), make.api.get(f"{one}/download", make.root)):
        assert answer.status_code == 404 and answer.json() == {"message": "404 Secure File Not Found"}
    assert make.api.delete(one, make.root).status_code == 404
    instance.work()
    assert not stored.exists()


def test_invalid_files_are_refused(make: Make) -> None:
    project = make_project(make)
    _create(make, project)
    for name, errors in (
        ("key.jks", ["has already been taken"]),
        (" ", ["can't be blank"]),
        ("../key", ["is invalid"]),
        ("..", ["is invalid"]),
        ("a\nb", ["is invalid"]),
    ):
        refused = _upload(make, project, name)
        assert refused.status_code == 400 and refused.json()["message"] == {"name": errors}, name
    assert _upload(make, project, "x" * 256).status_code == 400
    assert _upload(make, project, "empty", b"").status_code == 400
    assert _upload(make, project, "big", bytes(MAX_FILE_BYTES + 1)).status_code == 413
    assert _upload(make, project, "largest", bytes(MAX_FILE_BYTES)).status_code == 201
    url = f"{project.url}/secure_files"
    assert make.api.post(url, make.root, name="a").status_code == 400
    assert make.api.post(url, make.root, name="a", file="text").status_code == 400
    assert make.api.request("POST", url, make.root, files={"file": ("a", b"x")}).status_code == 400


def test_the_number_of_files_is_limited(make: Make) -> None:
    project = make_project(make)
    row = {"project_id": project.id, "checksum": "", "stored_size": 1, "created_at": ""}
    for number in range(MAX_FILES):
        key = f"{project.id} {number}"
        make.database.write(partial(_insert, row={**row, "name": key, "storage_key": key}))
    refused = _upload(make, project)
    assert refused.status_code == 400 and str(MAX_FILES) in refused.text


def _insert(db: Any, row: dict[str, Any]) -> None:
    db.insert(secure_files, **row)


def test_developers_read_and_maintainers_change(make: Make) -> None:
    roles = UsersByRole(make)
    project = project_with(make, roles)
    file = _create(make, project)
    one = f"{project.url}/secure_files/{file['id']}"
    read = {"master": 200, "developer": 200, "reporter": 403, "guest": 403, "stranger": 404, "nobody": 401}
    for role, status in read.items():
        for path in (f"{project.url}/secure_files", one, f"{one}/download"):
            assert make.api.get(path, roles[role]).status_code == status, (role, path)
    for role, status in {"developer": 403, "reporter": 403, "stranger": 404}.items():
        assert _upload(make, project, "new", user=roles[role]).status_code == status
        assert make.api.delete(one, roles[role]).status_code == status
    assert _upload(make, project, "new", user=roles.master).status_code == 201
    assert make.api.put(project.url, roles.owner, jobs_enabled=False).status_code == 200
    assert make.api.get(one, roles.owner).status_code == 403


def test_jobs_download_files_with_their_tokens(make: Make) -> None:
    project, other = make_project(make, default_branch="main"), make_project(make, visibility="private")
    file, hidden = _create(make, project), _create(make, other)
    commit_files(make, project, {".gitlab-ci.yml": "sign: {script: make}"})
    headers = {"JOB-TOKEN": project_runner(make, project.id).must_take().token}
    answer = make.api.request("GET", f"{project.url}/secure_files/{file['id']}/download", headers=headers)
    assert answer.status_code == 200 and answer.content == b"secret"
    foreign = f"{other.url}/secure_files/{hidden['id']}/download"
    assert make.api.request("GET", foreign, headers=headers).status_code == 404


def make_certificate(serial: int) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    """Return a certificate with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    names = ((x509.NameOID.COUNTRY_NAME, "DE"), (x509.NameOID.COMMON_NAME, "Signing"), (x509.NameOID.USER_ID, "ABC"))
    name = x509.Name([x509.NameAttribute(oid, value) for oid, value in names])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(serial).not_valid_before(EXPIRY - datetime.timedelta(days=9))
    return key, builder.not_valid_after(EXPIRY).sign(key, hashes.SHA256())


def make_profile(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate, properties: dict[str, Any]) -> bytes:
    """Return a signed provisioning profile with a certificate."""
    certificates = {"DeveloperCertificates": [certificate.public_bytes(serialization.Encoding.DER)]}
    builder = pkcs7.PKCS7SignatureBuilder().set_data(plistlib.dumps(properties | certificates))
    return builder.add_signer(certificate, key, hashes.SHA256()).sign(serialization.Encoding.DER, [])


def test_facts_about_certificates(make: Make) -> None:
    project = make_project(make)
    key, certificate = make_certificate(75949910542696343243264405377658443914)
    plain, locked = serialization.NoEncryption(), serialization.BestAvailableEncryption(b"x")
    der = certificate.public_bytes(serialization.Encoding.DER)
    contents = {
        "der.cer": der,
        "pem.cer": certificate.public_bytes(serialization.Encoding.PEM),
        "store.p12": pkcs12.serialize_key_and_certificates(None, key, certificate, None, plain),
    }
    subject = {"C": "DE", "CN": "Signing", "UID": "ABC"}
    for name, content in contents.items():
        file = _create(make, project, name, content)
        assert file["expires_at"] == "2031-05-04T03:02:01.000Z", name
        assert file["metadata"] == {
            "id": "75949910542696343243264405377658443914",
            "issuer": subject,
            "subject": subject,
            "expires_at": file["expires_at"],
        }
    unreadable = {
        "broken.cer": der[:-20],
        "locked.p12": pkcs12.serialize_key_and_certificates(None, key, certificate, None, locked),
        "der.txt": der,
    }
    for name, content in unreadable.items():
        assert _create(make, project, name, content)["metadata"] is None, name


def test_facts_about_provisioning_profiles(make: Make) -> None:
    project = make_project(make)
    key, certificate = make_certificate(17)
    signed = make_profile(
        key,
        certificate,
        {
            "UUID": "6b9fcce1",
            "Name": "Profile",
            "AppIDName": "App",
            "Platform": ["iOS"],
            "TeamIdentifier": ["ABC"],
            "Entitlements": {"get-task-allow": False},
            "ExpirationDate": EXPIRY.replace(tzinfo=None),
        },
    )
    file = _create(make, project, "app.mobileprovision", signed)
    facts = file["metadata"]
    assert file["expires_at"] == facts["expires_at"] == "2031-05-04T03:02:01.000Z"
    assert (facts["id"], facts["app_id"], facts["app_name"]) == ("6b9fcce1", "Profile", "App")
    assert facts["certificate_ids"] == ["17"] and facts["entitlements"] == {"get-task-allow": False}
    deep = b"<?xml version='1.0'?><plist>" + b"<array>" * 5000 + b"</array>" * 5000 + b"</plist>"
    bomb = b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><plist><string>&b;</string></plist>"
    for number, content in enumerate((deep, bomb, b"<?xml </plist>", b"<?xml?><plist><date>x</date></plist>", b"none")):
        assert _create(make, project, f"{number}.mobileprovision", content)["metadata"] is None, number


def test_the_sweep_deletes_files_without_a_row(make: Make, instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(make)
    file = _create(make, project)
    store = secure_file_store_of(instance.app.settings)
    lost = store.store(make.database.vault, b"lost").storage_key
    monkeypatch.setattr("ingot.ci.encrypted_files.jobs.SWEEP_AFTER_SECONDS", -1)
    SecureFileJobs(store).sweep(make.database, None)
    assert store.storage.size_of(lost) is None
    assert make.api.get(f"{project.url}/secure_files/{file['id']}/download", make.root).content == b"secret"


def test_the_doctor_reports_missing_files(make: Make, instance: Instance) -> None:
    project = make_project(make)
    file = _create(make, project)
    row = make.database.read(partial(find_secure_file, project_id=project.id, file_id=file["id"]))
    store = secure_file_store_of(instance.app.settings)
    store.delete(row.storage_key)

    def recorded(_db: Any, after: int) -> list[tuple[int, str, int]]:
        return [] if after else [(row.id, row.storage_key, row.stored_size)]

    (finding,) = check_encrypted_files(make.database, store, "Secure file", recorded)
    assert f"Secure file {row.id} is missing" in finding.text
    assert make.api.get(f"{project.url}/secure_files/{file['id']}/download", make.root).status_code == 404


def test_python_gitlab_uploads_and_downloads(make: Make, instance: Instance) -> None:
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        project = client.projects.get(make_project(make).id)
        file: Any = project.secure_files.create({"name": "a.txt", "file": b"content"})
        assert file.download() == b"content"
        assert [each.name for each in project.secure_files.list(get_all=True)] == ["a.txt"]
        file.delete()
        assert project.secure_files.list(get_all=True) == []
