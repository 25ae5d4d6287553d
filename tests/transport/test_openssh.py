"""Git over the system's OpenSSH: a real ``sshd`` runs ``ingot authorized-keys`` and ``ingot shell``."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ingot.accounts.keys.queries import find_key
from ingot.transport.shell_socket import call_server, socket_path
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of
from tests.openssh import SSHD, USER
from tests.server.process import ingot, until
from tests.transport.conftest import BASE, Tree, over_http, over_openssh, ssh_command
from tests.transport.test_disconnects import HALF, gits
from tests.transport.test_ssh_attacks import COMMANDS, ONLY_GIT
from tests.transport.test_workflows import recorded
from tests.transport.wire import key_of, packet

Give = Callable[..., dict[str, str]]
pytestmark = pytest.mark.skipif(SSHD is None, reason="NO SSHD: openssh-server is missing; see scripts/openssh")


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def key(owner: User, ssh_key: Give) -> Path:
    return key_of(ssh_key(owner))


@pytest.fixture
def project(instance: Instance, make: Make, owner: User, tree: Tree) -> Project:
    """Return a private project with a commit."""
    made = make_project(make, owner, visibility="private")
    tree.commit()
    tree.git("push", "-q", over_http(instance, made, owner), "master")
    return made


def _ssh(
    port: int, key: Path, *words: str, user: str = USER, sent: bytes = b""
) -> "subprocess.CompletedProcess[bytes]":
    there = ["-p", str(port), f"{user}@127.0.0.1"]
    command = [*ssh_command(key).split(), "-T", *there, *words]
    return subprocess.run(command, env=BASE, input=sent, capture_output=True, check=False, timeout=60)


def test_push_with_messages_and_records(
    instance: Instance, api: Api, openssh_port: int, owner: User, project: Project, key: Path, tree: Tree
) -> None:
    """A push is recorded before git reports it, prints the link to a merge request, and passes the ref checks."""
    tree.env = {"GIT_SSH_COMMAND": ssh_command(key)}
    url = over_openssh(openssh_port, project)
    tree.git("checkout", "-q", "-b", "topic")
    tip = tree.commit("topic", "topic\n")
    assert "To create a merge request for topic, visit:" in tree.stderr("push", url, "topic")
    assert recorded(instance, project)[-1] == ("refs/heads/topic", "0" * 40, tip)
    assert api.get(f"/projects/{project.id}/repository/branches/topic", owner).json()["commit"]["id"] == tip
    assert "cannot be deleted" in tree.git("push", "-q", url, ":master", fails=True)
    trace = tree.folder / "trace"
    tree.git("ls-remote", url, env={"GIT_TRACE_PACKET": str(trace)})
    assert "version 2" in trace.read_text()


def test_clone_is_served_by_git_itself(
    instance: Instance, openssh_port: int, owner: User, project: Project, key: Path
) -> None:
    """Neither the server nor the forced command is involved: git is a child of the user's shell of sshd."""
    command = [*ssh_command(key).split(), "-T", "-p", str(openssh_port), f"{USER}@127.0.0.1"]
    process = subprocess.Popen(
        [*command, f"git-upload-pack '{project.path}'"], env=BASE, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdout.read(4)
    running = [Path("/proc", name) for name in _processes_in(repository_of(instance, project).path)]
    assert len(running) == 1
    descriptors = {str((running[0] / "fd" / number).readlink()).partition(":")[0] for number in "01"}
    assert descriptors <= {"socket", "pipe"}
    parents = _ancestors(running[0])
    assert any("sshd" in name for name in parents) and not any("ingot" in name for name in parents)
    process.communicate(b"0000", timeout=60)
    assert process.returncode == 0


def _processes_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder.resolve():
                found.append(process.name)
        except OSError:
            continue
    return found


def _ancestors(process: Path) -> list[str]:
    names: list[str] = []
    parent = int(process.joinpath("stat").read_text().rpartition(")")[2].split()[1])
    while parent > 1 and len(names) < 4:
        names.append(Path(f"/proc/{parent}/cmdline").read_bytes().replace(b"\0", b" ").decode())
        if "sshd" in names[-1]:
            break
        parent = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
    return names


def test_only_active_keys_of_active_users(
    instance: Instance, api: Api, make: Make, openssh_port: int, owner: User, key: Path, tmp_path: Path
) -> None:
    unknown = tmp_path / "unknown"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", unknown], check=True)
    assert _ssh(openssh_port, unknown).returncode == 255
    assert _ssh(openssh_port, key, user="nobody").returncode == 255
    assert _ssh(openssh_port, key).stdout == f"Welcome to Ingot, @{owner.username}!\n".encode()
    key_id = api.get("/user/keys", owner).json()[0]["id"]
    assert api.post(f"/users/{owner.id}/block", make.root).status_code == 201
    assert _ssh(openssh_port, key).returncode == 255
    # A connection that was authenticated before.
    late = ingot("shell", f"key-{key_id}", "--data", str(instance.settings.data))
    assert (late.returncode, late.stderr) == (128, "This key has been revoked.\n")
    assert ingot("shell", "key-999999", "--data", str(instance.settings.data)).returncode == 128


def test_last_use_of_a_key_is_recorded(
    instance: Instance, api: Api, openssh_port: int, owner: User, project: Project, key: Path
) -> None:
    key_id = api.get("/user/keys", owner).json()[0]["id"]

    def last_use() -> str | None:
        return instance.app.database.read(lambda db: find_key(db, key_id).last_used_at)

    assert last_use() is None
    assert _ssh(openssh_port, key, f"git-upload-pack '{project.path}'", sent=b"0000").returncode == 0
    until("the record of the use", last_use)


def test_deploy_keys(
    instance: Instance, api: Api, make: Make, openssh_port: int, owner: User, project: Project, tree: Tree
) -> None:
    """A deploy key reads its project, and pushes only if permitted."""
    key = tree.folder.parent / "deploy"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    line = Path(f"{key}.pub").read_text()
    added = api.post(f"/projects/{project.id}/deploy_keys", owner, title="machine", key=line).json()
    tree.env = {"GIT_SSH_COMMAND": ssh_command(key)}
    url = over_openssh(openssh_port, project)
    assert tree.git("ls-remote", url, "master").split()[0] == tree.git("rev-parse", "master")
    assert b"Welcome to Ingot, deploy key" in _ssh(openssh_port, key).stdout
    other = make_project(make, owner, visibility="private")
    assert "could not be found" in tree.git("ls-remote", over_openssh(openssh_port, other), fails=True)
    said = tree.git("push", "-q", url, "master:pushed", fails=True)
    assert "This deploy key does not have write access to this project." in said
    changed = api.put(f"/projects/{project.id}/deploy_keys/{added['id']}", owner, can_push=True)
    assert changed.status_code == 200
    tree.git("push", "-q", url, "master:pushed")
    assert recorded(instance, project)[-1][0] == "refs/heads/pushed"


def test_lfs_and_archives(
    instance: Instance, openssh_port: int, owner: User, project: Project, key: Path, tree: Tree
) -> None:
    words = f"git-lfs-authenticate {project.path}.git upload"
    answer = _ssh(openssh_port, key, words)
    assert answer.returncode == 0
    assert json.loads(answer.stdout)["href"].endswith(f"/{project.path}.git/info/lfs")
    tree.env = {"GIT_SSH_COMMAND": ssh_command(key)}
    archive = ["archive", f"--remote={over_openssh(openssh_port, project)}", "--format=tar"]
    assert "README" in tree.git(*archive, "master")
    assert "no such ref" in tree.git(*archive, "nowhere", fails=True).lower()


def test_only_git_commands_run(openssh_port: int, owner: User, project: Project, key: Path, tmp_path: Path) -> None:
    """No other command reaches a shell, no tunnel and no terminal is granted, no variable but GIT_PROTOCOL counts."""
    for command in [*COMMANDS[::3], b"git-upload-pack '\xff/\xfe'".decode(errors="surrogateescape")]:
        done = _ssh(openssh_port, key, "--", command.format(path=project.path))
        assert done.returncode not in (0, None) and done.stdout == b"", command[:100]
        if len(command) < 1000:
            assert done.stderr.decode().strip().endswith((ONLY_GIT, "permission to view it.")), done.stderr
    sftp = subprocess.run(
        [*ssh_command(key).split(), "-p", str(openssh_port), "-s", f"{USER}@127.0.0.1", "sftp"],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert sftp.returncode != 0 and sftp.stdout == b""
    tunnel = [
        *ssh_command(key).split(),
        "-p",
        str(openssh_port),
        "-W",
        f"127.0.0.1:{openssh_port}",
        f"{USER}@127.0.0.1",
    ]
    assert subprocess.run(tunnel, capture_output=True, check=False, timeout=60).returncode != 0
    trace = tmp_path / "trace"
    session_options = ["-o", f"SetEnv=GIT_TRACE={trace} GIT_CONFIG_COUNT=1", f"{USER}@127.0.0.1"]
    session = [
        *ssh_command(key).split(),
        "-p",
        str(openssh_port),
        *session_options,
        f"git-upload-pack '{project.path}'",
    ]
    done = subprocess.run(session, input=b"0000", capture_output=True, check=False, timeout=60)
    assert done.returncode == 0 and not trace.exists()


def test_client_disconnects_during_a_push(
    instance: Instance, openssh_port: int, owner: User, project: Project, key: Path
) -> None:
    """git exits, and nothing is recorded."""
    before = len(recorded(instance, project))
    command = [*ssh_command(key).split(), "-p", str(openssh_port), f"{USER}@127.0.0.1"]
    process = subprocess.Popen(
        [*command, f"git-receive-pack '{project.path}'"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(HALF)
    process.stdin.flush()
    repository = repository_of(instance, project)
    until("its quarantine", lambda: list(repository.path.glob("objects/*incoming-*")))
    process.kill()
    process.communicate()
    until("the end of git", lambda: not gits(instance))
    assert len(recorded(instance, project)) == before


def test_malformed_request_to_a_checked_fetch(
    instance: Instance, api: Api, openssh_port: int, owner: User, project: Project, key: Path
) -> None:
    """With merge requests disabled, the server checks wanted objects here too."""
    assert api.put(f"/projects/{project.id}", owner, merge_requests_enabled=False).status_code == 200
    done = _ssh(openssh_port, key, f"git-upload-pack '{project.path}'", sent=b"zzzz")
    assert (done.returncode, done.stderr) == (128, b"Git does not understand this request.\n")
    wanted = packet(f"want {'1' * 40}\n") + b"0000" + packet("done\n")
    done = _ssh(openssh_port, key, f"git-upload-pack '{project.path}'", sent=wanted)
    assert b"not our ref" in done.stdout


def test_without_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands print an error and exit."""
    shell = ingot("shell", "key-1", "--data", str(tmp_path))
    assert (shell.returncode, shell.stderr) == (128, "The server cannot answer right now. Try again in a moment.\n")
    looked_up = ingot("authorized-keys", USER, "SHA256:x", "--data", str(tmp_path))
    assert looked_up.returncode == 1 and looked_up.stdout == ""
    assert ingot("authorized-keys", "somebody-else", "SHA256:x", "--data", str(tmp_path)).returncode == 0


def test_socket_is_private(instance: Instance) -> None:
    path = socket_path(instance.settings.data)
    assert path.stat().st_mode & 0o777 == 0o600
    assert call_server(instance.settings.data, {"fingerprint": "SHA256:unknown"}) == {}
