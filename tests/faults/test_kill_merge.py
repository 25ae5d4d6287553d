"""Killing all processes during merges: a merge request is merged exactly if its target contains it."""

import os
import queue
import random
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from ingot.accounts.users.queries import find_user
from ingot.collaboration.merge_requests.merge.service import MergePlan, actor_for, record_pending_merge
from ingot.collaboration.merge_requests.queries import merge_request_by_id
from ingot.collaboration.merge_requests.tables import merge_request_counts, merge_request_merges
from ingot.core.db.connection import Connection
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Signature
from ingot.git.maintenance.integrity import find_problems
from ingot.git.writing.commits import CommitMetadata
from ingot.git.writing.merge_commits import merge_commit
from ingot.git.writing.ref_updates import RefUpdate, update_refs
from ingot.repositories.ref_changes.service import open_intent
from tests.faults.load_generator import LoadGenerator, database_of, expire_leases
from tests.faults.push_remote import Remote, git_processes, kill_git
from tests.faults.test_kill_push import _age_locks
from tests.git_history import History, run
from tests.server.process import Server, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "2"))
AT_ONCE = 6
WORKERS = ("--workers", 2)
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for git processes in /proc")


class OpenMergeRequests:
    """Project with open merge requests."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.remote = Remote(server, "merging", "http", folder)
        first = {"branch": "master", "content": "x\n", "commit_message": "Begin"}
        made = server.call("POST", f"/projects/{self.remote.id}/repository/files/README", json=first)
        assert made.status_code == 201, made.text
        self.repository = Repository(self.remote.repository)
        self._count = 0

    def create(self, count: int) -> list[dict[str, Any]]:
        """Create this many merge requests, each with its own file."""
        history, base = History(), self.repository.tip("refs/heads/master") or ""
        names = [f"b{number}" for number in range(self._count, self._count + count)]
        self._count += count
        for name in names:
            history.commit(name, files={name: f"{name}\n"}, parents=(base,))
        history.into(self.repository)
        offered = []
        for name in names:
            sent = {"source_branch": name, "target_branch": "master", "title": name}
            made = self.server.call("POST", f"/projects/{self.remote.id}/merge_requests", json=sent)
            assert made.status_code == 201, made.text
            offered.append(made.json())
        return offered

    def shown(self, offered: dict[str, Any]) -> dict[str, Any]:
        """Return the current state of a merge request."""
        shown: dict[str, Any] = self.server.call("GET", self.path(offered)).json()
        return shown

    def path(self, offered: dict[str, Any]) -> str:
        """Return the API path."""
        return f"/projects/{self.remote.id}/merge_requests/{offered['iid']}"

    def check(self, offered: list[dict[str, Any]]) -> list[str]:
        """Check that rows and branch agree, and return the states."""
        commits = set(run(self.repository.path, "rev-list", "master").split())
        merges = set(run(self.repository.path, "rev-list", "--first-parent", "--merges", "master").split())
        shown = [self.shown(each) for each in offered]
        for each in shown:
            assert each["state"] in ("opened", "merged")
            assert (each["state"] == "merged") == (each["sha"] in commits)
            assert (each["merge_commit_sha"] in merges) == (each["state"] == "merged")
        told = [each["merge_commit_sha"] for each in shown if each["state"] == "merged"]
        assert len(told) == len(set(told))
        master = [new for ref, _, new in self.remote.recorded() if ref == "refs/heads/master"]
        assert master[-1] == self.repository.tip("refs/heads/master")
        return [each["state"] for each in shown]


def test_killed_during_merges(stopped: Server, tmp_path: Path) -> None:
    """At random moments of concurrent merges; in half of the rounds git processes survive."""
    server, dice = stopped.start(*WORKERS), random.Random(int(os.environ.get("INGOT_SOAK_SEED", "1")))
    offers = OpenMergeRequests(server, tmp_path)
    everything: list[dict[str, Any]] = []
    for _ in range(ROUNDS):
        offered = offers.create(AT_ONCE)
        everything += offered
        waiting: queue.Queue[dict[str, Any]] = queue.Queue()
        for each in offered:
            waiting.put(each)

        def merge(writer: int, number: int, waiting: "queue.Queue[dict[str, Any]]" = waiting) -> httpx.Response | None:
            try:
                return server.call("PUT", f"{offers.path(waiting.get_nowait())}/merge")
            except queue.Empty:
                return None

        load, enough = LoadGenerator(merge), dice.randint(0, AT_ONCE - 3)
        with load.running():
            until("some answers", partial(load.has_acknowledged, enough), 60.0)
            time.sleep(dice.random() * 0.15)
            server.kill()
        if dice.random() < 0.5:
            kill_git(server)
        until("the end of git", lambda: not git_processes(server))
        assert load.other == []
        _age_locks(offers.repository.path)
        expire_leases(server)
        server.start(*WORKERS)
        states = offers.check(offered)
        for _, _, answer in load.acknowledged:
            assert answer["state"] == offers.shown(answer)["state"] == "merged", "what was acknowledged holds"
        assert states.count("merged") >= len(load.acknowledged)
        for each, state in zip(offered, states, strict=True):
            if state == "opened":
                assert server.call("PUT", f"{offers.path(each)}/merge").status_code == 200
    assert set(offers.check(everything)) == {"merged"}
    _check_rest(server, offers, len(everything))


def _check_rest(server: Server, offers: OpenMergeRequests, merged: int) -> None:
    """Check that nothing is left over, lost or repeated."""
    path = offers.repository.path
    assert len(run(path, "ls-tree", "--name-only", "master").split()) == merged + 1
    assert len(run(path, "rev-list", "--first-parent", "--merges", "master").split()) == merged
    assert find_problems(path, deep=True) == []
    subprocess.run(["git", "fsck", "--strict"], cwd=path, check=True, capture_output=True)
    with database_of(server) as database:
        assert database.read(lambda db: db.rows(select(merge_request_merges.c.id))) == []
        counts = select(merge_request_counts.c.state, merge_request_counts.c.count)
        assert {state: count for state, count in database.read(lambda db: db.rows(counts)) if count} == {
            "merged": merged
        }


def test_killed_between_ref_update_and_commit(server: Server, tmp_path: Path) -> None:
    """The only moment at which both could disagree: they agree before the server accepts requests.

    Of two merges about to move the same branch, only one did.
    """
    offers = OpenMergeRequests(server, tmp_path)
    lost, won = offers.create(2)
    server.kill()
    repository, old = offers.repository, offers.repository.tip("refs/heads/master") or ""
    somebody = Signature("Somebody", "somebody@example.com", 1_600_000_000, 0)
    words = CommitMetadata("Merged", somebody, somebody)
    changes = {each["id"]: merge_commit(repository, old, each["sha"], words).commit for each in (lost, won)}

    def intend(db: Connection) -> None:
        for number, new in changes.items():
            plan = MergePlan(merge_request_by_id(db, number), "merge", old, new, new, None, True, False)
            record_pending_merge(db, actor_for(find_user(db, 1)), plan)
            open_intent(db, offers.remote.id, 1, "api", [RefUpdate("refs/heads/master", old, new)])

    with database_of(server) as database:
        database.write(intend)
    update_refs(repository, [RefUpdate("refs/heads/master", old, changes[won["id"]])])
    server.start()
    assert offers.check([lost, won]) == ["opened", "merged"]
    assert offers.shown(won)["merge_commit_sha"] == changes[won["id"]]
    assert offers.shown(won)["merged_by"]["username"] == "root"
    until("the removal of the branch", lambda: repository.tip(f"refs/heads/{won['source_branch']}") is None, 30.0)
    assert repository.tip(f"refs/heads/{lost['source_branch']}") == lost["sha"]
    statuses = [server.call("PUT", f"{offers.path(each)}/merge").status_code for each in (lost, won)]
    assert statuses == [200, 406]
    assert offers.check([lost, won]) == ["merged", "merged"]
