"""Attacks over SSH: no command runs, and no access without a proven key."""

import asyncio
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.ssh_public_keys import ed25519_line
from tests.transport.conftest import ssh_command
from tests.transport.wire import OpenConnection, connected, key_of

ONLY_GIT = "Only git can be used here: clone, fetch, push and archive."
Give = Callable[..., dict[str, str]]


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    return make_project(make, owner)


COMMANDS = [
    "id",
    "sh -c id",
    "git-shell -c id",
    "git-upload-pack",
    "git-upload-pack '--help'",
    "git-upload-pack --upload-pack=id {path}",
    "git-upload-pack '{path}' x",
    "git-upload-pack '{path}';id",
    "git-upload-pack '{path}' && id",
    "git-upload-pack '{path}' | id",
    "git-upload-pack `id`",
    "git-upload-pack $(id)",
    "git-upload-pack '{path}",
    "git-upload-pack ''",
    "git-upload-pack '-'",
    "git-upload-pack '/'",
    "git-upload-pack '{path}\n'id",
    "git-receive-pack '../../../etc'",
    "git --exec-path=/tmp upload-pack {path}",
    "git daemon {path}",
    "git config {path}",
    "git-upload-archive --exec=id",
    "GIT-UPLOAD-PACK {path}",
    "/usr/bin/git-upload-pack {path}",
    "scp -t /tmp",
    "scp -f /etc/passwd",
    "rsync --server . /",
    "git-lfs-authenticate {path} --help",
    "x" * 100_000,
]


def _ssh(instance: Instance, key: Path, *args: str, sent: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    there = ["-p", str(instance.settings.ssh_port)]
    return subprocess.run(
        [*ssh_command(key).split(), *there, *args], capture_output=True, check=False, timeout=60, input=sent
    )


def test_commands(instance: Instance, owner: User, project: Project, ssh_key: Give, tmp_path: Path) -> None:
    """No command reaches a shell."""
    with connected(instance, key_of(ssh_key(owner)), tmp_path) as connection:
        for command in (each.format(path=project.path) for each in COMMANDS):
            said = connection.run(command)
            assert said.status not in (0, None), command[:100]
            assert said.out == b""
            assert said.err.strip().endswith((ONLY_GIT, "permission to view it.")), said.err
        assert connection.run(f"git upload-pack '{project.path}'", b"0000").status == 0


def test_no_environment(instance: Instance, owner: User, project: Project, ssh_key: Give, tmp_path: Path) -> None:
    """Of the environment that a client sends, only a valid protocol version is used."""
    trace = tmp_path / "trace"
    wishes = {
        "GIT_TRACE": str(trace),
        "GIT_TRACE2_EVENT": str(trace),
        "GIT_DIR": "/tmp",
        "GIT_SSH_COMMAND": "id",
        "LD_PRELOAD": "/tmp/x.so",
        "PATH": "/tmp",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "uploadpack.packObjectsHook",
        "GIT_CONFIG_VALUE_0": "id",
    }
    key, command = key_of(ssh_key(owner)), f"git-upload-pack '{project.path}'"

    def asked(wish: str) -> bytes:
        done = _ssh(instance, key, "-o", f"SetEnv={wish}", "git@127.0.0.1", command, sent=b"0000")
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert asked(" ".join(f"{name}={value}" for name, value in wishes.items())) == b"0000"
    for protocol in ("version=3", "version=2:../../x", "--version", "version=2;id", "x" * 10_000):
        assert b"version 2" not in asked(f"GIT_PROTOCOL={protocol}")
    assert b"version 2" in asked("GIT_PROTOCOL=version=2")
    assert not trace.exists()


def test_only_commands_are_accepted(instance: Instance, owner: User, ssh_key: Give, tmp_path: Path) -> None:
    """No terminal, tunnels, agent or files."""
    key = key_of(ssh_key(owner))
    greeting = f"Welcome to Ingot, @{owner.username}!\n".encode()
    done = _ssh(instance, key, "-T", "git@127.0.0.1")
    assert (done.returncode, done.stdout) == (0, greeting)
    done = _ssh(instance, key, "-tt", "git@127.0.0.1")
    assert b"$" not in done.stdout
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.5)
        port = listener.getsockname()[1]
        done = _ssh(instance, key, "-W", f"127.0.0.1:{port}", "git@127.0.0.1")
        assert done.returncode != 0
        done = _ssh(instance, key, "-o", "ExitOnForwardFailure=yes", "-R", f"0:127.0.0.1:{port}", "-N", "git@127.0.0.1")
        assert done.returncode != 0
        with pytest.raises(TimeoutError):
            listener.accept()
    done = _ssh(instance, key, "-s", "git@127.0.0.1", "sftp")
    assert (done.returncode, done.stdout) == (255, b"")
    for words in (["scp", "-O"], ["scp"]):
        options = ssh_command(key).split()[1:]
        target = f"scp://git@127.0.0.1:{instance.settings.ssh_port}//tmp/pwned-by-scp"
        copied = subprocess.run([*words, *options, str(key), target], capture_output=True, check=False, timeout=60)
        assert copied.returncode != 0
    assert not Path("/tmp/pwned-by-scp").exists()


