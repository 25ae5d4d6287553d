"""Uploads to projects."""

import io
import os
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.core.storage.files import FileStorage
from ingot.maintenance.doctor.files import check_files
from ingot.projects.uploads.files import UploadFiles, upload_files
from ingot.projects.uploads.jobs import SWEEP_AFTER_SECONDS, UploadJobs
from ingot.projects.uploads.names import sanitize_file_name
from tests.client import Api, Make, User
from tests.conftest import Instance

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32
MEGABYTE = 2**20


@pytest.fixture
def owner(make: Make) -> User:
    """Return a user with a project."""
    return make.user()


@pytest.fixture
def project(api: Api, make: Make, owner: User) -> dict[str, Any]:
    """Return a private project."""
    made = api.post("/projects", owner, name=make.name("uploads"), visibility="private")
    assert made.status_code == 201, made.text
    found: dict[str, Any] = made.json()
    return found


def upload(api: Api, project: dict[str, Any], who: User | None, name: str, content: bytes = PNG) -> httpx.Response:
    """Upload a file."""
    return api.request("POST", f"/projects/{project['id']}/uploads", who, files={"file": (name, content)})


def stored(instance: Instance, project: dict[str, Any]) -> list[Path]:
    """Return all files of a project."""
    folder = upload_files(instance.settings).root / str(project["id"])
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("name", "alt", "mark"),
    [
        ("dk.png", "dk", "!"),
        ("My Photo (1).JPEG", "My_Photo__1_", "!"),
        ("report.pdf", "report.pdf", ""),
        ("drawing.svg", "drawing.svg", ""),
        ("Makefile", "Makefile", ""),
    ],
)
def test_an_upload_is_stored_and_returned_as_markdown(
    instance: Instance, api: Api, owner: User, project: dict[str, Any], name: str, alt: str, mark: str
) -> None:
    """Images are embedded, other files are linked."""
    answer = upload(api, project, owner, name)
    assert answer.status_code == 201, answer.text
    view = answer.json()
    (path,) = stored(instance, project)
    secret = path.parent.name
    assert len(secret) == 32
    assert view["url"] == f"/uploads/{secret}/{path.name}"
    assert view["full_path"] == f"/{project['path_with_namespace']}{view['url']}"
    assert view["alt"] == alt
    assert view["markdown"] == f"{mark}[{alt}]({view['url']})"
    assert view["id"] > 0
    assert path.read_bytes() == PNG
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


NAMES = [
    ("a.txt", "a.txt"),
    ("../../../etc/passwd", "passwd"),
    ("..\\..\\windows\\system.ini", "system.ini"),
    ("C:\\temp\\a.txt", "a.txt"),
    ("/etc/passwd", "passwd"),
    ("..", "unnamed"),
    (".", "unnamed"),
    ("...", "unnamed"),
    ("a/", "unnamed"),
    (".htaccess", "htaccess"),
    ("..%2f..%2fetc%2fpasswd", "%2f..%2fetc%2fpasswd".replace("%", "_")),
    ("a\nb\r\x00c\x1b\x7f.txt", "a_b__c__.txt"),
    ("a b(c)[d]!<e>&'\"`$;|.txt", "a_b_c__d___e________.txt"),
    ("ünïcødé 漢字.txt", "ünïcødé_漢字.txt"),
    ("हिन्दी.png", "हिन्दी.png"),
    ("e\u0301.txt", "é.txt"),
    ("cat🐈.png", "cat🐈.png"),
    ("txt.exe\u202egnp.png", "txt.exe_gnp.png"),
    ("a\u200b.txt", "a_.txt"),
    ("x" * 300 + ".tar.gz", "x" * 252 + ".gz"),
    ("漢" * 200 + ".png", "漢" * 83 + ".png"),
    ("x." + "y" * 300, "x." + "y" * 253),
]


