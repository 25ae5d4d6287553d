"""``ingot doctor``: detection and repair of problems."""

import os
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest

from ingot.accounts.appearance.params import ChangeAppearance
from ingot.accounts.appearance.service import change_appearance
from ingot.accounts.avatars.service import add_avatar
from ingot.accounts.tokens.queries import private_token_or_none
from ingot.accounts.tokens.tables import access_tokens
from ingot.accounts.users.params import CreateUser
from ingot.accounts.users.service import create_user
from ingot.accounts.users.tables import User
from ingot.ci.artifacts.store import artifact_store_of
from ingot.core.api.params import Upload
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import MAX_ATTEMPTS
from ingot.core.jobs.tables import jobs
from ingot.core.names import NAMESPACES
from ingot.core.settings import Settings
from ingot.packages.files.store import package_store_of
from ingot.projects.namespaces.tables import namespaces
from ingot.repositories.lfs.files import lfs_files_of
from ingot.repositories.lfs.tables import lfs_objects
from ingot.server.app import open_database
from ingot.server.startup import initialize_instance
from tests.server.process import ingot


class CheckedInstance:
    """Instance checked by the doctor."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        initialize_instance(settings)
        self.database: Database = open_database(settings)
        self.user: User = self.database.write(self._add)

    def _add(self, db: Connection) -> User:
        db.lock(NAMESPACES)
        wanted = CreateUser(username="pat", name="Pat", email="pat@example.org", force_random_password=True)
        # The bot of an access token has no private token, which is no problem.
        bot = CreateUser(username="helper_bot", name="Bot", email="bot@example.org", force_random_password=True)
        create_user(db, bot, None, bot=True)
        return create_user(db, wanted, None)

    def doctor(self, *flags: str) -> subprocess.CompletedProcess[str]:
        """Run the doctor."""
        url = self.settings.database_url
        return ingot("doctor", "--data", self.settings.data, *(["--database-url", url] if url else []), *flags)

    def run(self, *statements: str) -> None:
        """Run a change that no service makes."""
        raw = self.database.engine.connect(read_only=False)
        if self.settings.embedded:
            raw.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            raw.execute(statement)
        raw.close()


@pytest.fixture
def checked_instance(data_folder: Path, empty_database: str) -> Iterator[CheckedInstance]:
    checked_instance = CheckedInstance(
        Settings(data=data_folder, database_url=empty_database, root_password="root-password")
    )
    yield checked_instance
    checked_instance.database.close()


def test_a_healthy_instance(checked_instance: CheckedInstance) -> None:
    said = checked_instance.doctor()
    assert (said.returncode, said.stdout) == (0, "No problems found.\n"), said.stderr


def test_repairable_problems(checked_instance: CheckedInstance) -> None:
    database, data = checked_instance.database, checked_instance.settings.data
    database.write(lambda db: add_avatar(db, "lost.png", b"\x89PNG\r\n\x1a\n"))
    logo = Upload("logo.png", "image/png", BytesIO(b"\x89PNG\r\n\x1a\n"))
    database.write(lambda db: change_appearance(db, ChangeAppearance(logo=logo)))
    database.write(
        lambda db: db.insert(
            jobs,
            kind="mail",
            payload="{}",
            state="dead",
            run_at=db.now,
            placed_at=db.now,
            attempts=MAX_ATTEMPTS,
            last_error="OSError: no route",
            created_at=db.now,
        )
    )
    checked_instance.run(
        f"DELETE FROM namespace_tree WHERE descendant_id IN (SELECT id FROM {namespaces.name} "
        f"WHERE owner_id = {checked_instance.user.id})",
        f"DELETE FROM {namespaces.name} WHERE owner_id = {checked_instance.user.id}",
        f"DELETE FROM {access_tokens.name} WHERE user_id = {checked_instance.user.id}",
    )
    data.chmod(0o755)
    (data / "secrets" / "instance.key").chmod(0o644)
    old = data / "secrets" / ".0123456789abcdef"
    old.write_text("left behind")
    os.utime(old, (time.time() - 7200,) * 2)
    for name in ("uploads/yarn.lock", "uploads/tmp_obj_1"):
        kept = data / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("somebody's")
        os.utime(kept, (time.time() - 7200,) * 2)
    young = data / "secrets" / ".fedcba9876543210"
    young.write_text("being written")

    said = checked_instance.doctor()
    assert said.returncode == 1, said.stderr
    lines = said.stdout.splitlines()
    for words in (
        "uploads can be read by others (mode 0755 instead of 0700)",
        "instance.key can be read by others (mode 0644",
        ".0123456789abcdef was left behind 2 hours ago",
        "pat has no namespace",
        "pat has no private token",
        "Avatar 1 is not used",
        "Job 1 (mail) failed after 12 attempts: OSError: no route",
    ):
        assert len([line for line in lines if words in line]) == 1, (words, said.stdout)
    assert len(lines) == 7 and all(line.startswith("problem: ") for line in lines)

    repaired = checked_instance.doctor("--repair")
    assert repaired.returncode == 0, repaired.stdout
    assert [line.removeprefix("repaired: ") for line in repaired.stdout.splitlines()] == [
        line.removeprefix("problem: ").removesuffix(" (--repair fixes it)") for line in lines
    ]
    assert checked_instance.doctor().stdout == "No problems found.\n"
    assert not old.exists() and young.exists()
    assert (data / "uploads" / "yarn.lock").exists() and (data / "uploads" / "tmp_obj_1").exists()
    assert checked_instance.database.read(lambda db: private_token_or_none(db, checked_instance.user.id))


def test_a_missing_avatar(checked_instance: CheckedInstance) -> None:
    if not checked_instance.settings.embedded:
        pytest.skip("PostgreSQL cannot be made to forget a reference.")
    checked_instance.run(
        f"UPDATE users SET avatar_id = 99, avatar_file = 'a.png' WHERE id = {checked_instance.user.id}"
    )
    said = checked_instance.doctor()
    assert said.returncode == 1
    assert "The avatar of pat is missing" in said.stdout and "references a missing row of avatars" in said.stdout
    assert checked_instance.doctor("--repair").returncode == 0
    assert checked_instance.doctor().returncode == 0


def test_missing_and_truncated_lfs_objects(checked_instance: CheckedInstance) -> None:
    files = lfs_files_of(checked_instance.settings)

    def add_object(db: Connection, oid: str) -> None:
        db.insert(lfs_objects, oid=oid, size=5, created_at=db.now)

    for oid, kept in (("a" * 64, None), ("b" * 64, b"cut"), ("c" * 64, b"whole")):
        checked_instance.database.write(partial(add_object, oid=oid))
        if kept is not None:
            files.path_of(oid).parent.mkdir(parents=True)
            files.path_of(oid).write_bytes(kept)
    said = checked_instance.doctor()
    assert said.returncode == 1
    assert f"large file {'a' * 64} is missing" in said.stdout
    assert f"large file {'b' * 64} has 3 bytes instead of 5" in said.stdout
    assert "c" * 64 not in said.stdout


def test_missing_and_truncated_artifacts_packages_and_images(checked_instance: CheckedInstance) -> None:
    store = artifact_store_of(checked_instance.settings)
    if not checked_instance.settings.embedded:
        pytest.skip("The rows would need a project, a pipeline and a job.")
    for number, content in enumerate((None, b"cut", b"whole"), 1):
        key = f"{number}" * 32
        checked_instance.run(
            "INSERT INTO job_artifacts (id, job_id, project_id, file_type, file_format, filename, size, storage_key, "
            f"public, created_at) VALUES ({number}, 1, 1, '{number}', 'zip', 'a.zip', 5, '{key}', 1, '')"
        )
        if content is not None:
            store.path_of(key).parent.mkdir(parents=True)
            store.path_of(key).write_bytes(content)
    packages = package_store_of(checked_instance.settings)
    for number, content in enumerate((None, b"whole"), 1):
        key = f"{number}" * 32
        checked_instance.run(
            "INSERT INTO package_files (id, package_id, file_name, size, sha256, storage_key, created_at) "
            f"VALUES ({number}, 1, 'f{number}', 5, '', '{key}', '')",
            "INSERT INTO container_blobs (id, digest, size, storage_key, created_at) "
            f"VALUES ({number}, 'd{number}', 4, 'a{key[1:]}', '')",
        )
        for file in (packages.path_of(key), packages.path_of(f"a{key[1:]}")):
            if content is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
    said = checked_instance.doctor()
    assert said.returncode == 1
    assert "Package file 1 is missing" in said.stdout and "Package file 2" not in said.stdout
    assert "Image layer 1 is missing" in said.stdout and "Image layer 2 has 5 bytes instead of 4" in said.stdout
    assert "Artifact 1 is missing" in said.stdout
    assert "Artifact 2 has 3 bytes instead of 5" in said.stdout
    assert "Artifact 3" not in said.stdout


def test_problems_that_need_a_decision(checked_instance: CheckedInstance) -> None:
    """A path taken by a group meanwhile, and a namespace without an owner, are reported but not changed."""
    checked_instance.run(
        f"UPDATE namespaces SET owner_id = NULL WHERE owner_id = {checked_instance.user.id}",
        "UPDATE users SET state = 'blocked' WHERE username = 'root'",
    )
    said = checked_instance.doctor("--repair")
    assert said.returncode == 1
    assert "problem: The namespace pat has no owner" in said.stdout
    assert "not repaired: pat has no namespace (Username has already been taken)" in said.stdout
    assert "problem: There is no active administrator" in said.stdout


@pytest.mark.parametrize(
    ("secret", "said"),
    [("ab" * 32, "does not match this database"), ("ab", "is damaged"), (None, "is missing")],
)
def test_a_wrong_secret(checked_instance: CheckedInstance, secret: str | None, said: str) -> None:
    key = checked_instance.settings.data / "secrets" / "instance.key"
    key.unlink()
    if secret:
        key.write_text(secret)
        key.chmod(0o600)
    found = checked_instance.doctor("--repair")
    assert found.returncode == 1
    assert said in found.stdout and found.stderr == ""
    assert key.exists() is (secret is not None)


def test_another_schema(checked_instance: CheckedInstance) -> None:
    checked_instance.run("UPDATE alembic_version SET version_num = '9999'")
    said = checked_instance.doctor()
    assert said.returncode == 1
    assert said.stdout.startswith("problem: The database is at revision 9999, this version of Ingot needs ")


def test_a_damaged_file(checked_instance: CheckedInstance) -> None:
    if not checked_instance.settings.embedded:
        pytest.skip("PostgreSQL watches over its own files.")
    checked_instance.run("PRAGMA wal_checkpoint(TRUNCATE)")
    checked_instance.database.close()
    file = checked_instance.settings.data / "ingot.db"
    content = bytearray(file.read_bytes())
    content[4096 * 3 : 4096 * 20] = os.urandom(4096 * 17)
    file.write_bytes(content)
    said = checked_instance.doctor()
    assert said.returncode == 1
    assert "damaged" in said.stdout and said.stderr == ""


def test_invalid_settings_and_a_missing_instance(data_folder: Path) -> None:
    nothing = ingot("doctor", "--data", data_folder)
    assert nothing.returncode == 1 and "There is no data directory" in nothing.stdout
    assert not data_folder.exists()
    data_folder.mkdir(mode=0o700)
    (data_folder / "ingot.toml").write_text("colour = 'blue'")
    bad = ingot("doctor", "--data", data_folder)
    assert bad.returncode == 1 and "settings that do not exist: colour" in bad.stderr
