"""Runner of the git binary with a clean environment, a timeout and limits on output and memory."""

import math
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from ingot.core.offload import raise_if_cancelled, require_blocking_allowed
from ingot.git.core.errors import (
    GitError,
    GitMemoryExceeded,
    GitOutputTooLarge,
    GitTimeout,
    MissingRepository,
    TreesTooDeep,
    git_error,
    noticing_removal,
)
from ingot.git.core.shared_disks import repeated_when_replaced

MAX_OUTPUT_BYTES = 64 * 1024 * 1024
MAX_MEMORY = 2 * 2**30
"""Memory that a command may allocate unless its caller sets another limit; memory-mapped packs do not count."""
_MAX_STDERR_BYTES = 64 * 1024
_CHUNK_BYTES = 64 * 1024
_TICK_SECONDS = 0.25
_TOO_DEEP_MESSAGE = "exceeded maximum allowed tree depth"
"""Of newer versions of git, which limit the depth themselves."""
_OUT_OF_MEMORY_MESSAGES = ("Out of memory", "Cannot allocate memory")
_KILLED_STATUSES = (-signal.SIGKILL, -signal.SIGXCPU)

Config = Iterable[tuple[str, str]]
_CONFIG = (
    ("safe.directory", "*"),  # The directory may belong to another user, as on a shared volume.
    ("core.hooksPath", "/dev/null"),  # No hook runs unless a caller names it.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)


class GitResult(NamedTuple):
    """Exit status and output of a git command."""

    status: int
    out: bytes
    stderr: str
    """The last 64 KiB of its standard error."""


def clean_environment(config: Config = (), env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a git process; of our own environment it inherits only ``PATH``.

    ``GIT_DIR`` is set because git would otherwise search the parent directories of a directory that is not a repository
    and use the first repository it finds, such as a checkout that contains the data directory.
    """
    settings = (*_CONFIG, *config)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/dev/null",  # Has neither .gitconfig nor .netrc, and none can be added.
        "LC_ALL": "C",
        "GIT_DIR": ".",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",  # Otherwise a pushed refs/replace could substitute one object for another.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
        **{f"GIT_CONFIG_KEY_{index}": key for index, (key, _) in enumerate(settings)},
        **{f"GIT_CONFIG_VALUE_{index}": value for index, (_, value) in enumerate(settings)},
        **(env or {}),
    }


@repeated_when_replaced
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
    max_memory: int | None = MAX_MEMORY,
    on_stdout: Callable[[bytes], None] | None = None,
    on_stderr: Callable[[bytes], None] | None = None,
    on_tick: Callable[[], None] | None = None,
) -> GitResult:
    """Run git in a repository until it exits; on an error, kill it with all its child processes.

    Pass values that come from a user in ``operands``, which cannot become options. ``on_stdout`` receives the output in
    chunks, which are then not collected; ``on_stderr`` receives the standard error; ``on_tick`` is called four times a
    second. An exception from any of them kills the command. ``check`` raises ``GitError`` for an exit status other than
    0. The CPU time is limited too, so that git also ends if this process is killed. Reads are repeated if another
    machine has replaced a file meanwhile.
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
            start_new_session=True,  # Its own process group, so that child processes are killed with it.
        )
        # Not below what its threads can use until the timeout.
        limit_cpu_time(process.pid, (math.ceil(max(timeout, 0)) + 1) * (os.cpu_count() or 1))
        if max_memory is not None:
            limit_memory(process.pid, max_memory)
        pump = _PipePump(args[0], process, input or b"", max_bytes, on_stdout, on_stderr)
        try:
            pump.run(time.monotonic() + timeout, on_tick)
        finally:
            end_process(process)
    result = GitResult(process.returncode, bytes(pump.stdout), pump.stderr.decode(errors="replace"))
    if result.status != 0:
        if not cwd.is_dir():
            raise MissingRepository(f"The repository {cwd.name} was removed")
        if is_stack_overflow(result.status) or _TOO_DEEP_MESSAGE in result.stderr:
            raise TreesTooDeep(args[0], result.status, result.stderr)
        exceeded = limit_error_or_none(args[0], result.status, result.stderr)
        if exceeded is not None:
            raise exceeded
        if check:
            raise git_error(args[0], result.status, result.stderr, cwd)
    return result


def is_stack_overflow(status: int) -> bool:
    """Return whether git was killed by an invalid memory access: only nested folders make it use so much stack."""
    return status in (-signal.SIGSEGV, -signal.SIGBUS)


def limit_error_or_none(verb: str, status: int, stderr: str) -> GitError | None:
    """Return the error of a command that was ended by its limit of CPU time or memory, or None."""
    if status in _KILLED_STATUSES:
        return GitTimeout(verb, status, stderr)
    if status != 0 and any(message in stderr for message in _OUT_OF_MEMORY_MESSAGES):
        return GitMemoryExceeded(verb, status, stderr)
    return None


def limit_memory(pid: int, max_bytes: int) -> None:
    """Limit the memory that a process allocates; memory-mapped packs do not count.

    Call this before the process starts child processes, which inherit the limit.
    """
    if hasattr(resource, "prlimit"):
        _limit(pid, resource.RLIMIT_DATA, max_bytes)


def limit_cpu_time(pid: int, max_seconds: int) -> None:
    """Limit the CPU time of a process; its child processes get a limit of their own of the same size."""
    if hasattr(resource, "prlimit"):
        _limit(pid, resource.RLIMIT_CPU, max_seconds)


def _limit(pid: int, kind: int, limit: int) -> None:
    try:
        resource.prlimit(pid, kind, (limit, limit))
    except ProcessLookupError:  # It has already exited.
        pass


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process group unless the process has exited: its id may have been reused since."""
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # All have exited; some systems raise PermissionError for zombies.
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class _PipePump:
    """Pump between a process and its pipes that reads and writes concurrently, so that neither side blocks forever."""

    def __init__(
        self,
        verb: str,
        process: "subprocess.Popen[bytes]",
        feed: bytes,
        max_bytes: int,
        on_stdout: Callable[[bytes], None] | None,
        on_stderr: Callable[[bytes], None] | None,
    ) -> None:
        self._verb = verb
        self._process = process
        self._feed = memoryview(feed)
        self._max_bytes = max_bytes
        self._on_stdout = on_stdout
        self._on_stderr = on_stderr
        self.stdout = bytearray()
        self.stderr = bytearray()

    def run(self, deadline: float, on_tick: Callable[[], None] | None) -> None:
        next_tick = time.monotonic()
        with selectors.DefaultSelector() as ready:
            self._register(ready)
            while ready.get_map():
                now = time.monotonic()
                if now >= deadline:
                    raise self._timed_out()
                raise_if_cancelled()
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
            stdin.close()  # Signals end of input.

    def _timed_out(self) -> GitTimeout:
        return GitTimeout(self._verb, -signal.SIGKILL, self.stderr.decode(errors="replace"))

    def _transfer(self, stream: IO[bytes]) -> bool:
        """Transfer the available bytes; return False at the end of the stream."""
        if stream is self._process.stdin:
            return self._write(stream)
        piece = os.read(stream.fileno(), _CHUNK_BYTES)
        if stream is self._process.stderr:
            self.stderr += piece
            del self.stderr[:-_MAX_STDERR_BYTES]
            if piece and self._on_stderr is not None:
                self._on_stderr(piece)
        elif self._on_stdout is not None:
            self._on_stdout(piece)
        else:
            self.stdout += piece
            if len(self.stdout) > self._max_bytes:
                raise GitOutputTooLarge(self._verb, -signal.SIGKILL, self.stderr.decode(errors="replace"))
        return bool(piece)

    def _write(self, stream: IO[bytes]) -> bool:
        try:
            written = os.write(stream.fileno(), self._feed[:_CHUNK_BYTES])
        except BlockingIOError:
            return True
        except BrokenPipeError:  # The process has closed its input; its exit status tells why.
            written = len(self._feed)
        self._feed = self._feed[written:]
        return bool(self._feed)
