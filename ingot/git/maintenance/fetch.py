"""Fetching all branches and tags of another server's repository into an empty one of ours.

The caller has checked the address and says which one to connect to. git is told to use it, to follow nothing
and to ask nobody; credentials reach it through its environment alone, so neither the list of processes nor the
repository's configuration ever shows them.
"""

import base64
import re
import shutil
import signal
import time
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

from ingot.git.core.command import run_git
from ingot.git.core.errors import GitError, GitOutputTooLarge, GitTimeout
from ingot.git.core.names import ref_name_error
from ingot.git.core.refs import HEADS, TAGS, read_head, read_refs
from ingot.git.core.repository import Repository

MAX_MEMORY = 2 * 1024**3
"""For git's own allocations: a server can send names of references without end."""

RESPONSE_SECONDS = 60.0
"""For the names of the references; the pack may take longer."""
MIN_BYTES_PER_SECOND = 1024
LOW_SPEED_SECONDS = 120
"""For so long it may be slower: a server that puts a large pack together says little meanwhile."""

_URL = re.compile(r"https?://[^\s@\\?#\x00-\x1f\x7f]+")
_PROGRESS = re.compile(rb"(?:Receiving|Resolving) (?:objects|deltas): +\d+%")
_SYMREF = re.compile(rb"^ref: (refs/heads/\S+)\tHEAD$", re.MULTILINE)
_DEFAULT_BRANCHES = (b"refs/heads/main", b"refs/heads/master")

# What git says may quote the server, and so is never passed on: these sentences are. The first that fits counts.
_REASONS = (
    (r"Authentication failed|could not read (?:Username|Password)|error: 40[13]", "The server refused the credentials"),
    (r"not found|error: 404|error: 410|not appear to be a git repo|not valid: is this", "There is no repository there"),
    (r"unable to update url base from redirection|error: 30\d", "The server redirects to another address"),
    (r"error: 5\d\d", "The server failed"),
    (r"error: 4\d\d", "The server refused the request"),
    (r"Could not resolve host|Failed to connect|Couldn't connect|Connection refused", "The server cannot be reached"),
    (r"SSL|certificate", "The server's certificate is not valid"),
    (r"timed out|Operation too slow|curl 28", "The server took too long"),
    (r"fsck error|error in object|does not conform", "The repository holds objects that git's checks refuse"),
    (r"mismatched algorithms", "The repository uses another kind of object ids"),
    (r"Out of memory|out of memory|alloc", "The repository needs too much memory"),
    (r"No space left", "There is no space left"),
    (r"remote error", "The server reported an error"),
    (
        r"early EOF|hung up|protocol error|RPC failed|invalid index-pack|unexpected disconnect",
        "The server broke off the transfer",
    ),
)


class PinnedAddress(Protocol):
    """Where to connect: a name that was resolved once, and the address that was found fit."""

    @property
    def host(self) -> str:
        """As the URL says it."""

    @property
    def port(self) -> int:
        """As the URL says it, or its scheme's."""

    @property
    def address(self) -> str:
        """The only address that may be connected to."""


class _ImportTooLarge(Exception):
    """More came than may be stored."""


class _ImportTooSlow(Exception):
    """The server has not even begun."""


def fetch_into(
    path: Path,
    url: str,
    pinned: PinnedAddress,
    username: str = "",
    password: str = "",
    timeout: float = 3600.0,
    on_progress: Callable[[str], None] | None = None,
    on_tick: Callable[[], None] | None = None,
    *,
    max_bytes: int | None = None,
) -> str | None:
    """Fetch branches, tags and HEAD; gives the reason where that failed, and nothing where it worked.

    ``path`` holds nothing but what an earlier run brought: after a failure the repository is empty.
    ``url`` carries no credentials, and is what redirects led to. ``on_progress`` hears git's own lines;
    ``on_tick`` is called some times a second, and what it raises ends the import.
    """
    if not _URL.fullmatch(url):
        raise ValueError("Only http and https can be imported from, without credentials, query or fragment")
    remote = _Remote(path, url, pinned, username, password, timeout)
    try:
        head = remote.head(on_tick)
        transfer = _TransferMonitor(path, max_bytes, on_progress, on_tick)
        remote.fetch(transfer.tick, transfer.hear)
        _remove_ambiguous_refs(path)
        _point_head(path, head)
    except _ImportTooLarge:
        reason = "The repository is too large"
    except _ImportTooSlow:
        reason = "The server took too long"
    except GitTimeout:  # Shown as the reason of the failed import.
        reason = "The import took too long"
    except GitOutputTooLarge:  # Likewise.
        reason = "The server's answer is too large"
    except GitError as error:
        reason = _failure_reason(error)
    except BaseException:
        empty_repository(path)
        raise
    else:
        return None
    empty_repository(path)
    return reason


def empty_repository(path: Path) -> None:
    """Take all references and objects out of a repository that only an import has written to.

    Folders that make it a repository stay, so that it is one at every moment.
    """
    (path / "packed-refs").unlink(missing_ok=True)
    for name in ("refs/heads", "refs/tags", "objects/pack", "objects/info", "objects"):
        for found in (path / name).iterdir():
            if name == "objects" and found.name in ("pack", "info"):
                continue
            if found.is_dir():
                shutil.rmtree(found)
            else:
                found.unlink()


