"""Processes of a job: output to the log, timeouts and the end of the whole process group."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_CHUNK = 64 * 1024
_TERMINATION_SECONDS = 5.0
_OUTPUT_SECONDS = 5.0
_BASH_OPTIONS = "set -eo pipefail"
_SH_OPTIONS = "set -e"
_GUARD = 'read -r _ || kill -s KILL -- "-$1"'
"""Kills a process group when its standard input ends without a line, that is when the runner was killed."""


class JobStop(Exception):
    """Base of the reasons to stop a job's processes."""


class JobTimedOut(JobStop):
    """The job has used its time."""


class JobCanceled(JobStop):
    """The server has canceled the job, or the runner ends."""


class StopSwitch:
    """Reason to stop a job, set by another thread; a process that runs is stopped at once."""

    def __init__(self) -> None:
        self._reason: JobStop | None = None
        self._changed = threading.Condition()
        self.grace_seconds = _TERMINATION_SECONDS
        """Time between SIGTERM and SIGKILL."""

    def stop(self, reason: JobStop) -> None:
        """Stop the job; the first reason counts."""
        with self._changed:
            self._reason = self._reason or reason
            self._changed.notify_all()

    def reset(self) -> None:
        """Allow processes again, for the steps that run after a cancellation."""
        with self._changed:
            self._reason = None

    @property
    def reason(self) -> JobStop | None:
        """Return why the job must stop, if it must."""
        return self._reason

    def check(self) -> None:
        """Raise the reason to stop, if there is one."""
        if self._reason is not None:
            raise self._reason

    def wait(self, ended: Callable[[], bool], deadline: float) -> None:
        """Wait for the end of a process, for a reason to stop or for the deadline."""
        with self._changed:
            self._changed.wait_for(lambda: self._reason is not None or ended(), max(0.0, deadline - time.monotonic()))

    def notify(self) -> None:
        """Wake the waiting thread, since a process has ended."""
        with self._changed:
            self._changed.notify_all()


def run_process(
    command: Sequence[str],
    *,
    directory: Path,
    environment: Mapping[str, str],
    output: Callable[[bytes], None],
    switch: StopSwitch,
    deadline: float,
) -> int:
    """Run a command in a process group of its own and return its exit status; raise the reason if it was stopped.

    When the command ends, the rest of its group is killed: a process left in the background would hold the log open
    and outlive the job.
    """
    switch.check()
    process = subprocess.Popen(
        command,
        cwd=directory,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101 - It was requested above.
    guard = _start_guard(process.pid)
    reader = threading.Thread(target=_copy, args=(process.stdout.fileno(), output), name="output", daemon=True)
    reader.start()
    watcher = threading.Thread(target=_watch, args=(process, switch), name="process", daemon=True)
    watcher.start()
    try:
        switch.wait(lambda: process.returncode is not None, deadline)
        if process.returncode is None:
            _terminate(process, watcher, switch.grace_seconds)
            switch.check()
            raise JobTimedOut
    finally:
        _kill_group(process.pid)
        guard.communicate(b"\n")
        watcher.join()
        reader.join(_OUTPUT_SECONDS)
        process.stdout.close()
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _start_guard(group: int) -> subprocess.Popen[bytes]:
    """Start a process that ends a process group if the runner is killed."""
    return subprocess.Popen(
        ["sh", "-c", _GUARD, "sh", str(group)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def script_command(lines: Sequence[str], folder: Path) -> list[str]:
    """Write the commands of a step to a script that shows each command before it runs it; return how to start it."""
    shell = shutil.which("bash")
    options = _BASH_OPTIONS if shell is not None else _SH_OPTIONS
    path = folder / "script.sh"
    path.unlink(missing_ok=True)
    body = "\n".join(part for line in lines for part in (_shown(line), line))
    path.write_text(f"{options}\n{body}\n", encoding="utf-8")
    return [shell or shutil.which("sh") or "/bin/sh", str(path)]


def _shown(line: str) -> str:
    first, _, rest = line.partition("\n")
    text = f"$ {first} # collapsed multi-line command" if rest.strip() else f"$ {first}"
    return "printf '%s\\n' " + _quoted(f"\x1b[32;1m{text}\x1b[0;m")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _copy(descriptor: int, output: Callable[[bytes], None]) -> None:
    while True:
        try:
            data = os.read(descriptor, _CHUNK)
        except OSError:  # Closed after the end of the process.
            return
        if not data:
            return
        output(data)


def _watch(process: subprocess.Popen[bytes], switch: StopSwitch) -> None:
    process.wait()
    switch.notify()


def _terminate(process: subprocess.Popen[bytes], watcher: threading.Thread, grace_seconds: float) -> None:
    _signal_group(process.pid, signal.SIGTERM)
    watcher.join(grace_seconds)


def _kill_group(pid: int) -> None:
    _signal_group(pid, signal.SIGKILL)


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):  # The group has ended, or only zombies are left of it.
        pass
