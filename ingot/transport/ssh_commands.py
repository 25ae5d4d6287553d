"""Commands that SSH clients may run: git's three services and ``git-lfs-authenticate``."""

import shlex
from typing import NamedTuple

from ingot.transport.lfs_tokens import LfsOperation
from ingot.transport.policy import SERVICES, Service
from ingot.transport.refusals import GitRequestRefused

_LFS_SERVICES: dict[str, tuple[Service, LfsOperation]] = {
    "upload": ("git-receive-pack", "upload"),
    "download": ("git-upload-pack", "download"),
}


class SshCommand(NamedTuple):
    """Parsed command of a client."""

    service: Service
    """The service itself, or for Git LFS the one with the same permission."""
    path: str
    lfs_operation: LfsOperation | None = None

    @property
    def name(self) -> str:
        """Name of the command for the log."""
        return "git-lfs-authenticate" if self.lfs_operation else self.service


def parse_command(line: str | None) -> SshCommand:
    """Parse a command line; any other command is refused and never reaches a shell."""
    try:
        words = shlex.split(line or "")
    except ValueError:
        words = []
    if len(words) == 3 and words[0] == "git":
        words = [f"git-{words[1]}", words[2]]
    command = None
    for service in SERVICES:
        if len(words) == 2 and words[0] == service:
            command = SshCommand(service, _path(words[1]))
    if len(words) == 3 and words[0] == "git-lfs-authenticate" and words[2] in _LFS_SERVICES:
        service, operation = _LFS_SERVICES[words[2]]
        command = SshCommand(service, _path(words[1]), operation)
    if command is None or not command.path or "\0" in command.path or command.path.startswith("-"):
        raise GitRequestRefused(400, "Only git can be used here: clone, fetch, push and archive.")
    return command


def _path(word: str) -> str:
    return word.strip("/").removesuffix(".git")
