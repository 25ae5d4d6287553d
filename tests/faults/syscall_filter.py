"""Interception of system calls of a real server and all its children, git included, by seccomp user notification.

A launcher installs the filter in the new process, hands the listener back to the test and becomes the server. The
filtered calls then wait for the test, which lets them continue, fails them with an error or answers in their place.
Needs Linux 5.0 on x86-64 or ARM64; tests skip elsewhere.
"""

import array
import errno
import fcntl
import os
import platform
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.server.process import INGOT, ROOT, Server

CONTINUE = None
"""Result of a handler that lets the kernel execute the call."""
_NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "write": 1,
        "pwrite64": 18,
        "writev": 20,
        "fsync": 74,
        "fdatasync": 75,
        "ftruncate": 77,
        "rename": 82,
        "mkdir": 83,
        "link": 86,
        "unlink": 87,
        "open": 2,
        "openat": 257,
        "mkdirat": 258,
        "unlinkat": 263,
        "renameat": 264,
        "linkat": 265,
        "fallocate": 285,
        "pwritev": 296,
        "syncfs": 306,
        "renameat2": 316,
        "sendfile": 40,
        "copy_file_range": 326,
        "seccomp": 317,
    },
    "aarch64": {
        "write": 64,
        "pwrite64": 68,
        "writev": 66,
        "fsync": 82,
        "fdatasync": 83,
        "ftruncate": 46,
        "openat": 56,
        "mkdirat": 34,
        "unlinkat": 35,
        "renameat": 38,
        "linkat": 37,
        "fallocate": 47,
        "pwritev": 70,
        "syncfs": 267,
        "renameat2": 276,
        "sendfile": 71,
        "copy_file_range": 285,
        "seccomp": 277,
    },
}
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_RESPONSE = struct.Struct("=QqiI")
_CONTINUE_FLAG = 1
_POLL_MILLISECONDS = 100
_WORKING_DIRECTORY = -100
_OPEN_FLAGS = {
    name: (position, os.O_WRONLY | os.O_RDWR | os.O_CREAT) for name, position in (("open", 1), ("openat", 2))
}
"""The argument with the flags; by default, files that are opened for reading only are not intercepted."""

_LAUNCHER = """
import ctypes, os, socket, struct, sys
handle, architecture, seccomp, *rules = map(int, sys.argv[1].split(","))
ALLOW, NOTIFY, NUMBER = (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x7FC00000), (0x20, 0, 0, 0)
instructions = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), ALLOW]
for number, argument, mask in zip(rules[::3], rules[1::3], rules[2::3]):
    if mask:
        flags = (0x20, 0, 0, 16 + 8 * argument)
        instructions += [NUMBER, (0x15, 0, 4, number), flags, (0x45, 0, 1, mask), NOTIFY, ALLOW]
    else:
        instructions += [NUMBER, (0x15, 0, 1, number), NOTIFY]
instructions.append(ALLOW)
program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in instructions))
pointer = ctypes.create_string_buffer(struct.pack("@HP", len(instructions), ctypes.addressof(program)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) != 0:
    sys.exit("no_new_privs")
listener = libc.syscall(ctypes.c_long(seccomp), 1, 8, pointer)
if listener < 0:
    sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")
channel = socket.socket(fileno=handle)
socket.send_fds(channel, [b"x"], [listener])
os.close(listener)
channel.recv(1)
channel.close()
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


class SystemCall(NamedTuple):
    """A call that waits for its result."""

    name: str
    pid: int
    arguments: tuple[int, ...]

    def file(self, position: int = 0) -> str:
        """Return the path of the file whose descriptor is an argument, or "" if it is none or is closed."""
        try:
            return str(Path(f"/proc/{self.pid}/fd/{self._descriptor(position)}").readlink())
        except OSError:
            return ""

    def path(self, position: int, folder: int | None = None) -> str:
        """Return the path that an argument points at; ``folder`` is the position of its directory's descriptor."""
        descriptor = _WORKING_DIRECTORY if folder is None else self._descriptor(folder)
        base = "cwd" if descriptor == _WORKING_DIRECTORY else f"fd/{descriptor}"
        try:
            with Path(f"/proc/{self.pid}/mem").open("rb", 0) as memory:
                memory.seek(self.arguments[position])
                text = os.fsdecode(memory.read(4096).partition(b"\0")[0])
            return os.path.normpath(Path(f"/proc/{self.pid}/{base}").readlink() / text)
        except OSError:
            return ""

    def _descriptor(self, position: int) -> int:
        """Return an argument as the signed number that it is."""
        number = self.arguments[position] & 0xFFFFFFFF
        return number - 2**32 if number & 2**31 else number


