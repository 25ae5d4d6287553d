"""Commands that concern the bucket: moves while the server serves, doctor, backup and restore."""

import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from tests.factories import make_project
from tests.lfs.conftest import LfsClient, oid_of
from tests.second_instance import SecondInstance, serving
from tests.server.process import ingot
from tests.storage.s3_server import S3Server


@pytest.fixture
def bucket(s3: S3Server) -> dict[str, str]:
    """Return the settings of a bucket."""
    return s3.settings(f"commands-{time.time_ns()}")


@pytest.fixture
def served(bucket: dict[str, str], tmp_path: Path) -> Iterator[SecondInstance]:
    """Yield an instance that stores all files in a bucket."""
    with serving(tmp_path / "served", **bucket) as instance:
        yield instance


def _variables(bucket: dict[str, str]) -> dict[str, str]:
    return {f"INGOT_{name.upper()}": value for name, value in bucket.items()}


def test_files_move_while_they_are_downloaded(served: SecondInstance, bucket: dict[str, str]) -> None:
    owner = served.make.user()
    project = make_project(served.make, owner)
    contents = [secrets.token_bytes(50_000 + number) for number in range(4)]
    failed: list[int] = []
    stop = threading.Event()
    with httpx.Client(timeout=60) as client:
        lfs = LfsClient(served.url, client)
        for content in contents:
            lfs.upload(project, owner, content)

        def download() -> None:
            while not stop.is_set():
                failed.extend(
                    number for number, each in enumerate(contents) if lfs.get(project, owner, each).content != each
                )

        reader = threading.Thread(target=download)
        reader.start()
        try:
            for place in ("disk", "bucket"):
                moved = ingot(
                    "storage", "move", "lfs", "--to", place, "--data", served.settings.data, **_variables(bucket)
                )
                size = sum(map(len, contents))
                assert moved.stdout == f"lfs: moved 4 files, {size} bytes to the {place}.\n", moved.stderr
        finally:
            stop.set()
            reader.join()
    assert failed == []
    listed = ingot("storage", "list", "--data", served.settings.data, **_variables(bucket)).stdout.splitlines()
    assert listed[1].split() == ["lfs", "-", "4", "files,", str(sum(map(len, contents))), "bytes", "bucket"]
    for arguments in (("move", "mail"), ("move", "--to", "tape")):
        assert ingot("storage", *arguments, "--data", served.settings.data, **_variables(bucket)).returncode != 0
    assert ingot("storage", "move", "--data", served.settings.data).returncode == 1


def test_doctor(served: SecondInstance, bucket: dict[str, str]) -> None:
    owner = served.make.user()
    project = make_project(served.make, owner)
    lost, kept = secrets.token_bytes(1000), secrets.token_bytes(1000)
    with httpx.Client(timeout=60) as client:
        for content in (lost, kept):
            LfsClient(served.url, client).upload(project, owner, content)
    storage = file_storage(served.settings, "lfs")
    key = f"{oid_of(lost)[:2]}/{oid_of(lost)[2:4]}/{oid_of(lost)[4:]}"
    storage.delete(key)
    checked = ingot("doctor", "--quick", "--data", served.settings.data, **_variables(bucket))
    assert f"The large file {oid_of(lost)} is missing" in checked.stdout
    assert oid_of(kept) not in checked.stdout
    path = storage.incoming_path()
    path.write_bytes(lost)
    storage.publish(key, path)
    checked = ingot("doctor", "--quick", "--data", served.settings.data, **_variables(bucket))
    assert (checked.returncode, checked.stdout) == (0, "No problems found.\n")
    wrong = {**_variables(bucket), "INGOT_S3_SECRET_KEY": "wrong-secret-key"}
    checked = ingot("doctor", "--quick", "--data", served.settings.data, **wrong)
    assert "cannot be used: The object store" in checked.stdout
    assert "wrong-secret-key" not in checked.stdout + checked.stderr
    assert "is missing" not in checked.stdout


def test_backup_and_restore(served: SecondInstance, bucket: dict[str, str], tmp_path: Path) -> None:
    owner = served.make.user()
    project = make_project(served.make, owner)
    content = secrets.token_bytes(1000)
    with httpx.Client(timeout=60) as client:
        LfsClient(served.url, client).upload(project, owner, content)
    options = ("--data", served.settings.data)
    written = ingot("backup", "bucket:nightly.tar.gz", *options, **_variables(bucket))
    assert written.returncode == 0, written.stderr
    assert written.stdout.startswith("Wrote bucket:nightly.tar.gz: ")
    again = ingot("backup", "bucket:nightly.tar.gz", *options, **_variables(bucket))
    assert "already exists" in again.stderr
    restored = tmp_path / "restored"
    done = ingot("restore", "bucket:nightly.tar.gz", "--data", restored, **_variables(bucket))
    assert done.returncode == 0, done.stderr
    # Without the bucket: the backup contains the files that were in it.
    storage = file_storage(Settings(data=restored), "lfs")
    digest = oid_of(content)
    with storage.open(f"{digest[:2]}/{digest[2:4]}/{digest[4:]}") as file:
        assert file.read() == content
    for name, message in (("bucket:missing", "There is no backup"), ("bucket:a/b", "must be named")):
        assert message in ingot("restore", name, "--data", tmp_path / "other", **_variables(bucket)).stderr
    assert "needs a bucket" in ingot("restore", "bucket:x", "--data", tmp_path / "other").stderr