@pytest.mark.parametrize(("name", "kept"), NAMES)
def test_file_names_are_sanitized(name: str, kept: str) -> None:
    """No path, no hidden file, no characters special to shells, headers or Markdown; all languages."""
    assert sanitize_file_name(name) == kept
    assert len(kept.encode()) <= 255
    assert sanitize_file_name(kept) == kept


@pytest.mark.parametrize("name", ["../../../etc/passwd", "..", ".git", "a\\..\\b", "x" * 400, "漢字 1.png"])
def test_no_name_leaves_the_upload_directory(
    instance: Instance, api: Api, owner: User, project: dict[str, Any], name: str
) -> None:
    """Attack: path traversal in the file name."""
    answer = upload(api, project, owner, name)
    assert answer.status_code == 201, answer.text
    (path,) = stored(instance, project)
    assert path.parent.parent == upload_files(instance.settings).root / str(project["id"])
    assert path.name == sanitize_file_name(name)


def test_the_older_api_prefix_works_for_uploads_only(
    instance: Instance, api: Api, owner: User, project: dict[str, Any]
) -> None:
    """Some clients still call it."""
    headers = {"PRIVATE-TOKEN": owner.token}
    old = f"{instance.url}/api/v3/projects"
    file = {"file": ("a.txt", b"hello")}
    for name in (project["id"], project["path_with_namespace"].replace("/", "%2F")):
        answer = httpx.post(f"{old}/{name}/uploads", headers=headers, files=file)
        assert (answer.status_code, answer.json()["alt"]) == (201, "a.txt")
    assert httpx.post(f"{old}/{project['id']}/uploads", files=file).status_code == 401
    for path in ("", f"/{project['id']}", f"/{project['id']}/uploads/x", f"/{project['id']}/import"):
        answer = httpx.get(old + path, headers=headers)
        assert (answer.status_code, answer.json()) == (404, {"error": "404 Not Found"})
    assert httpx.get(f"{instance.url}/api/v3/user", headers=headers).status_code == 404


def test_permission_to_upload(api: Api, make: Make, owner: User, project: dict[str, Any]) -> None:
    """Users who can see the project, unless it is archived."""
    stranger = make.user()
    reader = owner.with_token(make.token(owner.id, "read_api"))
    assert [upload(api, project, who, "a.txt").status_code for who in (owner, stranger, reader, None)] == [
        201,
        404,
        403,
        401,
    ]
    assert api.put(f"/projects/{project['id']}", owner, visibility="internal").status_code == 200
    assert upload(api, project, stranger, "a.txt").status_code == 201
    assert api.post(f"/projects/{project['id']}/archive", owner).status_code == 201
    assert upload(api, project, owner, "a.txt").status_code == 403


def test_invalid_uploads_are_rejected(instance: Instance, api: Api, owner: User, project: dict[str, Any]) -> None:
    """A missing part, a text field, and a body that is not multipart."""
    path = f"/projects/{project['id']}/uploads"
    missing = api.request("POST", path, owner, files={"other": ("a.txt", b"x")})
    assert (missing.status_code, missing.json()["message"]) == (400, '400 (Bad request) "file" not given')
    assert api.request("POST", path, owner).status_code == 400
    text = api.post(path, owner, file="content")
    assert (text.status_code, text.json()["message"]) == (400, {"file": ["is invalid"]})
    form = api.request("POST", path, owner, data={"file": "content"})
    assert form.status_code == 400
    broken = api.request(
        "POST", path, owner, content=b"--x\r\n", headers={"Content-Type": "multipart/form-data; boundary=y"}
    )
    assert broken.status_code == 400
    assert stored(instance, project) == []


@pytest.fixture
def one_megabyte(api: Api, make: Make) -> Any:
    """Set the attachment limit to one megabyte."""
    assert api.put("/application/settings", make.root, max_attachment_size=1).status_code == 200
    yield
    assert api.put("/application/settings", make.root, max_attachment_size=100).status_code == 200


