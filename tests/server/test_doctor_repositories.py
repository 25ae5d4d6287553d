"""``ingot doctor`` on repositories: detection and repair of problems."""

import os
import time
from pathlib import Path

import pytest

from ingot.core.settings import Settings
from ingot.git.core.layout import CONFIG
from ingot.git.maintenance.store import RepositoryStore, new_key
from ingot.projects.projects.queries import existing_project
from ingot.server.app import open_database
from tests.git.conftest import Clone, git
from tests.server.process import Server, ingot


class CheckedRepository:
    """Project whose repository is checked by the doctor."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        made = server.call("POST", "/projects", json={"name": "app"})
        assert made.status_code == 201, made.text
        self.id: int = made.json()["id"]
        database = open_database(Settings(data=server.data, database_url=server.database_url))
        key = database.read(lambda db: existing_project(db, self.id)).repository_key
        database.close()
        self.store = RepositoryStore(server.data / "repositories")
        self.path = self.store.path_of(key)
        clone = Clone(folder / "clone")
        clone.commit()
        clone.push(self.path, "HEAD:refs/heads/master", "HEAD:refs/heads/other")

    def doctor(self, *flags: str) -> list[str]:
        """Run the doctor and return its lines."""
        url = self.server.database_url
        return ingot(
            "doctor", "--data", self.server.data, *(["--database-url", url] if url else []), *flags
        ).stdout.splitlines()

    def repair(self) -> list[str]:
        """Return the repaired problems; afterwards there are none."""
        lines = self.doctor("--repair")
        assert self.doctor() == ["No problems found."]
        return [line.removeprefix("repaired: ") for line in lines]


@pytest.fixture
def checked_repository(server: Server, tmp_path: Path) -> CheckedRepository:
    return CheckedRepository(server, tmp_path)


def _old(path: Path, seconds: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    moment = time.time() - seconds
    os.utime(path, (moment, moment))
    if path.parent.name.startswith(("incoming-", "tmp_objdir-")):
        os.utime(path.parent, (moment, moment))
    return path


def test_an_intact_repository(checked_repository: CheckedRepository) -> None:
    assert checked_repository.doctor() == ["No problems found."]


def test_leftovers_of_crashes_are_removed(checked_repository: CheckedRepository) -> None:
    path = checked_repository.path
    stale = [
        _old(path / "packed-refs.lock", 700),
        _old(path / "refs" / "heads" / "master.lock", 700),
        _old(path / "objects" / "pack" / "tmp_pack_x", 4000),
        _old(path / "objects" / "tmp_objdir-incoming-x" / "pack.idx", 4000),
        _old(path / "objects" / "incoming-x" / "pack.idx", 4000),
    ]
    kept = [
        _old(path / "config.lock", 300),
        _old(path / "objects" / "pack" / "tmp_pack_y", 3000),
        _old(path / "objects" / "tmp_objdir-incoming-y" / "pack.idx", 3000),
    ]
    lines = checked_repository.doctor()
    assert len(lines) == len(stale) and all("left behind in the repository of root/app" in line for line in lines)
    assert len(checked_repository.repair()) == len(stale)
    assert not any(file.exists() for file in stale) and all(file.exists() for file in kept)
    git(path, "update-ref", "refs/heads/master", "refs/heads/other")


@pytest.mark.parametrize("content", [b"[core]\n\tbare = false\n", b"", None])
def test_another_configuration_is_replaced(checked_repository: CheckedRepository, content: bytes | None) -> None:
    config = checked_repository.path / "config"
    config.unlink()
    if content is not None:
        config.write_bytes(content)
    assert checked_repository.repair() == ["The git configuration of the repository of root/app was changed"]
    assert config.read_bytes() == CONFIG


def test_a_row_is_updated_from_head(checked_repository: CheckedRepository) -> None:
    git(checked_repository.path, "symbolic-ref", "HEAD", "refs/heads/other")
    assert checked_repository.repair() == ["HEAD of root/app is other, but the recorded default branch is master"]
    assert (
        checked_repository.server.call("GET", f"/projects/{checked_repository.id}").json()["default_branch"] == "other"
    )


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_an_unreadable_head(checked_repository: CheckedRepository, content: bytes | None) -> None:
    head = checked_repository.path / "HEAD"
    head.unlink()
    if content is not None:
        head.write_bytes(content)
    lines = checked_repository.doctor("--repair")
    assert "repaired: HEAD cannot be read in the repository of root/app" in lines
    assert checked_repository.doctor() == ["No problems found."]
    assert git(checked_repository.path, "symbolic-ref", "HEAD") == "refs/heads/master"


def test_damage_is_reported_and_not_changed(checked_repository: CheckedRepository) -> None:
    path = checked_repository.path
    (path / "refs" / "heads" / "empty").write_text("")
    (path / "refs" / "heads" / "nowhere").write_text("1" * 40 + "\n")
    for _ in range(2):
        lines = checked_repository.doctor("--repair")
        assert len(lines) == 2 and all(
            line.startswith("problem: The repository of root/app is damaged") for line in lines
        )
        assert any("refs/heads/empty cannot be read" in line for line in lines)
        assert any("refs/heads/nowhere points at a missing object" in line for line in lines)
    (path / "refs" / "heads" / "empty").unlink()
    (path / "refs" / "heads" / "nowhere").unlink()
    (pack,) = (path / "objects" / "pack").glob("*.pack")
    pack.chmod(0o600)
    pack.write_bytes(pack.read_bytes()[:-1])
    assert any(f"{pack.name} does not match its index" in line for line in checked_repository.doctor())


def test_a_missing_repository_and_an_orphan(checked_repository: CheckedRepository) -> None:
    key = new_key()
    checked_repository.store.create(key, "master")
    assert checked_repository.doctor() == ["No problems found."], "its row may be about to be committed"
    checked_repository.store.remove(checked_repository.path.stem)
    assert [line for line in checked_repository.doctor("--repair") if "root/app has no repository" in line]
    assert checked_repository.store.exists(key)
