"""Killing all processes while a stack is merged with squashes and its branches are rebased: no change is lost."""

import os
import random
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.git.core.repository import Repository
from ingot.git.maintenance.integrity import find_problems
from tests.faults.load_generator import expire_leases
from tests.faults.push_remote import git_processes, kill_git
from tests.faults.test_kill_push import _age_locks
from tests.server.process import Server, until

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "2"))
WORKERS = ("--workers", 2)
NAMES = ("one", "two", "three", "four")
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for git processes in /proc")


class _Stack:
    """A project with a stack whose layers change the same line, each in two commits."""

    def __init__(self, server: Server, number: int) -> None:
        self.server = server
        made = self.call("POST", "/projects", 201, name=f"stack-{number}", default_branch="main")
        self.url = f"/projects/{made['id']}"
        self._commit("main", "create", "line", "base\n")
        self.call("PUT", self.url, 200, rebase_stacked_merge_requests=True)
        self.layers: list[dict[str, Any]] = []
        base = "main"
        for name in NAMES:
            self._commit(name, "update", "line", f"{name}\n", start_branch=base)
            self._commit(name, "create", name, name)
            sent = {"source_branch": name, "target_branch": base, "title": name, "squash": True}
            self.layers.append(self.call("POST", f"{self.url}/merge_requests", 201, **sent))
            base = name

    def call(self, method: str, path: str, expected: int, **fields: Any) -> Any:
        """Call the API and return the body."""
        sent: dict[str, Any] = {"params": fields} if method == "GET" else {"json": fields}
        answer = self.server.call(method, path, **sent)
        assert answer.status_code == expected, answer.text
        return answer.json() if answer.content else None

    def _commit(self, branch: str, action: str, path: str, content: str, **fields: str) -> None:
        actions = [{"action": action, "file_path": path, "content": content}]
        sent = {"branch": branch, "commit_message": f"{branch}: {path}", "actions": actions, **fields}
        self.call("POST", f"{self.url}/repository/commits", 201, **sent)

    def merge(self, number: int) -> None:
        """Ask for the merge of a layer, or of all up to it; the server may be killed meanwhile."""
        url = f"{self.url}/merge_requests/{self.layers[number]['iid']}"
        verb = "stack/merge" if number else "merge"
        try:
            self.server.call("PUT", f"{url}/{verb}", json={"should_remove_source_branch": True} if not number else {})
        except httpx.HTTPError:
            pass  # The server was killed.

    def shown(self) -> list[dict[str, Any]]:
        """Return the merge requests, the bottom first."""
        return [self.call("GET", f"{self.url}/merge_requests/{each['iid']}", 200) for each in self.layers]

    def is_settled(self) -> bool:
        """Return whether each open layer targets the branch below it and shows only its own changes."""
        target = "main"
        for one in self.shown():
            if one["state"] == "merged":
                continue
            if one["state"] != "opened" or one["target_branch"] != target:
                return False
            changes = self.call("GET", f"{self.url}/merge_requests/{one['iid']}/changes", 200)["changes"]
            if sorted(change["new_path"] for change in changes) != sorted(["line", one["source_branch"]]):
                return False
            target = one["source_branch"]
        return True


def test_killed_during_merges_of_stacks(stopped: Server) -> None:
    server, dice = stopped.start(*WORKERS), random.Random(int(os.environ.get("INGOT_SOAK_SEED", "1")))
    for number in range(ROUNDS):
        stack = _Stack(server, number)
        for layer in (0, 2):
            merging = threading.Thread(target=stack.merge, args=(layer,))
            merging.start()
            time.sleep(dice.random() * 0.3)
            server.kill()
            if dice.random() < 0.5:
                kill_git(server)
            merging.join()
            until("the end of git", lambda: not git_processes(server))
            for path in server.data.glob("repositories/**/*.git"):
                _age_locks(path)
            expire_leases(server)
            server.start(*WORKERS)
            until("settled layers", stack.is_settled, 120.0)
        until("the merge of all", partial(_merge_rest, stack), 120.0)
        url = f"{stack.url}/repository/files/line/raw"
        assert server.call("GET", url, params={"ref": "main"}).text == "four\n"
        tree = {one["name"] for one in stack.call("GET", f"{stack.url}/repository/tree", 200)}
        assert set(NAMES) <= tree
    for path in server.data.glob("repositories/**/*.git"):
        assert find_problems(Repository(path).path, deep=True) == []


def _merge_rest(stack: _Stack) -> bool:
    """Merge the whole stack if it is not merged yet; return whether it is."""
    if stack.shown()[-1]["state"] == "opened":
        stack.merge(len(NAMES) - 1)
    return {one["state"] for one in stack.shown()} == {"merged"}
