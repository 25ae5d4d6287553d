"""Storage of uploaded files: ``<root>/<project id>/<secret>/<name>``, written atomically."""

import os
import re
import shutil
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO

from ingot.git.core.layout import sync_folder
from ingot.settings import Settings

_SECRET = re.compile(r"[0-9a-f]{32}")
_PARTIAL = ".partial"
_CHUNK_SIZE = 2**20


def upload_files(settings: Settings) -> "UploadFiles":
    """Return the upload storage of an instance."""
    return UploadFiles(settings.data / "uploads")


class UploadFiles:
    """Uploaded files of all projects; safe for use by several processes."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path_of(self, project_id: int, secret: str, name: str) -> Path:
        """Return the path of a file; raise ValueError if secret or name is malformed."""
        if not _SECRET.fullmatch(secret) or "/" in name or name in ("", ".", ".."):
            raise ValueError("Malformed secret or name of an upload")
        return self.root / str(project_id) / secret / name

    def store(self, project_id: int, secret: str, name: str, content: BinaryIO) -> int:
        """Store a file, flush it to disk and return its size; the sweep removes it unless a row follows."""
        path = self.path_of(project_id, secret, name)
        for folder in (self.root, path.parent.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        partial = path.parent.with_suffix(_PARTIAL)
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(content, file, _CHUNK_SIZE)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            path.parent.mkdir(mode=0o700)
            partial.rename(path)
            for folder in (path.parent, path.parent.parent, self.root):
                sync_folder(folder)
        except BaseException:
            partial.unlink(missing_ok=True)
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        return size

    def open(self, project_id: int, secret: str, name: str) -> BinaryIO:
        """Open a file for reading; raise ``FileNotFoundError`` if it does not exist."""
        return self.path_of(project_id, secret, name).open("rb")

    def remove_all(self, project_id: int) -> None:
        """Remove all files of a project, if there are any."""
        try:
            shutil.rmtree(self.root / str(project_id))
        except FileNotFoundError:
            pass

    def sweep(self, known_secrets: Callable[[int], Collection[str]], older_than_seconds: float) -> list[Path]:
        """Remove files without a row, left by a crash or a failed request, and return their paths.

        ``known_secrets`` returns the secrets of a project's uploads. It is called after the folder was read, and recent
        files are skipped, because their rows may not be committed yet.
        """
        cutoff = time.time() - older_than_seconds
        swept: list[Path] = []
        for folder in self._projects():
            old = [entry for entry in folder.iterdir() if _modified_at(entry) <= cutoff]
            secrets = known_secrets(int(folder.name)) if old else ()
            for entry in old:
                if entry.name not in secrets:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
                    swept.append(entry)
        return swept

    def _projects(self) -> list[Path]:
        if not self.root.is_dir():
            return []
        return [entry for entry in self.root.iterdir() if entry.name.isdigit() and entry.is_dir()]


def _modified_at(path: Path) -> float:
    try:
        return path.lstat().st_ctime
    except FileNotFoundError:  # A concurrent upload has just renamed it.
        return time.time()