Handler = Callable[[SystemCall], int | None]
"""Returns a negative error number, the call's result, or ``CONTINUE``."""


class FilteredServer(Server):
    """A server whose calls of the given kinds are decided by a handler, for all of its processes."""

    def __init__(self, data: Path, handler: Handler, calls: Iterable[str], *, reads: bool = False) -> None:
        """Intercept calls; with ``reads``, files that are opened for reading only too."""
        super().__init__(data)
        self._open_flags = {} if reads else _OPEN_FLAGS
        machine = platform.machine()
        if sys.platform != "linux" or machine not in _NUMBERS:
            pytest.skip("system calls cannot be intercepted here")
        self._names = {_NUMBERS[machine][name]: name for name in calls if name in _NUMBERS[machine]}
        self._architecture, self._seccomp = _ARCHITECTURES[machine], _NUMBERS[machine]["seccomp"]
        self._handler = handler
        self._listener = -1
        self._thread: threading.Thread | None = None
        self.errors: list[BaseException] = []

    def start_filtered(self, *arguments: object, wait: bool = True, **more: str) -> "FilteredServer":
        """Start the server and decide its calls until it ends; skip the test where that is not permitted."""
        (self.data / "run" / "address").unlink(missing_ok=True)
        ours, theirs = socket.socketpair()
        rules = [
            value for number, name in self._names.items() for value in (number, *self._open_flags.get(name, (0, 0)))
        ]
        numbers = (theirs.fileno(), self._architecture, self._seccomp, *rules)
        command = [sys.executable, "-c", _LAUNCHER, ",".join(map(str, numbers)), *INGOT[1:], *self._words(arguments)]
        with self._log.open("ab") as log, self._out.open("ab") as out:
            self.process = subprocess.Popen(
                command,
                stdout=out,
                stderr=log,
                env=self._chosen(more),
                cwd=ROOT,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        theirs.close()
        with ours:
            _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
            if not descriptors:
                self.process.wait(60)
                pytest.skip(f"system calls cannot be intercepted here: {self.log()}")
            self._listener = descriptors[0]
            self._thread = threading.Thread(target=self._decide, daemon=True)
            self._thread.start()
            ours.send(b"x")
        if wait:
            self.wait_until_ready()
        return self

    def kill(self) -> None:
        """End all processes, then the thread that decides their calls."""
        super().kill()
        if self._thread is not None:
            self._thread.join(60)
            self._thread = None
            os.close(self._listener)

    def _decide(self) -> None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        while self.process is not None and self.process.poll() is None:
            for _, event in poll.poll(_POLL_MILLISECONDS):
                if event & select.POLLIN:
                    self._decide_one()

    def _decide_one(self) -> None:
        notification = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, notification)
        except OSError as error:  # The process was killed or interrupted while it waited.
            if error.errno not in (errno.ENOENT, errno.EINTR):
                self.errors.append(error)
            return
        number, pid, _, call, _, _, *arguments = _NOTIFICATION.unpack(notification)
        result: int | None = CONTINUE
        try:
            result = self._handler(SystemCall(self._names[call], pid, tuple(arguments)))
        except Exception as error:  # noqa: BLE001 - The process must not wait forever; the test reports it.
            self.errors.append(error)
        if result is CONTINUE:
            response = _RESPONSE.pack(number, 0, 0, _CONTINUE_FLAG)
        else:
            response = _RESPONSE.pack(number, max(result, 0), min(result, 0), 0)
        try:
            fcntl.ioctl(self._listener, _SEND, array.array("b", response))
        except OSError as error:
            if error.errno != errno.ENOENT:
                self.errors.append(error)
