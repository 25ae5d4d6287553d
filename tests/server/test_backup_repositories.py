"""Repositories in ``ingot backup`` and ``ingot restore``: verified against the record."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingot.core.db.connection import Connection
from ingot.core.settings import Settings
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import projects
from ingot.server.app import open_database
from tests.git.conftest import Clone, git
from tests.server.process import Server, fresh_database, ingot
from tests.server.test_backup import Members, _members, data_options

RECORD = "repositories.ndjson"


def _project(server: Server, name: str) -> tuple[int, Path]:
    """Create a project of root, and return the path of its repository."""
    made = server.call("POST", "/projects", json={"name": name})
    assert made.status_code == 201, made.text
    project_id: int = made.json()["id"]
    database = open_database(Settings(data=server.data, database_url=server.database_url))
    key = database.read(lambda db: existing_project(db, project_id)).repository_key
    database.close()
    return project_id, RepositoryStore(server.data / "repositories").path_of(key)


@pytest.fixture
def path(server: Server, tmp_path: Path) -> Path:
    """Return the repository of ``root/app``, with loose and packed refs, a tag, and a name that is not UTF-8."""
    _, path = _project(server, "app")
    clone = Clone(tmp_path / "clone")
    clone.commit()
    git(clone.folder, "tag", "-a", "-m", "one", "v1")
    clone.push(path, "HEAD:refs/heads/master", "v1")
    git(path, "pack-refs", "--all")
    clone.commit(content="again\n")
    clone.push(path)
    git(path, "update-ref", "refs/keep/one", "refs/heads/master")
    (Path(os.fsdecode(os.fsencode(path) + b"/refs/heads/caf\xe9"))).write_text(git(path, "rev-parse", "master") + "\n")
    (path / "packed-refs.lock").write_text("")
    return path


@pytest.fixture
def backup(server: Server, path: Path, tmp_path: Path) -> Path:
    """Return a backup of it and of an empty project."""
    _project(server, "empty")
    file = tmp_path / "good.tar.gz"
    written = ingot("backup", file, *data_options(server.data, server.database_url))
    assert (written.returncode, written.stderr) == (0, "")
    return file


def _entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _members(file)[RECORD].splitlines()]


def _changed(backup: Path, file: Path, change: Callable[[Members], object], **more: Any) -> Path:
    """Write an archive with the same folders, modified files, and a matching manifest."""
    members = _members(backup)
    change(members)
    manifest = json.loads(members.pop("manifest.json")) | more
    manifest["members"] = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    members["manifest.json"] = json.dumps(manifest).encode()
    with tarfile.open(backup) as source, tarfile.open(file, "w:gz") as target:
        for entry in source:
            if entry.isdir():
                target.addfile(entry)
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            target.addfile(entry, io.BytesIO(content))
    return file


def test_refs_are_recorded_and_restored(
    server: Server, database_url: str, path: Path, backup: Path, tmp_path: Path
) -> None:
    filled, empty = sorted(_entries(backup), key=lambda entry: -len(entry.get("refs", {})))
    assert (empty["head"], empty.get("refs", {})) == ("master", {})
    tip = git(path, "rev-parse", "master")
    assert filled["key"] == path.stem and filled["head"] == "master"
    assert filled["refs"] == {
        "refs/heads/caf%E9": tip,
        "refs/heads/master": tip,
        "refs/keep/one": tip,
        "refs/tags/v1": git(path, "rev-parse", "v1"),
    }
    url = fresh_database(database_url, "restored_repositories")
    restored = ingot("restore", backup, *data_options(tmp_path / "target", url))
    assert (restored.returncode, restored.stderr) == (0, "")
    there = RepositoryStore(tmp_path / "target" / "repositories").path_of(path.stem)
    assert Repository(there).refs() == Repository(path).refs()
    assert git(there, "show-ref", "--tags", "-d") == git(path, "show-ref", "--tags", "-d")
    git(there, "fsck", "--strict")
    assert not (there / "packed-refs.lock").exists()
    assert not list((server.data / "repositories" / ".trash").glob("*"))
    assert ingot("doctor", *data_options(tmp_path / "target", url)).stdout == "No problems found.\n"


def _cut_pack(members: Members) -> None:
    name = max((name for name in members if name.endswith(".pack")), key=lambda name: len(members[name]))
    members[name] = members[name][:-25]


def _lose_objects(members: Members) -> None:
    for name in [name for name in members if "/objects/pack/" in name]:
        del members[name]


def _move_branch(members: Members) -> None:
    name = next(name for name in members if name.endswith("/packed-refs"))
    lines = members[name].splitlines(keepends=True)
    (other,) = {line[:40] for line in lines if b"refs/tags/v1" in line}
    members[name] = b"".join(other + line[40:] if line.endswith(b"refs/heads/master\n") else line for line in lines)


def _move_head(members: Members) -> None:
    name = next(name for name in members if name.endswith("HEAD") and name.replace("HEAD", "packed-refs") in members)
    members[name] = b"ref: refs/heads/elsewhere\n"


def _lose_repository(members: Members) -> None:
    folder = next(name for name in members if name.endswith("/packed-refs")).removesuffix("packed-refs")
    for name in [name for name in members if name.startswith(folder)]:
        del members[name]


def _lose_entry(members: Members) -> None:
    lines = members[RECORD].splitlines(keepends=True)
    members[RECORD] = b"".join(line for line in lines if b"refs/tags/v1" not in line)


MODIFICATIONS: list[tuple[str, Callable[[Members], None], str]] = [
    ("a pack that was cut off", _cut_pack, "does not match its index"),
    ("lost objects", _lose_objects, "points at a missing object"),
    ("another tip", _move_branch, "refs/heads/master is at "),
    ("another HEAD", _move_head, "HEAD is elsewhere instead of master"),
    ("a lost repository", _lose_repository, "there is no repository"),
    ("a lost entry", _lose_entry, "the backup contains no repository for it"),
]


@pytest.mark.parametrize(
    ("change", "said"), [case[1:] for case in MODIFICATIONS], ids=[case[0] for case in MODIFICATIONS]
)
def test_mismatches_are_named(
    database_url: str, backup: Path, tmp_path: Path, change: Callable[[Members], None], said: str
) -> None:
    """Checksums may match, as after damage before the backup."""
    bad = _changed(backup, tmp_path / "bad.tar.gz", change)
    url = fresh_database(database_url, "restored_spoilt")
    target = tmp_path / "target"
    refused = ingot("restore", bad, *data_options(target, url))
    assert refused.returncode == 1
    assert "root/app: " in refused.stderr and said in refused.stderr, refused.stderr
    assert refused.stderr.count("\n") == 1
    served = ingot("serve", "--port", "0", "--ssh-port", "0", *data_options(target, url))
    assert served.returncode == 1 and "has not finished" in served.stderr


def test_damage_is_reported_during_the_backup(server: Server, database_url: str, path: Path, tmp_path: Path) -> None:
    """Everything else is saved and can be restored."""
    pack = max((path / "objects" / "pack").glob("*.pack"), key=lambda pack: pack.stat().st_size)
    pack.chmod(0o600)
    pack.write_bytes(pack.read_bytes()[:-25])
    _, lost = _project(server, "lost")
    RepositoryStore(server.data / "repositories").remove(lost.stem)
    file = tmp_path / "backup.tar.gz"
    written = ingot("backup", file, *data_options(server.data, server.database_url))
    assert written.returncode == 3 and "Wrote" in written.stdout
    assert f"root/app: {pack.name} does not match its index" in written.stderr
    assert "root/lost: there is no repository" in written.stderr
    url = fresh_database(database_url, "restored_damage")
    restored = ingot("restore", file, *data_options(tmp_path / "target", url))
    assert restored.returncode == 0, restored.stderr
    assert "root/app was damaged when the backup was made" in restored.stdout
    assert "root/lost was damaged when the backup was made: there is no repository" in restored.stdout
    said = ingot("doctor", *data_options(tmp_path / "target", url)).stdout
    assert "root/lost has no repository" in said and "The repository of root/app is damaged" in said


def test_a_project_deleted_during_the_backup_is_deleted(database_url: str, backup: Path, tmp_path: Path) -> None:
    def delete(members: Members) -> None:
        lines = [json.loads(line) for line in members[RECORD].splitlines()]
        for line in lines:
            if line.get("refs"):
                line |= {"deleted": True, "there": False, "refs": {}, "head": None}
        members[RECORD] = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        _lose_repository(members)

    url = fresh_database(database_url, "restored_deleted")
    file = _changed(backup, tmp_path / "other.tar.gz", delete)
    restored = ingot("restore", file, *data_options(tmp_path / "target", url))
    assert restored.returncode == 0, restored.stderr
    again = Server(tmp_path / "target", url)
    try:
        again.start()
        assert again.call("GET", "/projects/root%2Fapp").status_code == 404
        assert again.call("GET", "/projects/root%2Fempty").status_code == 200
    finally:
        again.kill()


def test_rows_are_updated_from_head(server: Server, database_url: str, path: Path, tmp_path: Path) -> None:
    """HEAD was changed between reading the rows and the copy, and takes precedence."""
    git(path, "symbolic-ref", "HEAD", "refs/heads/trunk")
    file = tmp_path / "backup.tar.gz"
    assert ingot("backup", file, *data_options(server.data, server.database_url)).returncode == 0
    url = fresh_database(database_url, "restored_head")
    assert ingot("restore", file, *data_options(tmp_path / "target", url)).returncode == 0
    database = open_database(Settings(data=tmp_path / "target", database_url=url))

    def read(db: Connection) -> str:
        branch: str = db.rows(projects.select().where(projects.c.path == "app"))[0][8]
        return branch

    branch = database.read(read)
    database.close()
    assert branch == "trunk"


def test_a_backup_without_a_ref_record_is_checked(database_url: str, backup: Path, tmp_path: Path) -> None:
    """The first format had none."""
    for number, (change, status) in enumerate([(lambda _: None, 0), (_cut_pack, 1), (_lose_repository, 1)]):

        def change_all(members: Members, change: Callable[[Members], object] = change) -> None:
            del members[RECORD]
            change(members)

        file = _changed(backup, tmp_path / f"first-{number}.tar.gz", change_all, format=1)
        url = fresh_database(database_url, f"restored_first_{number}")
        restored = ingot("restore", file, *data_options(tmp_path / f"target-{number}", url))
        assert restored.returncode == status, restored.stderr
        assert ("root/app" in restored.stderr) is bool(status)


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"key": "../../etc"}', b'{"key": 1}'])
def test_an_invalid_record_is_rejected(database_url: str, backup: Path, tmp_path: Path, line: bytes) -> None:
    def change(members: Members) -> None:
        members[RECORD] = line + b"\n"

    url = fresh_database(database_url, "restored_record")
    file = _changed(backup, tmp_path / "bad.tar.gz", change)
    refused = ingot("restore", file, *data_options(tmp_path / "target", url))
    assert refused.returncode == 1 and refused.stderr.startswith("ingot: "), refused.stderr
    assert refused.stderr.count("\n") == 1
