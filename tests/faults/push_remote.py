"""Pushes to a server process over HTTP and SSH, and their consistency checks."""

import os
import signal
import subprocess
from pathlib import Path

from sqlalchemy import bindparam, select

from ingot.projects.projects.tables import projects
from ingot.repositories.ref_changes.tables import ref_changes
from tests.faults.load_generator import database_of, store_of
from tests.server.process import TOKEN, Server, until
from tests.transport.conftest import BASE, Tree, ssh_command

_KEY = select(projects.c.repository_key).where(projects.c.id == bindparam("project"))
_CHANGES = (
    select(ref_changes.c.ref, ref_changes.c.old, ref_changes.c.new)
    .where(ref_changes.c.project_id == bindparam("project"))
    .order_by(ref_changes.c.id)
)
ZERO = "0" * 40


class Remote:
    """Project on a server, as reached by git over HTTP or SSH."""

    def __init__(self, server: Server, name: str, way: str, folder: Path) -> None:
        made = server.call("POST", "/projects", json={"name": name})
        assert made.status_code == 201, made.text
        self.server = server
        self.id: int = made.json()["id"]
        self.path: str = made.json()["path_with_namespace"]
        self.way = way
        self.env: dict[str, str] = {}
        if way == "ssh":
            key = folder / "key"
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
            sent = {"title": "key", "key": Path(f"{key}.pub").read_text()}
            assert server.call("POST", "/user/keys", json=sent).status_code == 201
            self.env = {"GIT_SSH_COMMAND": ssh_command(key)}

    @property
    def url(self) -> str:
        """Return the current URL; a restarted server listens on another port."""
        if self.way == "http":
            return self.server.url.replace("http://", f"http://root:{TOKEN}@") + f"/{self.path}.git"
        port = (self.server.data / "run" / "ssh_port").read_text().strip()
        return f"ssh://git@127.0.0.1:{port}/{self.path}.git"

    def begin(self, tree: Tree, *args: str) -> "subprocess.Popen[bytes]":
        """Start a git command with the project's URL after its first argument."""
        command = ["git", args[0], self.url, *args[1:]]
        return subprocess.Popen(
            command,
            cwd=tree.folder,
            env={**BASE, **self.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def push(self, tree: Tree, *specs: str, fails: bool = False) -> str:
        """Push and wait for the result."""
        return tree.git("push", self.url, *specs, env=self.env, fails=fails)

    @property
    def repository(self) -> Path:
        """Return the path of the repository."""
        with database_of(self.server) as database:
            key: str = database.read(lambda db: db.value(_KEY, project=self.id))
        return store_of(self.server).path_of(key)

    def recorded(self) -> list[tuple[str, str, str]]:
        """Return the recorded changes."""
        with database_of(self.server) as database:
            rows = database.read(lambda db: db.rows(_CHANGES, project=self.id))
        return [(ref, old, new) for ref, old, new in rows]


def git_processes(server: Server) -> list[int]:
    """Return the processes that work in the server's repositories."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            where = (process / "cwd").readlink()
            alive = (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            continue
        if alive and where.is_relative_to(server.data / "repositories"):
            found.append(int(process.name))
    return found


def kill_git(server: Server) -> None:
    """Kill them too, as a power cut would."""
    for pid in git_processes(server):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    until("the end of git", lambda: not git_processes(server))


def leftovers(repository: Path) -> list[Path]:
    """Return the leftovers of an interrupted transfer."""
    return [*repository.glob("objects/*incoming-*"), *repository.rglob("*.lock"), *repository.glob("objects/*/tmp_*")]
