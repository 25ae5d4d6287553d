"""Repository on another server that is mirrored: its refs, fetches from it and pushes to it."""

import re
import time
from collections.abc import Sequence
from typing import NamedTuple

from ingot.git.core.command import MAX_MEMORY, Config, GitResult, run_git
from ingot.git.core.repository import Repository
from ingot.git.maintenance.fetch import PinnedAddress, TransferMonitor, remote_config

_BATCH = 200
_ENV = {"GIT_ALLOW_PROTOCOL": "http:https"}
_LINE = re.compile(rb"([0-9a-f]{40})\t(refs/(?:heads|tags)/[^\n^]+)\n")


class MirrorAddress(NamedTuple):
    """Checked address of the other repository; the URL has no password and does not redirect."""

    url: str
    pinned: PinnedAddress
    username: str
    password: str
    ssh_environment: dict[str, str] | None = None
    """Environment of git for a URL of SSH."""


class MirrorRemote:
    """The other repository, within a time limit for all operations."""

    def __init__(self, repository: Repository, address: MirrorAddress, timeout: float, config: Config = ()) -> None:
        self._repository = repository
        self._url = address.url
        self._deadline = time.monotonic() + timeout
        self._env = address.ssh_environment or _ENV
        http = remote_config(address.pinned, address.username, address.password)
        self._config = [] if address.ssh_environment else [*http, *config]

    def refs(self) -> dict[bytes, str]:
        """Return the objects of all branches and tags by their full names."""
        listed = self._run(["ls-remote", "--heads", "--tags", "--refs", "--"], [self._url])
        return {match[2]: match[1].decode() for match in _LINE.finditer(listed.out)}

    def fetch(self, names: Sequence[bytes], max_bytes: int | None) -> None:
        """Fetch the objects of these refs; no ref changes here."""
        options = ["--no-auto-gc", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--progress"]
        monitor = TransferMonitor(self._repository.path, max_bytes, None, None)
        run_git(
            ["fetch", *options, "--stdin", "--"],
            self._repository.path,
            b"".join(name + b"\n" for name in names),
            operands=[self._url],
            timeout=self._remaining(),
            env=self._env,
            config=self._config,
            max_memory=MAX_MEMORY,
            on_tick=monitor.tick,
            on_stderr=monitor.report,
        )

    def push(self, specs: Sequence[str], options: Sequence[str] = ()) -> None:
        """Push these refspecs, in several steps if there are many; ``options`` are passed on to the other server."""
        named = [f"--push-option={option}" for option in options]
        for start in range(0, len(specs), _BATCH):
            self._run(["push", "--porcelain", "--no-verify", *named, "--"], [self._url, *specs[start : start + _BATCH]])

    def _remaining(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _run(self, args: list[str], operands: list[str]) -> GitResult:
        return run_git(
            args,
            self._repository.path,
            operands=operands,
            timeout=self._remaining(),
            env=self._env,
            config=self._config,
            max_memory=MAX_MEMORY,
        )
