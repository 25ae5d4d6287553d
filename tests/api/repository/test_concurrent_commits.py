"""Concurrent commits through the API, and beside pushes."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from threading import Event
from typing import Any

import httpx
import pytest

from ingot.core.errors import Conflict
from ingot.git.history.commits import Commit, Signature, commit_or_none
from ingot.git.writing.commits import CommitMetadata, TreeAction, commit_actions
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs
from ingot.repositories.commit_writing import write
from ingot.repositories.ref_changes import branch_queue
from ingot.repositories.ref_changes.branch_queue import BUSY_BRANCH, BranchQueue
from tests.api.repository.writable_repository import WritableRepository, act, message_of
from tests.client import Api
from tests.conftest import Instance
from tests.server.process import until


def test_fifty_commits_to_one_branch(api: Api, writable: WritableRepository) -> None:
    """Each commit is in the history or gets an error, and no commit is lost."""
    with ThreadPoolExecutor(25) as callers:
        answers = list(callers.map(lambda n: writable.commit(act("create", f"f{n}", content=str(n))), range(50)))
    assert {answer.status_code for answer in answers} <= {201, 400}
    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    assert len(made) >= 40
    assert set(writable.git("rev-list", f"{writable.first}..dev").split()) == made
    assert len(writable.listed()) == 6 + len(made)


def test_fifty_commits_to_one_file(writable: WritableRepository) -> None:
    """From the same state: one succeeds, the others get an error."""

    def change(number: int) -> httpx.Response:
        return writable.commit(act("update", "README.md", content=str(number), last_commit_id=writable.first))

    with ThreadPoolExecutor(25) as callers:
        answers = list(callers.map(change, range(50)))
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 49
    assert writable.git("rev-list", "--count", f"{writable.first}..dev") == "1"


def test_concurrent_first_commits(empty_writable: WritableRepository) -> None:
    """Several callers commit to an empty repository: all commits are in one history."""
    writable = empty_writable

    def begin(number: int) -> httpx.Response:
        return writable.commit(act("create", str(number), content="x"), branch="main", who=writable.master)

    with ThreadPoolExecutor(10) as callers:
        answers = list(callers.map(begin, range(10)))
    assert {answer.status_code for answer in answers} == {201}
    assert writable.git("rev-list", "--count", "main") == "10"
    assert writable.git("rev-list", "--count", "--max-parents=0", "main") == "1"


def test_commits_during_pushes(instance: Instance, writable: WritableRepository) -> None:
    """While callers commit, pushes to the same branch lose no commit of either side."""
    somebody = Signature("Pusher", "push@example.org", 1_600_000_000, 0)
    pushed: list[str] = []

    def push(number: int) -> None:
        for _ in range(200):
            tip = commit_or_none(writable.repository, writable.repository.tip("refs/heads/dev") or "")
            assert tip is not None
            made = commit_actions(
                writable.repository,
                tip,
                [TreeAction("create", f"pushed{number}", content=b"x")],
                CommitMetadata(f"Push {number}", somebody, somebody),
            )
            try:
                update_refs(writable.repository, [RefUpdate("refs/heads/dev", tip.oid, made)])
            except RefMoved:
                continue
            pushed.append(made)
            return

    with ThreadPoolExecutor(6) as people:
        pushes = people.map(push, range(10))
        commits = people.map(lambda n: writable.commit(act("create", f"f{n}", content="x")), range(20))
        list(pushes)
        answers = list(commits)
    assert {answer.status_code for answer in answers} <= {201, 400}
    made = {answer.json()["id"] for answer in answers if answer.status_code == 201}
    assert set(writable.git("rev-list", f"{writable.first}..dev").split()) == made | set(pushed)
    assert len(made) >= 10


def test_a_branch_that_moves_during_a_commit(writable: WritableRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The branch moves between building the commit and updating the ref: the commit is rebuilt."""
    real = commit_actions
    moved: list[str] = []

    def with_a_push(repository: Any, parent: Commit | None, actions: Any, words: CommitMetadata, **more: Any) -> str:
        made = real(repository, parent, actions, words, **more)
        if len(moved) < 2:
            push = real(repository, parent, [TreeAction("create", f"push{len(moved)}", content=b"x")], words)
            writable.git("update-ref", "refs/heads/dev", push)
            moved.append(push)
        return made

    monkeypatch.setattr(write, "commit_actions", with_a_push)
    made = writable.commit(act("create", "x", content="x"))
    assert made.status_code == 201, made.text
    assert made.json()["parent_ids"] == [moved[-1]]
    assert {"x", "push0", "push1"} <= set(writable.listed())
    moved.clear()
    now_there = writable.commit(act("create", "push0", content="x"), branch="dev")
    assert message_of(now_there) == "A file with this name already exists"


def test_a_branch_that_other_processes_move_again_and_again(
    writable: WritableRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request tries for a limited time, not for a number of times, which under load are all lost."""
    real = commit_actions
    moved: list[str] = []
    numbers = count()

    def with_a_push(repository: Any, parent: Commit | None, actions: Any, words: CommitMetadata, **more: Any) -> str:
        made = real(repository, parent, actions, words, **more)
        if len(moved) < 20:
            name = f"push{next(numbers)}"
            moved.append(real(repository, parent, [TreeAction("create", name, content=b"x")], words))
            writable.git("update-ref", "refs/heads/dev", moved[-1])
        return made

    monkeypatch.setattr(write, "commit_actions", with_a_push)
    made = writable.commit(act("create", "x", content="x"))
    assert made.status_code == 201, made.text
    assert made.json()["parent_ids"] == [moved[-1]]

    monkeypatch.setattr(write, "PATIENCE_SECONDS", -1.0)
    moved.clear()
    refused = writable.commit(act("create", "y", content="x"))
    assert (refused.status_code, message_of(refused)) == (400, BUSY_BRANCH)


def _has_length(queue: BranchQueue, length: int) -> bool:
    return queue.length(1, "master") == length


def test_requests_for_a_branch_take_turns() -> None:
    """Requests for one branch run one after the other in the order of arrival; another branch is free."""
    queue = BranchQueue()
    order: list[int] = []
    started = [Event() for _ in range(6)]

    def change(number: int) -> None:
        started[number].set()
        with queue.turn(1, "master"):
            order.append(number)

    with ThreadPoolExecutor(6) as requests:
        with queue.turn(1, "master"):
            results = []
            for number in range(6):
                results.append(requests.submit(change, number))
                started[number].wait()
                until("the request to wait", partial(_has_length, queue, number + 2))
            with queue.turn(1, "other"), queue.turn(2, "master"):
                assert order == []
        for result in results:
            result.result()
    assert order == list(range(6))
    assert queue.length(1, "master") == 0


def test_a_request_gives_up_waiting_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that gives up leaves the queue, and the next one gets its turn."""
    queue = BranchQueue()
    with queue.turn(1, "master"):
        with monkeypatch.context() as impatient:
            impatient.setattr(branch_queue, "PATIENCE_SECONDS", 0.0)
            with pytest.raises(Conflict), queue.turn(1, "master"):
                pass
        assert queue.length(1, "master") == 1
    with queue.turn(1, "master"):
        pass