def test_the_attachment_limit_applies(
    instance: Instance, api: Api, owner: User, project: dict[str, Any], one_megabyte: None
) -> None:
    """A megabyte is accepted, one byte more is rejected, and a much larger body is not read."""
    most = upload(api, project, owner, "most.bin", b"x" * MEGABYTE)
    assert most.status_code == 201, most.text
    for size in (MEGABYTE + 1, 3 * MEGABYTE):
        answer = upload(api, project, owner, "more.bin", b"x" * size)
        assert (answer.status_code, answer.json()) == (413, {"message": "413 Request Entity Too Large"})
    assert [path.name for path in stored(instance, project)] == ["most.bin"]
    assert stored(instance, project)[0].stat().st_size == MEGABYTE


def test_a_large_file_is_accepted(instance: Instance, api: Api, owner: User, project: dict[str, Any]) -> None:
    """Larger than other bodies may be; anonymous bodies, which may contain the token, are smaller."""
    content = os.urandom(MEGABYTE) * 20
    answer = upload(api, project, owner, "large.bin", content)
    assert answer.status_code == 201, answer.text
    assert stored(instance, project)[0].read_bytes() == content
    url = f"{instance.url}/api/v4/projects/{project['id']}/uploads"
    refused = httpx.post(url, files={"file": ("large.bin", content)})
    assert (refused.status_code, refused.json()) == (401, {"message": "401 Unauthorized"})
    inside = httpx.post(url, data={"private_token": owner.token}, files={"file": ("small.bin", content[:MEGABYTE])})
    assert inside.status_code == 201


@pytest.mark.parametrize("named", ["", '; filename="x"'])
def test_too_many_parts_are_rejected(
    instance: Instance, api: Api, owner: User, project: dict[str, Any], named: str
) -> None:
    """Attack: parts that are cheap to send and expensive to parse."""
    part = f'--x\r\nContent-Disposition: form-data; name="file"{named}\r\n\r\n\r\n'.encode()
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    began = time.process_time()
    answer = api.request(
        "POST", f"/projects/{project['id']}/uploads", owner, content=part * 100_000 + b"--x--\r\n", headers=headers
    )
    assert answer.status_code == 400
    assert time.process_time() - began < 5
    assert stored(instance, project) == []


def test_uploads_are_deleted_with_the_project(
    instance: Instance, api: Api, owner: User, project: dict[str, Any]
) -> None:
    """By the job that removes the repository."""
    assert upload(api, project, owner, "a.txt").status_code == 201
    folder = upload_files(instance.settings).root / str(project["id"])
    assert folder.is_dir()
    assert api.delete(f"/projects/{project['id']}", owner).status_code == 200
    instance.work()
    assert not folder.exists()


class FullDisk(io.BytesIO):
    """File object that fails in the middle of a read."""

    def read(self, _size: int | None = -1, /) -> bytes:
        if self.tell():
            raise OSError(28, "No space left on device")
        return super().read(10)


def test_a_full_disk_leaves_no_partial_file(tmp_path: Path) -> None:
    """The next upload works."""
    files = UploadFiles(FileStorage(tmp_path / "uploads"))
    with pytest.raises(OSError, match="No space"):
        files.store(1, "a" * 32, "a.txt", FullDisk(b"x" * 100))
    assert [path for path in files.root.rglob("*") if path.name != "1"] == []
    assert files.store(1, "a" * 32, "a.txt", io.BytesIO(b"hello")) == 5


