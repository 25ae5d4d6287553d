"""Histories for tests, written by ``git fast-import`` directly into a project's repository.

Such commits bypass all checks and emit no events; they are for tests of reading.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from sqlalchemy import bindparam, select, update

from ingot.git.core.repository import Repository
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.tables import projects
from tests.conftest import Instance
from tests.factories import Project

_KEY = select(projects.c.repository_key).where(projects.c.id == bindparam("project"))
_FILLED = (
    update(projects)
    .where(projects.c.id == bindparam("project"))
    .values(empty=False, generation=projects.c.generation + 1)
)
WRITER = "Ada Writer <ada@example.org>"


def repository_of(instance: Instance, project: Project) -> Repository:
    """Return the path of a project's repository."""
    key: str = instance.app.database.read(lambda db: db.value(_KEY, project=project.id))
    return repository_store(instance.settings).open(key)


def run(path: Path, *args: str, input: bytes | None = None) -> str:
    """Return the output of git in a repository."""
    done = subprocess.run(["git", *args], cwd=path, input=input, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode(errors="replace").strip()


class History:
    """``fast-import`` stream under construction; marks count up from 1 over all its commits."""

    def __init__(self) -> None:
        self._stream = bytearray()
        self._marks = 0
        self._seconds = 1_500_000_000

    def commit(
        self,
        branch: str = "master",
        files: Mapping[str, Any] | None = None,
        message: str | bytes = "Change",
        *,
        parents: tuple[int | str, ...] | None = None,
        author: str = WRITER,
        committer: str = WRITER,
        zone: str = "+0200",
        removed: tuple[str, ...] = (),
        at: int | None = None,
    ) -> int:
        """Add a commit and return its mark.

        ``files`` maps paths to contents (str or bytes) or to ``(mode, content)``: 100755 for an executable, 120000 for
        a symlink, 160000 for a submodule, whose content is a commit's id. ``parents`` are marks or ids, by default the
        branch's tip; an empty tuple starts a new history. ``at`` is the time in seconds, by default a minute after the
        previous commit.
        """
        self._marks += 1
        self._seconds = self._seconds + 60 if at is None else at
        text = message.encode() if isinstance(message, str) else message
        if parents == ():
            self._line(f"reset refs/heads/{branch}")
            self._line("")
        self._line(f"commit refs/heads/{branch}")
        self._line(f"mark :{self._marks}")
        self._line(f"author {author} {self._seconds} {zone}")
        self._line(f"committer {committer} {self._seconds} {zone}")
        self._data(text)
        for place, parent in enumerate(parents or ()):
            self._line(f"{'merge' if place else 'from'} {f':{parent}' if isinstance(parent, int) else parent}")
        for path in removed:
            self._line(f'D "{_quoted(path)}"')
        for path, content in (files or {}).items():
            self._file(path, *(content if isinstance(content, tuple) else ("100644", content)))
        return self._marks

    def tag(self, name: str, target: int | str, message: str | None = None) -> None:
        """Add a tag, annotated if there is a message."""
        at = f":{target}" if isinstance(target, int) else target
        if message is None:
            self._line(f"reset refs/tags/{name}")
            self._line(f"from {at}")
            return
        self._line(f"tag {name}")
        self._line(f"from {at}")
        self._line(f"tagger {WRITER} {self._seconds} +0200")
        self._data(message.encode())

    def into(self, repository: Repository) -> dict[int, str]:
        """Write the stream into a repository and return the commit id of each mark."""
        marks = repository.path / "marks-of-a-test"
        self._line("done")
        run(
            repository.path,
            "fast-import",
            "--quiet",
            "--force",
            "--done",
            f"--export-marks={marks}",
            input=bytes(self._stream),
        )
        lines = marks.read_text().split("\n")
        marks.unlink()
        if repository.ref_store is not None:
            repository.ref_store.publish()
        return {int(mark[1:]): oid for mark, _, oid in (line.partition(" ") for line in lines if line)}

    def fill(self, instance: Instance, project: Project) -> dict[int, str]:
        """Write the stream into a project's repository, and mark its row as not empty."""
        marks = self.into(repository_of(instance, project))
        instance.app.database.write(lambda db: db.run(_FILLED, project=project.id))
        return marks

    def _file(self, path: str, mode: str, content: str | bytes) -> None:
        quoted = _quoted(path)
        if mode == "160000":
            self._line(f'M {mode} {content if isinstance(content, str) else content.decode()} "{quoted}"')
            return
        self._line(f'M {mode} inline "{quoted}"')
        self._data(content.encode() if isinstance(content, str) else content)

    def _line(self, line: str) -> None:
        self._stream += line.encode("utf-8", "surrogateescape") + b"\n"

    def _data(self, data: bytes) -> None:
        self._stream += b"data %d\n" % len(data) + data + b"\n"


def random_branches(chance: Random, names: Sequence[str], commits: int) -> tuple[History, list[int]]:
    """Create random branches and merges that change and remove these files; return the marks too."""
    history = History()
    marks = [history.commit(files=dict.fromkeys(names, "0"))]
    for number in range(commits):
        parents = tuple(chance.sample(marks[-8:], min(len(marks), chance.choice([1, 1, 1, 2, 3]))))
        changed = {name: chance.choice("012") for name in chance.sample(names, chance.choice([0, 1, 1, 2]))}
        removed = tuple(chance.sample(names, 1)) if chance.random() < 0.1 else ()
        marks.append(history.commit(f"branch-{number}", changed, parents=parents, removed=removed))
    return history, marks


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
