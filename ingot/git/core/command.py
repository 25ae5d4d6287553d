"""Running the git binary: in a clean environment, for a bounded time, with bounded output."""

import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from ingot.git.core.errors import GitError, GitOutputTooLarge, GitTimeout, MissingRepository, noticing_removal
from ingot.offload import require_blocking_allowed

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
_MAX_STDERR_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_TICK_SECONDS = 0.25

Config = Iterable[tuple[str, str]]
_CONFIG = (
    ("safe.directory", "*"),  # The directory may belong to another user, as on a shared volume.
    ("core.hooksPath", "/dev/null"),  # No hook runs unless a caller names it.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)


class GitResult(NamedTuple):
    """How a command ended."""

    status: int
    out: bytes
    said: str
    """The end of its standard error."""


def clean_environment(config: Config = (), env: Mapping[str, str] | None = None) -> dict[str, str]:
    """All that git gets to see: nothing of the machine's, the user's or our own configuration but ``PATH``.

    ``GIT_DIR`` is named, because git would otherwise walk up from a directory that is no repository and
    work on the first one that it finds, such as the checkout that the data directory lies in.
    """
    named = (*_CONFIG, *config)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/dev/null",  # A home without .gitconfig and .netrc, into which nobody can put one.
        "LC_ALL": "C",
        "GIT_DIR": ".",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",  # Else a pushed refs/replace would show one object for another.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": str(len(named)),
        **{f"GIT_CONFIG_KEY_{place}": key for place, (key, _) in enumerate(named)},
        **{f"GIT_CONFIG_VALUE_{place}": value for place, (_, value) in enumerate(named)},
        **(env or {}),
    }


def run_git(
    args: Sequence[str],
    cwd: Path,
    input: bytes | None = None,
    timeout: float = 60.0,
    env: Mapping[str, str] | None = None,
    *,
    operands: Sequence[str] = (),
    config: Config = (),
    check: bool = True,
    max_bytes: int = MAX_OUTPUT_BYTES,
    max_memory: int | None = None,
    on_stdout: Callable[[bytes], None] | None = None,
    on_stderr: Callable[[bytes], None] | None = None,
    on_tick: Callable[[], None] | None = None,
) -> GitResult:
    """Run git in a repository until it ends, or kill it with all that it started.

    ``args`` are ours; whatever a caller had a say in goes into ``operands``, which cannot become options.
    ``on_out`` takes its output as it comes, of which nothing is kept then; ``on_said`` hears its standard error;
    ``on_tick`` is called some times a second; what any of them raises ends the command. ``check`` raises for an
    exit status other than 0.
    """
    require_blocking_allowed()
    for operand in operands:
        if operand.startswith("-") or "\0" in operand:
            raise ValueError("An operand of git would be read as an option")
    with noticing_removal(cwd):
        process = subprocess.Popen(
            ["git", *args, *operands],
            cwd=cwd,
            env=clean_environment(config, env),
            stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # A process group of its own, so that helpers die with it.
        )
        if max_memory is not None:
            limit_memory(process.pid, max_memory)
        pump = _PipePump(args[0], process, input or b"", max_bytes, on_stdout, on_stderr)
        try:
            pump.run(time.monotonic() + timeout, on_tick)
        finally:
            end_process(process)
    outcome = GitResult(process.returncode, bytes(pump.out), pump.said.decode(errors="replace"))
    if outcome.status != 0:
        if not cwd.is_dir():
            raise MissingRepository(f"The repository {cwd.name} was removed")
        if check:
            raise GitError(args[0], outcome.status, outcome.said)
    return outcome


def limit_memory(pid: int, max_bytes: int) -> None:
    """Before it starts helpers, which inherit this; mapped packs do not count, what it allocates does."""
    if not hasattr(resource, "prlimit"):
        return
    try:
        resource.prlimit(pid, resource.RLIMIT_DATA, (max_bytes, max_bytes))
    except ProcessLookupError:  # It has ended already.
        pass


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """Kill the whole process group, unless it ended by itself: its number may be another's by now."""
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # All have ended; some systems say the latter of zombies.
            pass
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class _PipePump:
    """Feeds a process and hears it out, both at once, so that neither side waits for the other for ever."""

    def __init__(
        self,
        verb: str,
        process: "subprocess.Popen[bytes]",
        feed: bytes,
        max_bytes: int,
        on_out: Callable[[bytes], None] | None,
        on_said: Callable[[bytes], None] | None,
    ) -> None:
        self._verb = verb
        self._process = process
        self._feed = memoryview(feed)
        self._most_bytes = max_bytes
        self._on_out = on_out
        self._on_said = on_said
        self.out = bytearray()
        self.said = bytearray()

    def run(self, deadline: float, on_tick: Callable[[], None] | None) -> None:
        next_tick = time.monotonic()
        with selectors.DefaultSelector() as ready:
            self._register(ready)
            while ready.get_map():
                now = time.monotonic()
                if now >= deadline:
                    raise self._timed_out()
                if on_tick is not None and now >= next_tick:
                    next_tick = now + _TICK_SECONDS
                    on_tick()
                for key, _ in ready.select(min(deadline - now, _TICK_SECONDS)):
                    if not self._transfer(key.fileobj):  # type: ignore[arg-type] # We registered files, not numbers.
                        self._unregister(ready, key.fileobj)
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise self._timed_out() from error

    def _register(self, ready: selectors.BaseSelector) -> None:
        process = self._process
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                ready.register(stream, selectors.EVENT_READ)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            ready.register(process.stdin, selectors.EVENT_WRITE)

    def _unregister(self, ready: selectors.BaseSelector, stream: Any) -> None:
        ready.unregister(stream)
        stdin = self._process.stdin
        if stdin is not None and stream is stdin:
            stdin.close()  # The end of what it is fed.

    def _timed_out(self) -> GitTimeout:
        return GitTimeout(self._verb, -signal.SIGKILL, self.said.decode(errors="replace"))

    def _transfer(self, stream: IO[bytes]) -> bool:
        """Move what is ready; says whether there may be more."""
        if stream is self._process.stdin:
            return self._write(stream)
        piece = os.read(stream.fileno(), _CHUNK_BYTES)
        if stream is self._process.stderr:
            self.said += piece
            del self.said[:-_MAX_STDERR_BYTES]
            if piece and self._on_said is not None:
                self._on_said(piece)
        elif self._on_out is not None:
            self._on_out(piece)
        else:
            self.out += piece
            if len(self.out) > self._most_bytes:
                raise GitOutputTooLarge(self._verb, -signal.SIGKILL, self.said.decode(errors="replace"))
        return bool(piece)

    def _write(self, stream: IO[bytes]) -> bool:
        try:
            written = os.write(stream.fileno(), self._feed[:_CHUNK_BYTES])
        except BlockingIOError:
            return True
        except BrokenPipeError:  # It does not want the rest; its exit status tells why.
            written = len(self._feed)
        self._feed = self._feed[written:]
        return bool(self._feed)
