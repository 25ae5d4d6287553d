"""What is replaced in how the library sends: nothing is lost by it, whoever the client is."""

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest

from ingot.transport import ssh, ssh_packets
from tests.client import Make, Person
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.transport.conftest import Tree, over_http, over_ssh, ssh_command
from tests.transport.wire import key_of

Give = Callable[..., dict[str, str]]
QUICK, SLOW = "aes128-gcm@openssh.com", "aes128-ctr"


@pytest.fixture
def owner(make: Make) -> Person:
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, owner: Person, tree: Tree) -> Project:
    """Holds some megabytes that do not get smaller."""
    made = make_project(make, owner)
    (tree.folder / "bulk").write_bytes(os.urandom(5_000_000))
    tree.git("add", "bulk")
    tree.commit()
    tree.git("push", "-q", over_http(instance, made, owner), "master")
    return made


@pytest.mark.parametrize("cipher", ["", QUICK, SLOW])
def test_a_clone_is_whole_whatever_the_cipher(
    instance: Instance, owner: Person, project: Project, ssh_key: Give, tree: Tree, tmp_path: Path, cipher: str
) -> None:
    """Also where keys change again and again while it runs."""
    key = key_of(ssh_key(owner))
    command = f"{ssh_command(key)} -o RekeyLimit=1M{f' -c {cipher}' if cipher else ''}"
    copy = tmp_path / "copy"
    tree.git("clone", "-q", "--bare", over_ssh(instance, project), str(copy), env={"GIT_SSH_COMMAND": command})
    assert Tree(copy).git("rev-parse", "master") == tree.git("rev-parse", "HEAD")
    Tree(copy).git("fsck", "--strict")


@pytest.mark.parametrize(
    ("options", "expected"),
    [([], QUICK), (["-c", SLOW], SLOW), (["-c", f"{SLOW},aes256-gcm@openssh.com"], "aes256-gcm@openssh.com")],
)
def test_a_slow_cipher_is_only_for_who_knows_no_quick_one(
    instance: Instance, owner: Person, ssh_key: Give, options: list[str], expected: str
) -> None:
    command = [word for word in ssh_command(key_of(ssh_key(owner))).split() if word != "-q"]
    there = ["-v", "-p", str(instance.settings.ssh_port), "git@127.0.0.1"]
    said = subprocess.run([*command, *options, *there], capture_output=True, check=True, timeout=60)
    assert b"Welcome to Ingot" in said.stdout
    chosen = [line for line in said.stderr.decode().splitlines() if "kex: server->client cipher:" in line]
    assert [line.split("cipher: ")[1].split()[0] for line in chosen] == [expected]


@pytest.mark.parametrize("window", [10, 1_000, 40_000])
@pytest.mark.parametrize("cipher", [QUICK, SLOW])
def test_a_small_window_is_filled_again_and_again(
    instance: Instance, owner: Person, project: Project, ssh_key: Give, tree: Tree, window: int, cipher: str
) -> None:
    """Somebody who takes little at a time, and whose program is not OpenSSH, still gets everything."""
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


@pytest.mark.parametrize("gone", ["", "OF_CONNECTION", "OF_CHANNEL", "OF_CIPHER"])
def test_what_the_library_no_longer_has_is_left_to_it(
    instance: Instance,
    owner: Person,
    project: Project,
    ssh_key: Give,
    tree: Tree,
    monkeypatch: pytest.MonkeyPatch,
    gone: str,
) -> None:
    """This release has everything; where this fails, look at what took the place of what is named there."""
    could: dict[str, bool] = {}
    flowed: list[bool] = []
    flows = ssh_packets._Sending._flows

    def noting(name: str) -> Callable[..., None]:
        quicken: Callable[..., bool] = getattr(ssh_packets, name)
        return lambda *things: could.update({name: quicken(*things)})

    def noting_flow(sending: ssh_packets._Sending) -> bool:
        flowed.append(flows(sending))
        return flowed[-1]

    for name in ("quicken_connection", "quicken_channel"):
        monkeypatch.setattr(ssh, name, noting(name))
    monkeypatch.setattr(ssh_packets._Sending, "_flows", noting_flow)
    if gone:
        monkeypatch.setattr(ssh_packets, gone, (*getattr(ssh_packets, gone), "_is_gone"))
    tree.git("fetch", "-q", over_ssh(instance, project), "master:copy", env=ssh_key(owner))
    assert tree.git("rev-parse", "copy") == tree.git("rev-parse", "HEAD")
    whole = gone not in ("OF_CONNECTION", "OF_CHANNEL")
    assert could == {"quicken_connection": gone != "OF_CONNECTION", "quicken_channel": whole}
    assert any(flowed) == (whole and gone != "OF_CIPHER")
