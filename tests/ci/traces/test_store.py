"""Storage of traces: offsets, limits, masks, and processes that are killed."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ingot.ci.traces.coverage import coverage_in_trace
from ingot.ci.traces.store import TraceOffsetMismatch, TraceStore, TraceTooLarge

KILLED_WRITER = """
import sys
from pathlib import Path
from ingot.ci.traces.store import TraceStore
store, offset = TraceStore(Path(sys.argv[1])), 0
while True:
    offset = store.append(7, offset, b"0123456789")
    print(offset, flush=True)
"""


def test_parts_are_appended_at_exact_offsets(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    assert (store.size(1), store.read(1)) == (0, b"")
    assert store.append(1, 0, b"first\n") == 6
    assert store.append(1, 6, b"") == 6
    assert store.append(1, 6, b"zweite\r" + b"\xff") == 14
    for offset in (0, 5, 15, 10**18):
        with pytest.raises(TraceOffsetMismatch) as refused:
            store.append(1, offset, b"again")
        assert refused.value.size == 14
    assert store.read(1) == b"first\nzweite\r\xff"
    assert (store.read(1, 6, 3), store.read(1, 20)) == (b"zwe", b"")
    assert b"".join(store.pieces(1, 2, 8)) == b"rst\nzw"
    assert [job_id for job_id, _ in store.job_ids()] == [1]
    store.delete(1)
    store.delete(1)
    assert store.size(1) == 0


def test_a_secret_is_masked_also_across_parts(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    assert store.append(1, 0, b"a secret and sec", b"secret") == 16
    assert store.append(1, 16, b"ret end", b"secret") == 23
    assert store.read(1) == b"a xxxxxx and xxxxxx end"
    assert store.replace(1, b"my secret", b"secret") == 9
    assert store.read(1) == b"my xxxxxx"


def test_the_size_is_limited(tmp_path: Path) -> None:
    store = TraceStore(tmp_path, limit=10)
    store.append(1, 0, b"0123456789")
    with pytest.raises(TraceTooLarge):
        store.append(1, 10, b"x")
    with pytest.raises(TraceTooLarge):
        store.replace(1, b"x" * 11)
    assert store.read(1) == b"0123456789"


def test_concurrent_writers_append_each_part_once(tmp_path: Path) -> None:
    store = TraceStore(tmp_path)
    accepted = []

    def send() -> None:
        for number in range(100):
            try:
                accepted.append(store.append(5, number * 4, b"%04d" % number))
            except TraceOffsetMismatch:
                pass

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trace = store.read(5)
    assert trace == b"".join(b"%04d" % number for number in range(len(trace) // 4))
    assert len(accepted) == len(set(accepted)) == len(trace) // 4


def test_acknowledged_bytes_survive_the_kill_of_the_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(50)][-1]
        os.kill(writer.pid, signal.SIGKILL)
    store = TraceStore(tmp_path)
    assert store.size(7) >= acknowledged
    assert store.read(7, 0, acknowledged) == b"0123456789" * (acknowledged // 10)


@pytest.mark.parametrize(
    ("pattern", "coverage"),
    [
        (r"/TOTAL.*?(\d+)%/", 91.0),
        (r"TOTAL \d+\.\d+", 12.75),
        (r"/\(\d+.\d+%\) covered/", 98.29),
        (r"/absent/", None),
        (r"/(unclosed/", None),
        (r"/(?=x)/", None),
    ],
)
def test_coverage_is_the_last_match(tmp_path: Path, pattern: str, coverage: float | None) -> None:
    store = TraceStore(tmp_path)
    trace = b"TOTAL 50%\nCoverage 1033 / 1051 LOC (98.29%) covered.\nTOTAL 91%\nTOTAL 12.75\n\xff\n"
    store.append(1, 0, trace)
    assert coverage_in_trace(store, 1, pattern) == coverage
    assert coverage_in_trace(store, 2, pattern) is None
