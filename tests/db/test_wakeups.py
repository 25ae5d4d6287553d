"""Wake-ups between the processes of an embedded database."""

import os
import select
from contextlib import closing
from pathlib import Path

from ingot.core.db.wakeups import WakeupPipe, wake_all


def readable(pipe: WakeupPipe) -> bool:
    return bool(select.select([pipe.descriptor], [], [], 0)[0])


def test_all_that_wait_are_woken(tmp_path: Path) -> None:
    folder = tmp_path / "watchers"
    wake_all(folder)  # Before any process has waited.
    with closing(WakeupPipe(folder)) as first, closing(WakeupPipe(folder)) as second:
        assert not readable(first)
        wake_all(folder)
        assert readable(first) and readable(second)
        assert first.read() == b"!"
        assert (readable(first), readable(second)) == (False, True)
    assert list(folder.iterdir()) == []


def test_a_process_that_never_reads_delays_no_other(tmp_path: Path) -> None:
    with closing(WakeupPipe(tmp_path)) as pipe:
        for _ in range(2**16 + 1):  # More than a pipe holds.
            wake_all(tmp_path)
        assert readable(pipe)


def test_the_pipe_of_a_process_that_was_killed_is_removed(tmp_path: Path) -> None:
    killed = WakeupPipe(tmp_path)
    os.close(killed.descriptor)
    assert len(list(tmp_path.iterdir())) == 1
    wake_all(tmp_path)
    assert list(tmp_path.iterdir()) == []
