"""Fixtures for the git client over HTTP, the built-in SSH server and the system's OpenSSH."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pytest

from tests.client import Api, User
from tests.conftest import Instance
from tests.factories import Project
from tests.openssh import SSHD, USER, forced_command_lines, sshd

BASE = {
    "PATH": os.environ["PATH"],
    "HOME": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


@dataclass
class Tree:
    """Checkout of a user, with its connection to the server."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def git(self, *args: str, fails: bool = False, text: str = "", env: dict[str, str] | None = None) -> str:
        """Run a git command; return both streams if it is expected to fail."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.folder,
            env={**BASE, **self.env, **(env or {})},
            input=text.encode(),
            capture_output=True,
            check=False,
        )
        out, said = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        assert (done.returncode != 0) == fails, out + said
        return out + said if fails else out.strip()

    def stderr(self, *args: str) -> str:
        """Run a git command and return its messages on standard error."""
        done = subprocess.run(
            ["git", *args], cwd=self.folder, env={**BASE, **self.env}, capture_output=True, check=True
        )
        return done.stderr.decode(errors="replace")

    def commit(self, file: str = "README", content: str = "hello\n", message: str = "A change") -> str:
        """Write a file, commit it and return the commit's id."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        self.git("add", "--", file)
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return an empty checkout on master."""
    made = Tree(tmp_path / "tree")
    made.folder.mkdir()
    made.git("init", "-q", "-b", "master")
    return made


def over_http(instance: Instance, project: Project | str, person: User | None, token: str = "") -> str:
    """Return the URL of a project with a user's token."""
    path = project if isinstance(project, str) else project.path
    who = f"{person.username}:{quote(token or person.token, safe='')}@" if person else ""
    return f"{instance.url.replace('http://', f'http://{who}')}/{path}.git"


@pytest.fixture
def ssh_key(tmp_path: Path, api: Api) -> Callable[[User], dict[str, str]]:
    """Return a function that adds a key to a user, and returns the environment in which git uses it."""

    def add(person: User, kind: str = "ed25519") -> dict[str, str]:
        key = tmp_path / f"key-{person.id}-{kind}"
        size = ["-b", "2048"] if kind == "rsa" else []
        subprocess.run(["ssh-keygen", "-q", "-t", kind, *size, "-N", "", "-f", key], check=True)
        public = key.with_suffix(".pub") if key.suffix else Path(f"{key}.pub")
        added = api.post("/user/keys", person, title="key", key=public.read_text())
        assert added.status_code == 201, added.text
        return {"GIT_SSH_COMMAND": ssh_command(key)}

    return add


def ssh_command(key: Path | str) -> str:
    """Return the ssh command for git: with this key and no user configuration."""
    options = "-F /dev/null -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -q"
    return f"ssh -i {key} {options}"


def over_ssh(instance: Instance, project: Project | str) -> str:
    """Return the URL of a project over SSH."""
    path = project if isinstance(project, str) else project.path
    return f"ssh://git@127.0.0.1:{instance.settings.ssh_port}/{path}.git"


@pytest.fixture(scope="session")
def openssh_port(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Yield the port of an sshd that serves the instance's repositories."""
    if SSHD is None:
        pytest.skip("NO SSHD: openssh-server is missing and could not be installed; see scripts/openssh")
    with sshd(tmp_path_factory.mktemp("sshd"), forced_command_lines(instance.settings.data)) as port:
        yield port


def over_openssh(port: int, project: Project | str) -> str:
    """Return the URL of a project over OpenSSH."""
    path = project if isinstance(project, str) else project.path
    return f"ssh://{USER}@127.0.0.1:{port}/{path}.git"


@dataclass
class GitRemote:
    """Remote of a user by one of the protocols."""

    url: Callable[[Project | str], str]
    env: dict[str, str]


@pytest.fixture(params=["http", "ssh", "openssh"])
def git_remote(
    request: pytest.FixtureRequest, instance: Instance, ssh_key: Callable[[User], dict[str, str]]
) -> Iterator[Callable[[User], GitRemote]]:
    """Yield a function that returns a connection; tests run once for each protocol."""
    with ExitStack() as stack:
        port = request.getfixturevalue("openssh_port") if request.param == "openssh" else 0

        def connect(person: User) -> GitRemote:
            if request.param == "http":
                return GitRemote(lambda project: over_http(instance, project, person), {})
            if request.param == "openssh":
                shared = stack.enter_context(_shared_connection(ssh_key(person)))
                return GitRemote(lambda project: over_openssh(port, project), shared)
            return GitRemote(lambda project: over_ssh(instance, project), ssh_key(person))

        yield connect


@contextmanager
def _shared_connection(env: dict[str, str]) -> Iterator[dict[str, str]]:
    """Let all git commands of a user share a connection, so that sshd looks the key up once and not for each command.

    Each command still has its own session and forced command.
    """
    # The path of a socket must be short.
    with TemporaryDirectory(prefix="ssh-") as folder:
        path = f"ControlPath={folder}/control"
        yield {"GIT_SSH_COMMAND": f"{env['GIT_SSH_COMMAND']} -o ControlMaster=auto -o {path} -o ControlPersist=60"}
        subprocess.run(["ssh", "-F", "/dev/null", "-o", path, "-O", "exit", "any"], capture_output=True, check=False)


@pytest.fixture(autouse=True)
def no_faults(instance: Instance) -> Iterator[None]:
    """Fail the test on internal errors of the server."""
    before = len(instance.log.getvalue())
    yield
    lines = instance.log.getvalue()[before:].splitlines()
    assert not [line for line in lines if '"event": "fault"' in line]
