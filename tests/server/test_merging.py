"""Concurrent merges in worker processes that share no lock."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from tests.faults.test_kill_merge import OpenMergeRequests
from tests.git_history import run
from tests.server.process import TOKEN, Server

BRANCHES = 12
CALLERS = 12


def test_merges_in_two_processes(stopped: Server, tmp_path: Path) -> None:
    """Attack: two processes merge each merge request at once; one merge is made, and no change is lost."""
    server = stopped.start("--workers", 2)
    offers = OpenMergeRequests(server, tmp_path)
    offered = offers.create(BRANCHES)

    def merge(each: dict[str, Any]) -> tuple[int, int]:
        # A new connection for each call, so that either process may accept it.
        address = f"{server.url}/api/v4{offers.path(each)}/merge"
        answer = httpx.put(address, headers={"PRIVATE-TOKEN": TOKEN}, timeout=60)
        return each["iid"], answer.status_code

    with ThreadPoolExecutor(CALLERS) as pool:
        answers = sorted(pool.map(merge, [each for each in offered for _ in range(2)]))

    assert answers == [(each["iid"], status) for each in offered for status in (200, 406)]
    assert offers.check(offered) == ["merged"] * BRANCHES
    assert len(run(offers.repository.path, "rev-list", "--first-parent", "--merges", "master").split()) == BRANCHES
    assert len(run(offers.repository.path, "ls-tree", "--name-only", "master").split()) == BRANCHES + 1
    assert run(offers.repository.path, "fsck", "--strict") is not None
