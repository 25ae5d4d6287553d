"""A damaged embedded database, and a read-only disk: commands end with a message, not with a traceback."""

import errno
import os
from pathlib import Path

import pytest

from tests.faults.syscall_filter import FilteredServer
from tests.faults.test_failing_disk import CALLS, FailingDisk
from tests.server.process import Server, ingot

PAGE_BYTES = 4096
COMMANDS: list[list[str]] = [
    ["serve", "--port", "0", "--ssh-port", "0"],
    ["backup", "backup.tar.gz"],
    ["migrate"],
    ["doctor"],
    ["user", "create", "ana", "--email", "ana@example.org"],
    ["token", "create", "root", "--scopes", "api"],
    ["jobs", "list"],
    ["demo"],
]


@pytest.fixture
def instance_folder(initialized: Server) -> Path:
    """Return the data directory of an instance that is stopped."""
    if initialized.database_url:
        pytest.skip("The embedded database is a file.")
    return initialized.data


def _damage(data: Path, part: str) -> None:
    """Overwrite the header, all pages after the first, or the second half of the database."""
    with (data / "ingot.db").open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        start, end = {"header": (0, 100), "pages": (PAGE_BYTES, size), "half": (size // 2, size)}[part]
        file.seek(start)
        file.write(b"\xff" * (end - start))


@pytest.mark.parametrize("part", ["header", "pages"])
def test_every_command_names_the_damage(instance_folder: Path, tmp_path: Path, part: str) -> None:
    _damage(instance_folder, part)
    for command in COMMANDS:
        arguments = [str(tmp_path / word) if word.endswith(".gz") else word for word in command]
        done = ingot(*arguments, "--data", instance_folder)
        assert done.returncode == 1, command
        assert "Traceback" not in done.stderr, done.stderr
        assert "not a database" in done.stdout + done.stderr or "malformed" in done.stdout + done.stderr, command


def test_a_backup_of_a_damaged_table_leaves_no_file(instance_folder: Path, tmp_path: Path) -> None:
    """The damage is found while rows are being read."""
    _damage(instance_folder, "half")
    place = tmp_path / "backups"
    place.mkdir()
    done = ingot("backup", place / "backup.tar.gz", "--data", instance_folder)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    assert "The database is damaged" in done.stderr or "cannot be read" in done.stderr
    assert list(place.iterdir()) == []


def test_a_start_on_a_read_only_disk_ends_with_a_message(instance_folder: Path) -> None:
    disk = FailingDisk(instance_folder)
    disk.root += "/"  # The log beside it can be written.
    disk.error = errno.EROFS
    server = FilteredServer(instance_folder, disk.decide, CALLS)
    try:
        server.start_filtered(wait=False)
        assert server.process is not None
        assert server.process.wait(60) == 1
    finally:
        server.kill()
    assert "Traceback" not in server.log()
    assert "Read-only file system" in server.log()
