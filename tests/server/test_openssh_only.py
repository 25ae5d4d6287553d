"""Server with git over the system's OpenSSH only."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from ingot.core.settings import InvalidSetting, load_settings
from tests.openssh import SSHD, USER, forced_command_lines, sshd
from tests.server.process import Server, until
from tests.transport.conftest import Tree, ssh_command


def _run_directory(server: Server) -> Path:
    return server.data / "run"


@pytest.mark.skipif(SSHD is None, reason="NO SSHD: openssh-server is missing; see scripts/openssh")
def test_serve_without_the_built_in_server(stopped: Server, tmp_path: Path) -> None:
    """It is ready, opens no SSH port, shows the configured address, and serves git again after a kill."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        server = stopped.start(
            "--ssh-port", taken.getsockname()[1], INGOT_SSH_SERVER="0", INGOT_SSH_ADDRESS="git.example.org:2200"
        )
    assert not (_run_directory(server) / "ssh_port").exists()
    made = server.call("POST", "/projects", data={"name": "one"}).json()
    assert made["ssh_url_to_repo"] == "ssh://git@git.example.org:2200/root/one.git"
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    line = Path(f"{key}.pub").read_text()
    assert server.call("POST", "/user/keys", data={"title": "key", "key": line}).status_code == 201

    tree = Tree(tmp_path / "tree", {"GIT_SSH_COMMAND": ssh_command(key)})
    tree.folder.mkdir()
    tree.git("init", "-q", "-b", "master")
    tip = tree.commit()
    (tmp_path / "sshd").mkdir()
    with sshd(tmp_path / "sshd", forced_command_lines(server.data)) as port:
        url = f"ssh://{USER}@127.0.0.1:{port}/root/one.git"
        tree.git("push", "-q", url, "master")
        (started,) = [event for event in server.events("started") if event["process"] == "ssh+jobs"]
        os.kill(started["pid"], signal.SIGKILL)
        # The commands wait for the process restarted by the supervisor.
        until("the next process", lambda: len([e for e in server.events("started") if e["process"] == "ssh+jobs"]) > 1)
        assert tree.git("ls-remote", url, "master").split()[0] == tip
    events = server.call("GET", f"/projects/{made['id']}/repository/commits").json()
    assert [each["id"] for each in events] == [tip]


@pytest.mark.parametrize(
    ("address", "shown"),
    [("git.example.org", True), ("[::1]:22", True), ("a b", False), ("git@host", False), ("h:99999", False)],
)
def test_the_shown_address_is_a_host(tmp_path: Path, address: str, shown: bool) -> None:
    flags = {"data": tmp_path, "ssh_address": address}
    if shown:
        assert load_settings(flags, {}).ssh_address == address
    else:
        with pytest.raises(InvalidSetting):
            load_settings(flags, {})
