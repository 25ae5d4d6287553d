"""Clones over SSH with each kind of cipher, with rekeying, and with small windows."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest

from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.transport.conftest import Tree, over_http, over_ssh, ssh_command
from tests.transport.wire import key_of

Give = Callable[..., dict[str, str]]
QUICK, SLOW = "aes128-gcm@openssh.com", "aes128-ctr"


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, owner: User, tree: Tree) -> Project:
    """Return a project with some megabytes of incompressible content."""
    made = make_project(make, owner)
    (tree.folder / "bulk").write_bytes(os.urandom(5_000_000))
    tree.git("add", "bulk")
    tree.commit()
    tree.git("push", "-q", over_http(instance, made, owner), "master")
    return made


@pytest.mark.parametrize("cipher", ["", QUICK, SLOW])
def test_clone_is_complete_with_each_cipher(
    instance: Instance, owner: User, project: Project, ssh_key: Give, tree: Tree, tmp_path: Path, cipher: str
) -> None:
    """With several key exchanges during the clone."""
    key = key_of(ssh_key(owner))
    command = f"{ssh_command(key)} -o RekeyLimit=1M{f' -c {cipher}' if cipher else ''}"
    copy = tmp_path / "copy"
    tree.git("clone", "-q", "--bare", over_ssh(instance, project), str(copy), env={"GIT_SSH_COMMAND": command})
    assert Tree(copy).git("rev-parse", "master") == tree.git("rev-parse", "HEAD")
    Tree(copy).git("fsck", "--strict")


@pytest.mark.parametrize("window", [10, 1_000, 40_000])
@pytest.mark.parametrize("cipher", [QUICK, SLOW])
def test_small_window_is_refilled(
    instance: Instance, owner: User, project: Project, ssh_key: Give, tree: Tree, window: int, cipher: str
) -> None:
    """A client other than OpenSSH that receives little at a time gets the whole response."""
    for number in range(20):
        tree.git("branch", f"branch-{number}")
    tree.git("push", "-q", over_http(instance, project, owner), "--all")

    async def listing() -> bytes:
        reached = asyncssh.connect(
            "127.0.0.1",
            instance.settings.ssh_port,
            username="git",
            known_hosts=None,
            config=None,
            client_keys=[str(key_of(ssh_key(owner)))],
            encryption_algs=[cipher],
        )
        async with reached as connection:
            command = f"git-upload-pack '{project.path}'"
            process = await connection.create_process(command, encoding=None, window=window, max_pktsize=32_768)
            seen = b""
            while not seen.endswith(b"\n0000"):
                seen += await process.stdout.read(4096)
            return seen

    seen = asyncio.run(asyncio.wait_for(listing(), 30))
    assert seen.count(b" refs/heads/branch-") == 20
