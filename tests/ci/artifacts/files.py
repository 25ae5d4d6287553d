"""Uploads and archives for tests of artifacts."""

import gzip
import io
import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx

from ingot.ci.artifacts.store import ArtifactStore, artifact_store_of
from tests.client import Api
from tests.conftest import Instance

_ENTRY_START = b"PK\x01\x02" + bytes(24)
JUNIT = b"""<?xml version="1.0"?>
<testsuites><testsuite name="unit">
  <testcase classname="a.B" name="works" time="1.5" file="a.py"/>
  <testcase classname="a.B" name="breaks" time="0.5"><failure message="no">expected 1</failure>
    <system-out>printed</system-out></testcase>
  <testcase classname="a.B" name="later"><skipped message="not now"/></testcase>
  <testcase classname="a.B" name="crashes"><error>Traceback</error></testcase>
</testsuite></testsuites>"""


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)  # The time does not depend on the clock.
    return buffer.getvalue()


def zip_of_empty_files(names: Iterable[bytes], declared: int | None = None) -> bytes:
    """Return an archive of empty files that share one local header; ``declared`` is the number in its last record.

    It has one entry for each name and needs 46 bytes for each, so that it may have many.
    """
    entries = [_ENTRY_START + struct.pack("<H", len(name)) + bytes(16) + name for name in names]
    local = b"PK\x03\x04" + bytes(26)
    directory = b"".join(entries)
    shown = len(entries) if declared is None else declared
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, shown, shown, len(directory), len(local))
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(local) + len(directory), 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return local + directory + end64 + locator + end


def gzip_of(*members: bytes) -> bytes:
    """Return gzip members, one after the other, as a runner writes several report files."""
    return b"".join(gzip.compress(member) for member in members)


def upload(
    api: Api, job_id: int, token: str, content: bytes, filename: str = "artifacts.zip", **query: Any
) -> httpx.Response:
    """Upload a file as a runner does."""
    return api.request(
        "POST",
        f"/jobs/{job_id}/artifacts",
        params=query,
        headers={"JOB-TOKEN": token},
        files={"file": (filename, content)},
    )


def store_of(instance: Instance) -> ArtifactStore:
    """Return the storage of the instance."""
    return artifact_store_of(instance.settings)


def stored_files(instance: Instance) -> set[Path]:
    """Return all files of the storage, also incomplete ones."""
    return {path for path in store_of(instance).storage.root.rglob("*") if path.is_file()}
