"""Where uploaded files lie: ``<root>/<project id>/<secret>/<name>``, whole or not at all."""

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
    """Where the uploads of an instance are."""
    return UploadFiles(settings.data / "uploads")


class UploadFiles:
    """The files of all projects; any number of processes may share them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path_of(self, project_id: int, secret: str, name: str) -> Path:
        """Where a file lies, or would lie."""
        if not _SECRET.fullmatch(secret) or "/" in name or name in ("", ".", ".."):
            raise ValueError("No upload is called so")
        return self.root / str(project_id) / secret / name

    def store(self, project_id: int, secret: str, name: str, content: BinaryIO) -> int:
        """Keep a file, and return its size when the disk has it; a row must follow, or it is swept up."""
        path = self.path_of(project_id, secret, name)
        for folder in (self.root, path.parent.parent):
            folder.mkdir(mode=0o700, exist_ok=True)
        fresh = path.parent.with_suffix(_PARTIAL)
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(content, file, _CHUNK_SIZE)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            path.parent.mkdir(mode=0o700)
            fresh.rename(path)
            for folder in (path.parent, path.parent.parent, self.root):
                sync_folder(folder)
        except BaseException:
            fresh.unlink(missing_ok=True)
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        return size

    def open(self, project_id: int, secret: str, name: str) -> BinaryIO:
        """Open a file to read it; raises ``FileNotFoundError`` where it is gone."""
        return self.path_of(project_id, secret, name).open("rb")

    def remove_all(self, project_id: int) -> None:
        """Remove all files of a project; none is no error."""
        try:
            shutil.rmtree(self.root / str(project_id))
        except FileNotFoundError:
            pass

    def sweep(self, known: Callable[[int], Collection[str]], older_than_seconds: float) -> list[Path]:
        """Remove files that no row names, as a crash or a refused call left them; gives what was removed.

        ``known`` gives the secrets of a project's uploads. It is asked after the folder was read, and what is
        young is left alone, since its row may not be committed yet.
        """
        newest = time.time() - older_than_seconds
        swept: list[Path] = []
        for folder in self._projects():
            old = [entry for entry in folder.iterdir() if _modified_at(entry) <= newest]
            secrets = known(int(folder.name)) if old else ()
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
    except FileNotFoundError:  # It has just got its name.
        return time.time()
