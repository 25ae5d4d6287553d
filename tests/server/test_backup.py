"""``ingot backup`` and ``ingot restore``: between both engines, with verification of the archive."""

import gzip
import hashlib
import io
import json
import stat
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from ingot.core.db.schema import all_tables
from ingot.core.settings import Settings
from ingot.server.app import open_database
from tests.server.process import Server, fresh_database, ingot, serving, until

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
Members = dict[str, bytes]
PACKAGE = "/projects/root%2Fpacked/packages/generic/tool/1.0/tool.bin"
FILES_OF_JOBS = ("artifacts/ab/cd/0123", "traces/0/1.log")


def data_options(data: Path, database_url: str = "") -> list[str]:
    """Return the arguments that name an instance."""
    return ["--data", str(data), *(["--database-url", database_url] if database_url else [])]


def _furnish(server: Server) -> None:
    """Create rows of many tables, with unusual texts and bytes, and gaps in sequences."""
    person = {"username": "ana", "name": 'Ana "Ñ" \u2028\U0001f600\\', "email": "ana@example.org", "bio": "a\nb\tc"}
    made = server.call("POST", "/users", data={**person, "password": "a password"}, files={"avatar": ("a.png", PNG)})
    assert made.status_code == 201, made.text
    gone = server.call(
        "POST", "/users", json={**person, "username": "gone", "email": "gone@example.org", "password": "a password"}
    )
    assert server.call("DELETE", f"/users/{gone.json()['id']}").status_code == 200
    assert server.call("PUT", "/user/status", json={"message": "Busy"}).status_code == 200
    assert server.call("POST", f"/users/{made.json()['id']}/follow").status_code == 201
    assert server.call("POST", "/projects", json={"name": "packed"}).status_code == 201
    assert server.call("PUT", PACKAGE, content=PNG).status_code == 201
    (server.data / "uploads" / "empty").mkdir(parents=True)
    (server.data / "uploads" / "päper.bin").write_bytes(bytes(range(256)) * 4000)
    (server.data / "uploads" / "yarn.lock").write_text("somebody's")
    for name in FILES_OF_JOBS:
        (server.data / name).parent.mkdir(parents=True)
        (server.data / name).write_bytes(name.encode())
    (server.data / "ingot.toml").write_text("reported_version = '9.4.0'\n")


