"""Killing all processes while a merge train runs: no merge request is lost, and only tested commits are merged."""

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from ingot.git.core.repository import Repository
from ingot.git.maintenance.integrity import find_problems
from tests.faults.load_generator import expire_leases
from tests.faults.push_remote import git_processes, kill_git
from tests.faults.test_kill_push import _age_locks
from tests.server.process import Server, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "2"))
WORKERS = ("--workers", 2)
NAMES = ("a", "b", "bad", "d", "e")
BATCHED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CHECK = "check:\n  script: make\n  rules: [{if: $CI_MERGE_REQUEST_EVENT_TYPE == 'merge_train'}]\n"
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for git processes in /proc")


class _Train:
    """A project with merge requests in a train, and the runner of its pipelines."""

    def __init__(self, server: Server, number: int, size: int) -> None:
        self.server = server
        self._names = BATCHED if size > 1 else NAMES
        self._size = size
        self._passed: set[str] = set()
        made = self.call("POST", "/projects", 201, name=f"train-{number}", default_branch="main")
        self.url = f"/projects/{made['id']}"
        self._commit("main", {".gitlab-ci.yml": CHECK})
        self.call("PUT", self.url, 200, merge_pipelines_enabled=True, merge_trains_enabled=True)
        self.call("PUT", self.url, 200, merge_trains_batch_size=size)
        runner = {"runner_type": "project_type", "project_id": made["id"], "run_untagged": True}
        self._token = self.call("POST", "/user/runners", 201, **runner)["token"]
        self.offered = [self._offer(name) for name in self._names]
        for each in self.offered:
            self.call("POST", f"{self.url}/merge_trains/merge_requests/{each['iid']}", 201)

    def call(self, method: str, path: str, expected: int, **fields: Any) -> Any:
        """Call the API and return the body."""
        sent: dict[str, Any] = {"params": fields} if method == "GET" else {"json": fields}
        answer = self.server.call(method, path, **sent)
        assert answer.status_code == expected, answer.text
        return answer.json() if answer.content else None

    def _commit(self, branch: str, files: dict[str, str], **fields: str) -> None:
        actions = [{"action": "create", "file_path": path, "content": content} for path, content in files.items()]
        sent = {"branch": branch, "commit_message": "Add files", "actions": actions, **fields}
        self.call("POST", f"{self.url}/repository/commits", 201, **sent)

    def _offer(self, name: str) -> dict[str, Any]:
        self._commit(name, {name: name}, start_branch="main")
        sent = {"source_branch": name, "target_branch": "main", "title": name}
        made: dict[str, Any] = self.call("POST", f"{self.url}/merge_requests", 201, **sent)
        return made

    def tick(self) -> bool:
        """Run a job, if one waits; it fails with the bad file, and with two files together."""
        sent = {"token": self._token, "info": {"features": {}}}
        answer = self.server.call("POST", "/jobs/request", json=sent)
        if answer.status_code != 201:
            return False
        job = answer.json()
        variables = {each["key"]: each["value"] for each in job["variables"]}
        files = self.call("GET", f"{self.url}/repository/tree", 200, ref=variables["CI_COMMIT_SHA"], per_page=100)
        names = {each["name"] for each in files}
        fails = "bad" in names or {"four", "six"} <= names
        state = "failed" if fails else "success"
        self.server.call("PUT", f"/jobs/{job['id']}", json={"token": job["token"], "state": state})
        return True

    def is_over(self) -> bool:
        """Run a job and return whether the train is empty."""
        self.tick()
        return bool(self.call("GET", f"{self.url}/merge_trains", 200, scope="active") == [])

    def check(self) -> None:
        """Check that all but the bad one were merged in order, and that the target only pointed at tested commits."""
        shown = [self.call("GET", f"{self.url}/merge_requests/{each['iid']}", 200) for each in self.offered]
        assert [each["title"] for each in shown if each["state"] != "merged"] == ["six" if self._size > 1 else "bad"]
        filters = {"ref_name": "main", "first_parent": True, "per_page": 100}
        history = [commit["id"] for commit in self.call("GET", f"{self.url}/repository/commits", 200, **filters)]
        assert history[:-1] == [each["merge_commit_sha"] for each in reversed(shown) if each["state"] == "merged"]
        pushes = self.call("GET", f"{self.url}/events", 200, action="pushed", per_page=100)
        moves = [each["push_data"] for each in pushes if each["push_data"]["ref"] == "main"]
        tips = {each["commit_to"] for each in moves if each["commit_to"] in history[:-1]}
        assert tips if self._size > 1 else tips == set(history[:-1])
        assert history[0] in tips
        for sha in tips:
            # One may have been canceled for a run that lost a race.
            pipelines = self.call("GET", f"{self.url}/pipelines", 200, sha=sha)
            assert [each["status"] for each in pipelines if each["status"] != "canceled"] == ["success"]


def _repository_of(server: Server) -> list[Path]:
    return sorted(server.data.glob("repositories/**/*.git"))


@pytest.mark.parametrize("size", [1, 4])
def test_killed_during_trains(stopped: Server, size: int) -> None:
    server, dice = stopped.start(*WORKERS), random.Random(int(os.environ.get("INGOT_SOAK_SEED", "1")))
    for number in range(ROUNDS):
        train = _Train(server, number, size)
        for _ in range(3):
            for _ in range(dice.randint(0, 3)):
                train.tick()
            time.sleep(dice.random() * 0.15)
            server.kill()
            if dice.random() < 0.5:
                kill_git(server)
            until("the end of git", lambda: not git_processes(server))
            for path in _repository_of(server):
                _age_locks(path)
            expire_leases(server)
            server.start(*WORKERS)
        until("the end of the train", train.is_over, 120.0)
        train.check()
    for path in _repository_of(server):
        assert find_problems(Repository(path).path, deep=True) == []
