"""Archives that tests write and read."""

import gzip
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VALID: Mapping[str, bytes] = {"VERSION": b"0.2.4", "tree/project.json": b'{"path":"sample"}'}
"""Smallest archive of a project."""


def files_of(content: bytes) -> dict[str, bytes]:
    """Return the files of an archive by name."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {
            member.name.removeprefix("./"): file.read()
            for member in archive
            if (file := archive.extractfile(member)) is not None
        }


def rows_of(files: Mapping[str, bytes], relation: str) -> list[dict[str, Any]]:
    """Return the rows of a relation of a project."""
    return [json.loads(line) for line in files[f"tree/project/{relation}.ndjson"].splitlines()]


def write_archive(path: Path, files: Mapping[str, bytes], *entries: tarfile.TarInfo) -> Path:
    """Write an archive with these files and further entries without content."""
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for entry in entries:
            archive.addfile(entry)
    return path


def entry_of(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Return an entry that is not a file."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


def compressed_zeros(path: Path, size: int) -> Path:
    """Write an archive that is much larger when it is decompressed."""
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(size // 2**20):
            file.write(bytes(2**20))
    return path