class _Remote:
    """The other server, as git is made to see it."""

    def __init__(
        self, path: Path, url: str, pinned: PinnedAddress, username: str, password: str, timeout: float
    ) -> None:
        self._path = path
        self._url = url
        self._deadline = time.monotonic() + timeout
        self._env = {"GIT_ALLOW_PROTOCOL": "http:https"}
        self._config = [
            ("http.followRedirects", "false"),
            ("http.proxy", ""),
            ("http.lowSpeedLimit", str(MIN_BYTES_PER_SECOND)),
            ("http.lowSpeedTime", str(LOW_SPEED_SECONDS)),
            ("credential.helper", ""),
            ("fetch.fsckObjects", "true"),
            ("fetch.uriProtocols", ""),
            ("transfer.bundleURI", "false"),
            ("core.bigFileThreshold", "64m"),  # Larger files are checked piece by piece.
            *_curl_resolve_option(pinned),
        ]
        if username or password:
            pair = base64.b64encode(f"{username}:{password}".encode()).decode()
            self._config.append(("http.extraHeader", f"Authorization: Basic {pair}"))

    def _remaining(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def head(self, on_tick: Callable[[], None] | None) -> bytes | None:
        """The branch that the server's HEAD points to, where it says so."""
        said = run_git(
            ["ls-remote", "--symref", "--"],
            self._path,
            operands=[self._url, "HEAD"],
            timeout=self._remaining(),
            env=self._env,
            config=self._config,
            max_bytes=64 * 1024,
            max_memory=MAX_MEMORY,
            on_tick=_ResponseTimer(RESPONSE_SECONDS, on_tick).tick,
        )
        found = _SYMREF.search(said.out)
        return found[1] if found else None

    def fetch(self, on_tick: Callable[[], None], on_said: Callable[[bytes], None]) -> None:
        """All branches and tags, or none."""
        run_git(
            [
                "fetch",
                "--atomic",
                "--prune",
                "--no-auto-gc",
                "--no-tags",
                "--no-write-fetch-head",
                "--no-recurse-submodules",
                "--no-show-forced-updates",
                "--progress",
                "--",
            ],
            self._path,
            operands=[self._url, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"],
            timeout=self._remaining(),
            env=self._env,
            config=self._config,
            max_memory=MAX_MEMORY,
            on_tick=on_tick,
            on_stderr=on_said,
        )
        on_tick()


def _curl_resolve_option(pinned: PinnedAddress) -> list[tuple[str, str]]:
    """Tell curl what the name resolves to; an address needs no resolving."""
    try:
        ip_address(pinned.host.strip("[]"))
    except ValueError:
        address = f"[{pinned.address}]" if ":" in pinned.address else pinned.address
        return [("http.curloptResolve", f"{pinned.host}:{pinned.port}:{address}")]
    return []


class _ResponseTimer:
    """Waits for a server's answer, but not for long: it is a short one."""

    def __init__(self, seconds: float, on_tick: Callable[[], None] | None) -> None:
        self._until = time.monotonic() + seconds
        self._on_tick = on_tick
        self.answered = False

    def tick(self) -> None:
        if not self.answered and time.monotonic() >= self._until:
            raise _ImportTooSlow
        if self._on_tick is not None:
            self._on_tick()


class _TransferMonitor:
    """Looks after a fetch: that it begins in time, how far it is, how large it becomes."""

    def __init__(
        self,
        path: Path,
        max_bytes: int | None,
        on_progress: Callable[[str], None] | None,
        on_tick: Callable[[], None] | None,
    ) -> None:
        self._path = path
        self._most_bytes = max_bytes
        self._on_progress = on_progress
        self._patience = _ResponseTimer(RESPONSE_SECONDS, on_tick)

    def tick(self) -> None:
        self._patience.tick()
        if self._most_bytes is not None and Repository(self._path).size_bytes() > self._most_bytes:
            raise _ImportTooLarge

    def hear(self, piece: bytes) -> None:
        """Pass on the newest of git's own lines; what the server says is left out."""
        self._patience.answered = True  # The references are here: from now on there is a pack in the making.
        lines = [line for line in re.split(rb"[\r\n]", piece) if _PROGRESS.match(line)]
        if self._on_progress is not None and lines:
            self._on_progress(lines[-1].decode(errors="replace").strip())


def _remove_ambiguous_refs(path: Path) -> None:
    """Remove references that our own API would refuse to make, since others would be mistaken for them."""
    doomed = [
        name
        for name in read_refs(path, (HEADS, TAGS))
        if ref_name_error(name.split(b"/", 2)[2].decode(errors="replace")) is not None
    ]
    if doomed:
        commands = b"".join(b"delete " + name + b"\0\0" for name in doomed)
        run_git(["update-ref", "--stdin", "-z"], path, commands)


def _point_head(path: Path, wanted: bytes | None) -> None:
    branches = read_refs(path, (HEADS,))
    for name in (wanted, read_head(path), *_DEFAULT_BRANCHES, *branches):
        if name is not None and name in branches:
            try:
                Repository(path).set_head(name.removeprefix(HEADS).decode())
            except UnicodeDecodeError:  # git takes such names, but our callers could not be told of it.
                continue
            return


def _failure_reason(error: GitError) -> str:
    # Without the URL, which may hold any word, and without what the server says.
    said = re.sub(r"'[^'\n]*'|^remote:.*$", "", error.stderr, flags=re.MULTILINE)
    for pattern, sentence in _REASONS:
        if re.search(pattern, said):
            return sentence
    if error.status == -signal.SIGKILL:
        return "The import was stopped"
    return f"git could not fetch the repository (status {error.status})"
