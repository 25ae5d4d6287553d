"""Uploads and archives for tests of artifacts."""

import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import httpx

from ingot.ci.artifacts.store import ArtifactStore, artifact_store_of
from tests.client import Api
from tests.conftest import Instance

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