def all_rows(data: Path, database_url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, except for the last use of tokens, which is recorded later."""
    database = open_database(Settings(data=data, database_url=database_url))
    statements = {
        str(table): select(*(column for column in table.c if column.name != "last_used_at")).order_by(
            *table.primary_key
        )
        for table in all_tables()
    }
    try:
        return database.read(lambda db: {name: db.rows(statement) for name, statement in statements.items()})
    finally:
        database.close()


def _targets(database_url: str) -> list[str]:
    """Return SQLite and, if available, PostgreSQL."""
    return ["", fresh_database(database_url, "restored")] if database_url else [""]


@pytest.mark.parametrize("engine", ["of the run", "embedded"])
def test_a_backup_restores_into_either_engine(
    tmp_path: Path, database_url: str, empty_database: str, engine: str
) -> None:
    if engine == "embedded" and not database_url:
        pytest.skip("The run is for the embedded database already.")
    source, source_url = tmp_path / "source", empty_database if engine == "of the run" else ""
    file = tmp_path / "backup.tar.gz"
    with serving(source, source_url) as server:
        _furnish(server)
    # Recurring jobs of a running server may change rows between the backup and the comparison.
    written = ingot("backup", file, *data_options(source, source_url))
    assert written.returncode == 0, written.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.glob(".*")) == []
    before = all_rows(source, source_url)
    assert len(before["users"]) == 3 and len(before["avatars"]) == 1

    for number, target_url in enumerate(_targets(database_url)):
        target = tmp_path / f"target-{number}"
        restored = ingot("restore", file, *data_options(target, target_url))
        assert restored.returncode == 0, restored.stderr
        after = all_rows(target, target_url)
        assert after == before
        assert (target / "uploads" / "empty").is_dir()
        assert (target / "uploads" / "yarn.lock").exists()
        assert (target / "uploads" / "päper.bin").read_bytes() == bytes(range(256)) * 4000
        assert all((target / name).read_bytes() == name.encode() for name in FILES_OF_JOBS)
        assert ingot("doctor", *data_options(target, target_url)).stdout == "No problems found.\n"
        with serving(target, target_url) as server:
            assert server.call("GET", "/version").json()["version"].startswith("9.4.0")
            assert server.call("GET", PACKAGE).content == PNG
            new = server.call(
                "POST",
                "/users",
                json={"username": "fresh", "name": "N", "email": "n@example.org", "force_random_password": True},
            )
            # The id of a user deleted before the backup is not reused. PostgreSQL skips those of repeated attempts too.
            assert new.json()["id"] >= 5
            assert server.call("GET", "/users?username=ana").json()[0]["bio"] == "a\nb\tc"


def test_a_backup_is_consistent(server: Server, tmp_path: Path) -> None:
    """Users created during the backup are in it with namespace and token, or not at all."""
    stop = threading.Event()
    made: list[str] = []

    def create() -> None:
        while not stop.is_set():
            name = f"user-{len(made)}"
            sent = {"username": name, "name": name, "email": f"{name}@example.org", "force_random_password": True}
            assert server.call("POST", "/users", json=sent).status_code == 201
            made.append(name)

    thread = threading.Thread(target=create)
    thread.start()
    try:
        until("some users", lambda: len(made) >= 5)
        acknowledged = list(made)
        file = tmp_path / "backup.tar.gz"
        written = ingot("backup", file, *data_options(server.data, server.database_url))
        assert written.returncode == 0, written.stderr
    finally:
        stop.set()
        thread.join()
    assert len(made) > len(acknowledged)
    target = tmp_path / "target"
    assert ingot("restore", file, *data_options(target)).returncode == 0
    rows = all_rows(target, "")
    names = {row[1] for row in rows["users"]}
    assert set(acknowledged) <= names <= {"root", "ghost", *made, f"user-{len(made)}"}
    assert (
        len(rows["users"])
        == len(rows["namespaces"])
        == len([row for row in rows["access_tokens"] if row[2] == "private"])
    )
    assert ingot("doctor", *data_options(target)).returncode == 0


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a valid backup of a SQLite instance."""
    folder = tmp_path_factory.mktemp("backup")
    data, file = folder / "data", folder / "good.tar.gz"
    assert ingot("migrate", "--data", data).returncode == 0
    (data / "uploads").mkdir()
    (data / "uploads" / "one.txt").write_text("one")
    assert ingot("backup", file, "--data", data).returncode == 0
    return file


def _members(backup: Path) -> Members:
    with tarfile.open(backup) as archive:
        return {
            member.name: archive.extractfile(member).read()  # type: ignore[union-attr] # Those are files.
            for member in archive
            if member.isreg()
        }


def _written(file: Path, members: Members, *strange: tarfile.TarInfo, manifest: dict[str, Any] | None = None) -> Path:
    """Write an archive with a given manifest."""
    document = json.loads(members["manifest.json"]) if manifest is None else manifest
    with tarfile.open(file, "w:gz") as archive:
        for name, content in members.items():
            if name == "manifest.json":
                continue
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for entry in strange:
            archive.addfile(entry, io.BytesIO(b"x" * entry.size))
        content = json.dumps(document).encode()
        entry = tarfile.TarInfo("manifest.json")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return file


def _assert_rejected(file: Path, target: Path, *words: str) -> None:
    """Assert that the restore prints the reason in one line, and writes nothing."""
    done = ingot("restore", file, "--data", target)
    assert done.returncode == 1
    assert done.stderr.startswith("ingot: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr
    assert not target.exists()


def _flipped(content: bytes) -> bytes:
    return content[:-30] + bytes([content[-30] ^ 1]) + content[-29:]


MODIFICATIONS: list[tuple[str, Callable[[Members], None], str]] = [
    (
        "a row",
        lambda members: members.update({"tables/users.ndjson": _flipped(members["tables/users.ndjson"])}),
        "tables/users.ndjson does not match",
    ),
    ("a file", lambda members: members.update({"uploads/one.txt": b"two"}), "uploads/one.txt does not match"),
    ("an addition", lambda members: members.update({"uploads/two.txt": b"two"}), "uploads/two.txt does not match"),
    ("a loss", lambda members: members.__delitem__("secrets/instance.key"), "secrets/instance.key does not match"),
    ("a lost table", lambda members: members.__delitem__("tables/users.ndjson"), "tables/users.ndjson does not match"),
]


@pytest.mark.parametrize(
    ("change", "said"), [case[1:] for case in MODIFICATIONS], ids=[case[0] for case in MODIFICATIONS]
)
def test_modified_archives_are_rejected(
    backup: Path, tmp_path: Path, change: Callable[[Members], None], said: str
) -> None:
    members = _members(backup)
    change(members)
    _assert_rejected(_written(tmp_path / "bad.tar.gz", members), tmp_path / "target", "is damaged", said)


def test_incomplete_archives_are_rejected(backup: Path, tmp_path: Path) -> None:
    content = backup.read_bytes()
    bad = tmp_path / "bad.tar.gz"
    for spoilt in (content[: len(content) // 2], content[:-20], b"no archive at all", b"", gzip.compress(b"no tar")):
        bad.write_bytes(spoilt)
        _assert_rejected(bad, tmp_path / "target")
    middle = len(content) // 2
    bad.write_bytes(content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :])
    _assert_rejected(bad, tmp_path / "target")
    _assert_rejected(tmp_path / "missing.tar.gz", tmp_path / "target", "No such file")


def _entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.size = kind, target, 1 if kind == tarfile.REGTYPE else 0
    return entry


HOSTILE_ENTRIES = [
    _entry("../outside"),
    _entry("/tmp/ingot-outside"),
    _entry("uploads/../../outside"),
    _entry("uploads/link", tarfile.SYMTYPE, "/etc"),
    _entry("uploads/hard", tarfile.LNKTYPE, "../../outside"),
    _entry("uploads/pipe", tarfile.FIFOTYPE),
    _entry("uploads/device", tarfile.CHRTYPE),
    _entry("ingot.db"),
    _entry("run/address"),
    _entry("../outside", tarfile.DIRTYPE),
    _entry("uploads/one.txt"),
]


@pytest.mark.parametrize("entry", HOSTILE_ENTRIES, ids=lambda entry: f"{entry.name} {entry.type.decode()}")
def test_an_archive_cannot_write_outside_the_target(backup: Path, tmp_path: Path, entry: tarfile.TarInfo) -> None:
    """Attack: an archive with a file, a symlink or a device at a forbidden path."""
    members = _members(backup)
    manifest = json.loads(members["manifest.json"])
    manifest["members"][entry.name] = hashlib.sha256(b"x" * entry.size).hexdigest()
    bad = _written(tmp_path / "bad.tar.gz", members, entry, manifest=manifest)
    _assert_rejected(bad, tmp_path / "inner" / "target", "rejected")
    assert not (tmp_path / "outside").exists() and not (tmp_path / "inner").exists()
    assert not Path("/tmp/ingot-outside").exists()


NEWER = [
    ({"format": 3}, "newer than this one"),
    ({"revision": "9999"}, "newer than this one"),
    ({"revision": "0000"}, "is unknown to this version"),
]


@pytest.mark.parametrize(("change", "said"), NEWER)
def test_a_backup_of_another_version_is_rejected(
    backup: Path, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    members = _members(backup)
    bad = _written(tmp_path / "bad.tar.gz", members, manifest={**json.loads(members["manifest.json"]), **change})
    _assert_rejected(bad, tmp_path / "target", said)


def test_names_in_the_manifest_cannot_inject_sql(backup: Path, tmp_path: Path) -> None:
    members = _members(backup)
    manifest = json.loads(members["manifest.json"])
    manifest["tables"][0]["columns"] = {'id") VALUES (1); DROP TABLE users; --': "integer"}
    bad = _written(tmp_path / "bad.tar.gz", members, manifest=manifest)
    _assert_rejected(bad, tmp_path / "target", "inconsistent tables")


def test_an_interrupted_restore_is_neither_served_nor_continued(backup: Path, tmp_path: Path) -> None:
    """Invalid rows abort a restore in the middle."""
    members = _members(backup)
    manifest = json.loads(members["manifest.json"])
    rows = members["tables/users.ndjson"]
    members["tables/users.ndjson"] = rows + rows.splitlines(keepends=True)[0]
    manifest["members"]["tables/users.ndjson"] = hashlib.sha256(members["tables/users.ndjson"]).hexdigest()
    bad = _written(tmp_path / "bad.tar.gz", members, manifest=manifest)
    target = tmp_path / "target"
    first = ingot("restore", bad, "--data", target)
    assert first.returncode == 1 and "The rows of users cannot be inserted" in first.stderr
    second = ingot("restore", backup, "--data", target)
    assert second.returncode == 1 and "An earlier restore" in second.stderr and "Empty it" in second.stderr
    for command in (["serve", "--port", "0", "--ssh-port", "0"], ["migrate"]):
        served = ingot(*command, "--data", target)
        assert served.returncode == 1 and "has not finished" in served.stderr
    assert "has not finished" in ingot("doctor", "--data", target).stdout


def test_a_target_in_use_is_rejected(backup: Path, tmp_path: Path, empty_database: str) -> None:
    target = tmp_path / "target"
    target.mkdir()
    assert ingot("restore", backup, "--data", target).returncode == 0
    again = ingot("restore", backup, "--data", target)
    assert again.returncode == 1 and "is not empty" in again.stderr
    if empty_database:
        first, second = tmp_path / "first", tmp_path / "second"
        assert ingot("restore", backup, *data_options(first, empty_database)).returncode == 0
        taken = ingot("restore", backup, *data_options(second, empty_database))
        assert taken.returncode == 1 and "The database already contains tables" in taken.stderr
        assert not second.exists()


def test_a_backup_never_overwrites_a_file(backup: Path, tmp_path: Path) -> None:
    data = backup.parent / "data"
    file = tmp_path / "precious.tar.gz"
    file.write_text("precious")
    refused = ingot("backup", file, "--data", data)
    assert refused.returncode == 1 and "already exists" in refused.stderr
    assert file.read_text() == "precious"
    inside = ingot("backup", data / "uploads" / "backup.tar.gz", "--data", data)
    assert inside.returncode == 1 and "in a folder that is backed up" in inside.stderr
    nowhere = ingot("backup", tmp_path / "missing" / "backup.tar.gz", "--data", data)
    assert nowhere.returncode == 1 and "could not be written" in nowhere.stderr
    empty = ingot("backup", tmp_path / "new.tar.gz", "--data", tmp_path / "nothing")
    assert empty.returncode == 1 and "there is no instance" in empty.stderr
    assert not (tmp_path / "nothing").exists()


def test_settings_that_name_another_database_are_not_restored(backup: Path, tmp_path: Path) -> None:
    """Otherwise the next start would use the original database."""
    file = tmp_path / "backup.tar.gz"
    members = _members(backup)
    members["ingot.toml"] = b"database_url = 'postgresql://forge.example/production'\n"
    manifest = json.loads(members["manifest.json"])
    manifest["members"]["ingot.toml"] = hashlib.sha256(members["ingot.toml"]).hexdigest()
    target = tmp_path / "target"
    restored = ingot("restore", _written(file, members, manifest=manifest), "--data", target)
    assert restored.returncode == 0
    assert "name another database" in restored.stdout
    assert not (target / "ingot.toml").exists() and (target / "ingot.toml.restored").exists()
