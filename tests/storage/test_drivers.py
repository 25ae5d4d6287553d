"""Both places of files behave alike."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ingot.core.errors import Unavailable
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.core.storage.drivers import StorageDriver
from ingot.core.storage.files import FileStorage
from ingot.core.storage.transfers import DamagedCopy, move_files
from tests.storage.s3_server import S3Server

CONTENT = os.urandom(9_000_000)
KEYS = {"ab/cd/ef": CONTENT, "1/odd name #1 %41+ä.txt": b"x" * 10, "1/empty": b""}


@pytest.fixture
def storage(s3: S3Server, tmp_path: Path) -> FileStorage:
    """Return a storage of an own bucket."""
    bucket = f"drivers-{time.time_ns()}"
    return file_storage(Settings(data=tmp_path, **s3.settings(bucket, "lfs")), "lfs")


def _publish(storage: FileStorage, place: StorageDriver, key: str, content: bytes) -> None:
    path = storage.incoming_path()
    path.write_bytes(content)
    place.publish(key, path)
    assert not path.exists()


@pytest.mark.parametrize("place", ["disk", "bucket"])
def test_files(storage: FileStorage, place: str) -> None:
    driver: StorageDriver = storage.disk if place == "disk" else storage.bucket  # type: ignore[assignment]
    for key, content in KEYS.items():
        _publish(storage, driver, key, b"first")
        _publish(storage, driver, key, content)
        assert driver.size_of(key) == storage.size_of(key) == len(content)
        assert b"".join(driver.pieces(key, 0, len(content))) == content
    assert b"".join(storage.pieces("ab/cd/ef", 5, 8_500_000)) == CONTENT[5:8_500_000]
    with storage.open("ab/cd/ef") as file:
        file.seek(-3, os.SEEK_END)
        assert file.read() == CONTENT[-3:]
        file.seek(100)
        assert file.read(7_000_000) == CONTENT[100:7_000_100]
    listed = {stored.key: stored.size for stored in driver.objects()}
    assert listed == {key: len(content) for key, content in KEYS.items()}
    assert all(abs(stored.modified_at - time.time()) < 600 for stored in driver.objects())
    assert {stored.key for stored in driver.objects("1")} == {key for key in KEYS if key.startswith("1/")}
    storage.delete_older("ab/cd/ef", 3600)
    assert storage.size_of("ab/cd/ef") == len(CONTENT)
    for key in [*KEYS, "no/such"]:
        storage.delete(key)
        assert (driver.size_of(key), storage.size_of(key)) == (None, None)
    for read in (lambda: storage.open("ab/cd/ef"), lambda: list(storage.pieces("ab/cd/ef", 0, 0))):
        with pytest.raises(FileNotFoundError):
            read()
    assert list(storage.objects()) == []


def test_move_in_both_directions(storage: FileStorage) -> None:
    assert storage.bucket is not None
    for key, content in KEYS.items():
        _publish(storage, storage.disk, key, content)
    seen: list[int] = []
    for to, other in ((storage.bucket, storage.disk), (storage.disk, storage.bucket)):
        moved = move_files(storage, to.name, lambda files, _: seen.append(files))
        assert moved == (len(KEYS), sum(map(len, KEYS.values())))
        assert list(other.objects()) == []
        assert {stored.key: b"".join(storage.pieces(stored.key, 0, stored.size)) for stored in to.objects()} == KEYS
        assert move_files(storage, to.name, lambda *_: None) == (0, 0)
    assert seen == [1, 2, 3] * 2


def test_a_file_is_found_while_it_moves(storage: FileStorage) -> None:
    """A reader that has looked at one place finds the file in the other, even between two pieces."""
    assert storage.bucket is not None
    _publish(storage, storage.bucket, "ab/cd/ef", CONTENT)
    pieces = storage.pieces("ab/cd/ef", 0, len(CONTENT))
    first = next(pieces)
    move_files(storage, "disk", lambda *_: None)
    assert first + b"".join(pieces) == CONTENT


def test_a_damaged_copy_does_not_replace_the_original(storage: FileStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = storage.bucket
    assert bucket is not None
    _publish(storage, storage.disk, "ab/cd/ef", b"content")
    publish: Callable[[str, Path], None] = bucket.publish

    def damage(key: str, path: Path) -> None:
        path.write_bytes(b"another")
        publish(key, path)

    monkeypatch.setattr(bucket, "publish", damage)
    with pytest.raises(DamagedCopy):
        move_files(storage, "bucket", lambda *_: None)
    assert b"".join(storage.disk.pieces("ab/cd/ef", 0, 7)) == b"content"


def test_an_unusable_store_is_unavailable(s3: S3Server, tmp_path: Path) -> None:
    chosen = s3.settings("unusable", "lfs")
    for wrong in ({"s3_secret_key": "wrong-secret"}, {"s3_endpoint": "http://127.0.0.1:9"}):
        storage = file_storage(Settings(data=tmp_path, **{**chosen, **wrong}), "lfs")
        with pytest.raises(Unavailable) as raised:
            storage.size_of("ab/cd/ef")
        assert "127.0.0.1" not in str(raised.value)
