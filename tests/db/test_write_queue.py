"""Queue for the write lock of SQLite: turns across threads and processes, time limits, and holders that die."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from ingot.core.db.write_queue import ThreadQueue, WriteQueue
from tests.server.process import until

OTHER = """
import sys
from pathlib import Path
from ingot.core.db.write_queue import WriteQueue
queue = WriteQueue(Path(sys.argv[1]))
queue.enter(60)
print("entered", flush=True)
sys.stdin.readline()
queue.leave()
print("left", flush=True)
sys.stdin.readline()
"""


class _OtherProcess:
    """Another process that waits for its turn, and ends it on request."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._path = path

    def wait_until_next(self) -> None:
        """Wait until the process is next in line."""
        inode = self._path.with_name(f".{self._path.name}.next").stat().st_ino
        holds = f" {self.process.pid} "
        locks = Path("/proc/locks")
        until(
            "the process to be next in line",
            lambda: any(holds in line and f":{inode} " in line for line in locks.read_text().splitlines()),
        )

    def wait_until_entered(self) -> None:
        assert self.process.stdout is not None and self.process.stdout.readline() == "entered\n"

    def leave(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "left\n"


@contextmanager
def _other(path: Path) -> Iterator[_OtherProcess]:
    other = _OtherProcess(path)
    with other.process:
        try:
            yield other
        finally:
            other.process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ingot.db"


@pytest.fixture
def queue(path: Path) -> Iterator[WriteQueue]:
    queue = WriteQueue(path)
    yield queue
    queue.close()


def test_a_process_that_has_just_written_waits_behind_the_next_one(queue: WriteQueue, path: Path) -> None:
    queue.enter(60)
    with _other(path) as other:
        other.wait_until_next()
        entered = threading.Event()

        def write_again() -> None:
            queue.leave()
            queue.enter(60)
            entered.set()

        thread = threading.Thread(target=write_again)
        thread.start()
        other.wait_until_entered()
        assert not entered.is_set()
        other.leave()
        assert entered.wait(60)
        thread.join()
        queue.leave()


def test_a_killed_holder_gives_up_its_turn(queue: WriteQueue, path: Path) -> None:
    with _other(path) as other:
        other.wait_until_entered()
        other.process.kill()
        queue.enter(60)
        queue.leave()


def test_the_wait_is_limited_and_can_be_repeated(queue: WriteQueue, path: Path) -> None:
    with _other(path) as other:
        other.wait_until_entered()
        for _ in range(2):
            with pytest.raises(TimeoutError):
                queue.enter(0.05)
        other.leave()
        queue.enter(60)
        queue.leave()


def test_threads_take_turns_in_the_order_in_which_they_came() -> None:
    queue = ThreadQueue()
    turns: list[int] = []

    def write(number: int) -> None:
        queue.enter(60)
        turns.append(number)
        queue.leave()

    queue.enter(60)
    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads, 1):
        thread.start()
        until("the thread to be in line", partial(_has_waiting, queue, number))
    with pytest.raises(TimeoutError):
        queue.enter(0.01)
    queue.leave()
    for thread in threads:
        thread.join()
    assert turns == list(range(8))


def _has_waiting(queue: ThreadQueue, number: int) -> bool:
    return len(queue.waiting) == number


def test_a_directory_that_cannot_be_written_has_no_queue(tmp_path: Path) -> None:
    queue = WriteQueue(tmp_path / "missing" / "ingot.db")
    queue.enter(60)
    queue.leave()
    queue.close()