def test_only_known_keys_of_active_users(
    instance: Instance, api: Api, make: Make, owner: User, project: Project, ssh_key: Give, tmp_path: Path
) -> None:
    """Attack: an unknown key, another user name, a password, and the key of a blocked user."""
    unknown = tmp_path / "unknown"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", unknown], check=True)
    known = key_of(ssh_key(owner))
    refused = [(unknown, "git"), (known, "root"), (known, owner.username), (known, ""), (known, "git" * 200)]
    for key, name in refused:
        done = _ssh(instance, key, "-o", "PreferredAuthentications=publickey", "-l", name or "''", "127.0.0.1")
        assert done.returncode == 255 and done.stdout == b"", name
    methods = "PreferredAuthentications=password,keyboard-interactive,none,hostbased,gssapi-with-mic"
    assert _ssh(instance, known, "-o", methods, "-o", "BatchMode=yes", "git@127.0.0.1").returncode == 255
    assert _ssh(instance, known, "-T", "git@127.0.0.1").returncode == 0
    assert api.post(f"/users/{owner.id}/block", make.root).status_code == 201
    assert _ssh(instance, known, "-T", "git@127.0.0.1").returncode == 255


def test_a_key_that_is_shown_but_not_held(
    instance: Instance, make: Make, owner: User, ssh_key: Give, tmp_path: Path
) -> None:
    """Offering the key of another user first does not authenticate as that user."""
    other = make.user()
    mine, theirs = key_of(ssh_key(owner)), key_of(ssh_key(other))
    shown = tmp_path / "shown"
    shown.write_bytes(mine.read_bytes())
    shown.chmod(0o600)
    Path(f"{shown}.pub").write_bytes(Path(f"{theirs}.pub").read_bytes())
    options = ["-i", str(shown), "-i", str(mine), *ssh_command(mine).split()[3:]]
    done = subprocess.run(
        ["ssh", *options, "-T", "-p", str(instance.settings.ssh_port), "git@127.0.0.1"],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert f"@{other.username}".encode() not in done.stdout


def test_a_session_before_authentication(instance: Instance, project: Project) -> None:
    """Attack: a client that opens a session without authentication is disconnected."""

    class Impatient(asyncssh.SSHClient):
        """Client that pretends to be authenticated."""

        def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
            self.connection = conn

        def begin_auth(self, username: str) -> None:  # noqa: ARG002 - It is the library's.
            self.connection._auth_complete = True

    async def attack() -> None:
        connection, _ = await asyncssh.create_connection(
            Impatient,
            "127.0.0.1",
            instance.settings.ssh_port,
            username="git",
            known_hosts=None,
            client_keys=None,
            config=None,
            login_timeout=5,
        )
        async with connection:
            await connection.run(f"git-upload-pack '{project.path}'")

    with pytest.raises((asyncssh.Error, OSError)):
        asyncio.run(asyncio.wait_for(attack(), 20))


@pytest.mark.parametrize(
    "line",
    [
        '{key} x\ncommand="id" {other}',
        "{key}\n{other}",
        'command="id" {key}',
        "{key}\r\n{other}",
        "{key}\0",
        "ssh-ed25519 AAAA x",
        "{key} " + "x" * 100_000,
    ],
)
def test_keys_with_line_breaks_or_options_are_rejected(api: Api, make: Make, line: str) -> None:
    """Attack: a key with a line break or options."""
    person = make.user()
    first = ed25519_line()
    sent = api.post("/user/keys", person, title="x", key=line.format(key=first, other=ed25519_line()))
    kept = api.get("/user/keys", person).json()
    assert sent.status_code in (400, 201), sent.text
    assert len(kept) <= 1
    assert all("\n" not in key["key"] and key["key"].startswith(first) for key in kept)


def test_many_concurrent_commands(
    instance: Instance, owner: User, project: Project, ssh_key: Give, tmp_path: Path
) -> None:
    """Commands beyond the limit wait for a slot."""

    def begin(connection: OpenConnection) -> "subprocess.Popen[bytes]":
        return connection.popen(f"git-upload-pack '{project.path}'")

    with connected(instance, key_of(ssh_key(owner)), tmp_path) as connection:
        processes = [begin(connection) for _ in range(20)]
        for process in processes:
            out, _ = process.communicate(b"0000", timeout=60)
            assert process.returncode == 0 and out