def test_files_without_a_row_are_deleted(instance: Instance, api: Api, owner: User, project: dict[str, Any]) -> None:
    """As left by a crash between file and row; recent files, and files with a row, stay."""
    assert upload(api, project, owner, "kept.lock").status_code == 201
    files = upload_files(instance.settings)
    hours_ago = time.time() - 7200
    os.utime(stored(instance, project)[0], (hours_ago, hours_ago))
    old, young = "a" * 32, "b" * 32
    (kept,) = stored(instance, project)
    files.store(project["id"], old, "old.txt", io.BytesIO(b"x"))
    (files.root / str(project["id"]) / f"{'c' * 32}.partial").write_bytes(b"half")
    database = instance.app.database
    UploadJobs(files).sweep(database, None)
    assert len(stored(instance, project)) == 3, "they are young"

    def known(number: int) -> set[str]:
        """Return everything for projects of other tests."""
        mine = number == project["id"]
        return {kept.parent.name} if mine else {path.name for path in (files.root / str(number)).iterdir()}

    swept = files.sweep(known, -60)  # Everything older than a minute from now.
    assert {path.name for path in swept} == {old, f"{'c' * 32}.partial"}
    files.store(project["id"], young, "young.txt", io.BytesIO(b"x"))
    files.sweep(known, SWEEP_AFTER_SECONDS)
    assert {path.name for path in stored(instance, project)} == {"young.txt", "kept.lock"}
    assert not [finding for finding in check_files(instance.settings) if "kept.lock" in finding.text]


def test_maintainers_list_and_delete_uploads(api: Api, make: Make, owner: User, project: dict[str, Any]) -> None:
    developer, uploads = make.user(), f"/projects/{project['id']}/uploads"
    assert (
        api.post(f"/projects/{project['id']}/members", owner, user_id=developer.id, access_level=30).status_code == 201
    )
    first, second = (upload(api, project, developer, f"{name}.png").json() for name in ("first", "second"))

    listed = api.get(uploads, owner)
    assert listed.status_code == 200
    assert [(each["id"], each["filename"], each["size"]) for each in listed.json()] == [
        (second["id"], "second.png", len(PNG)),
        (first["id"], "first.png", len(PNG)),
    ]
    assert {each["uploaded_by"]["username"] for each in listed.json()} == {developer.username}
    assert api.get(uploads, developer).status_code == 403
    assert api.get(uploads, make.user()).status_code == 404

    by_name = second["url"].removeprefix("/uploads/")
    for path in (str(first["id"]), by_name):
        assert api.delete(f"{uploads}/{path}", developer).status_code == 403
        assert api.delete(f"{uploads}/{path}", owner).status_code == 204
        assert api.delete(f"{uploads}/{path}", owner).status_code == 404
    assert api.get(uploads, owner).json() == []


def test_uploads_are_downloaded(api: Api, make: Make, owner: User, project: dict[str, Any]) -> None:
    """Maintainers download by the id, which can be guessed; users who see the project by secret and name."""
    guest, uploads = make.user(), f"/projects/{project['id']}/uploads"
    assert api.post(f"/projects/{project['id']}/members", owner, user_id=guest.id, access_level=10).status_code == 201
    stored_upload = upload(api, project, owner, "ünï <b>.html", b"<script>1</script>").json()
    by_id, by_name = f"{uploads}/{stored_upload['id']}", f"{uploads}{stored_upload['url'].removeprefix('/uploads')}"

    for path, caller in ((by_id, owner), (by_name, owner), (by_name, guest)):
        answer = api.get(path, caller)
        assert (answer.status_code, answer.content) == (200, b"<script>1</script>")
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment; ")
        assert "sandbox" in answer.headers["content-security-policy"]
    part = api.request("GET", by_name, guest, headers={"Range": "bytes=1-6"})
    assert (part.status_code, part.content) == (206, b"script")
    refused = [(by_id, guest), (by_id, make.user()), (by_name, make.user()), (by_name, None), (f"{by_name}x", owner)]
    assert [api.get(path, caller).status_code for path, caller in refused] == [403, 404, 404, 404, 404]
    other = api.post("/projects", owner, name=make.name("other")).json()
    assert api.get(by_id.replace(f"/{project['id']}/", f"/{other['id']}/"), owner).status_code == 404

    assert api.put(f"/projects/{project['id']}", owner, visibility="public").status_code == 200
    assert api.get(by_name).status_code == 200
    assert api.delete(by_id, owner).status_code == 204
    assert [api.get(path, owner).status_code for path in (by_id, by_name)] == [404, 404]
