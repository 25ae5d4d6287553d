"""The system's OpenSSH server on a loopback port, configured as docs/openssh.md says."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.free_ports import free_port

SSHD = shutil.which("sshd", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))
USER = getpass.getuser()


@contextmanager
def sshd(folder: Path, lines: Sequence[str]) -> Iterator[int]:
    """Run sshd with these lines of configuration, and yield its port."""
    assert SSHD is not None
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    host_key = folder / "host_key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", host_key], check=True)
    port = free_port()
    config = folder / "sshd_config"
    common = [
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {host_key}",
        "PidFile none",
        "UsePAM no",
        "StrictModes no",
        "PermitRootLogin prohibit-password",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "MaxStartups 100",
        "MaxSessions 100",
    ]
    config.write_text("\n".join([*common, *lines, ""]))
    with (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen([SSHD, "-D", "-e", "-f", config], stderr=log)
        try:
            _wait_for(port, process, folder / "sshd.log")
            yield port
        finally:
            process.terminate()
            process.wait(20)


def forced_command_lines(data: Path) -> list[str]:
    """Return the configuration for key lookups by Ingot; /usr/bin/env because sshd requires a program owned by root."""
    command = f"/usr/bin/env {sys.executable} -I -m ingot authorized-keys --data {data} %u %f"
    return [
        "AuthorizedKeysFile none",
        f"AuthorizedKeysCommand {command}",
        f"AuthorizedKeysCommandUser {USER}",
        "AcceptEnv GIT_PROTOCOL",
        "DisableForwarding yes",
    ]


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(200):
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("sshd does not answer")
