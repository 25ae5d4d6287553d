"""Connection of git to another server over SSH, with a key and host keys of its own and no configuration of a user."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_OPTIONS = (
    "BatchMode=yes",
    "CheckHostIP=no",
    "ClearAllForwardings=yes",
    "ConnectTimeout=20",
    "ControlPath=none",
    "GlobalKnownHostsFile=/dev/null",
    "HashKnownHosts=no",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "LogLevel=ERROR",
    "PermitLocalCommand=no",
    "PreferredAuthentications=publickey",
    "ServerAliveInterval=20",
    "UpdateHostKeys=no",
)


class SshConnection(NamedTuple):
    """Environment of git for a connection, and the file with the host keys."""

    environment: dict[str, str]
    hosts_file: Path

    def known_hosts(self) -> str:
        """Return the host keys that ssh knows by now."""
        return self.hosts_file.read_text(encoding="utf-8", errors="replace") if self.hosts_file.exists() else ""


@contextmanager
def ssh_connection(private_key: str, known_hosts: str, host: str, address: str) -> Iterator[SshConnection]:
    """Yield a connection to a checked address; without known host keys, those of the first connection are trusted."""
    with tempfile.TemporaryDirectory(prefix="ingot-ssh-") as folder:
        key_file, hosts_file = Path(folder, "key"), Path(folder, "known_hosts")
        descriptor = os.open(key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(private_key)
        hosts_file.write_text(known_hosts, encoding="utf-8")
        options = (
            *_OPTIONS,
            f"HostName={address}",
            f"HostKeyAlias={host}",
            f"StrictHostKeyChecking={'yes' if known_hosts else 'accept-new'}",
            f"UserKnownHostsFile={hosts_file}",
        )
        command = ["ssh", "-F", "/dev/null", "-i", str(key_file)]
        for option in options:
            command += ["-o", option]
        environment = {
            "GIT_ALLOW_PROTOCOL": "ssh",
            "GIT_SSH_COMMAND": shlex.join(command),
            "GIT_SSH_VARIANT": "ssh",
        }
        yield SshConnection(environment, hosts_file)
