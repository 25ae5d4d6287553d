"""Power loss: all files lose what was not synced, and every acknowledged write is there after the next start.

The server and its git processes run under a filter that records their sync calls (``durable_state.py`` states the rules
and what they do not cover). A copy of what survives at some moment is served by a second server, which must show every
write that was acknowledged before that moment. SQLite only: a PostgreSQL server syncs its own files.
"""

import base64
import hashlib
import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.git.maintenance.integrity import find_problems
from tests.faults.durable_state import SYNC_CALLS, DurableState
from tests.faults.load_generator import LoadGenerator, expire_leases
from tests.faults.push_remote import Remote
from tests.faults.syscall_filter import FilteredServer
from tests.faults.test_kill_push import _age_locks
from tests.git_history import run
from tests.server.process import Server, ingot, until
from tests.transport.conftest import Tree

ROUNDS = int(os.environ.get("INGOT_SOAK_ROUNDS", "2"))
Check = Callable[[Server], None]
Checks = dict[str, Check]
"""Checks by what they look at, so that a later write replaces the check of an earlier one."""
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> DurableState:
    """Return the part of the data directory that survives a power loss."""
    return DurableState(tmp_path_factory.mktemp("recorded") / "data")


@pytest.fixture(scope="module")
def recorded(state: DurableState) -> Iterator[FilteredServer]:
    """A server whose syncs are recorded from its first start on."""
    state.root.mkdir(mode=0o700)
    server = FilteredServer(state.root, state.record, SYNC_CALLS)
    try:
        yield server.start_filtered("--workers", 2)
    finally:
        server.kill()
    assert server.errors == []


def _created(answer: httpx.Response) -> Any:
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def _shown(server: Server, path: str) -> Any:
    answer = server.call("GET", path)
    assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
    return answer.json()


def _field(path: str, field: str, value: Any) -> Checks:
    def check(server: Server) -> None:
        assert _shown(server, path)[field] == value

    return {f"{path} {field}": check}


def _branch(project_id: int, branch: str, oid: str) -> Checks:
    path = f"/projects/{project_id}/repository/branches/{branch.replace('/', '%2F')}"

    def check(server: Server) -> None:
        assert _shown(server, path)["commit"]["id"] == oid

    return {path: check}


def _serve_after_power_loss(folder: Path, checks: Checks) -> None:
    """Serve the files that have survived, and check them."""
    for repository in (folder / "repositories").glob("??/??/*"):
        _age_locks(repository)
    server = Server(folder)
    expire_leases(server)
    try:
        server.start()
        for check in checks.values():
            check(server)
        assert server.stop() == 0
        for repository in (folder / "repositories").glob("??/??/*.git"):
            assert find_problems(repository, deep=True) == []
        assert ingot("doctor", "--data", folder).stdout == "No problems found.\n"
    finally:
        server.kill()
        shutil.rmtree(folder)


class Writer:
    """Writes of every kind to one server; after each response, all that must survive is compared with the files."""

    def __init__(self, server: Server, state: DurableState, folder: Path) -> None:
        self.server = server
        self.checks: Checks = {}
        self._state = state
        self._folder = folder
        self._tree = Tree(folder / "tree")
        self._tree.folder.mkdir()
        self._tree.git("init", "-q", "-b", "master")
        self._remotes = {}
        for way in ("http", "ssh"):
            (folder / way).mkdir()
            self._remotes[way] = Remote(server, f"project-{way}", way, folder / way)
        self._project_id = self._remotes["http"].id
        self._project = f"/projects/{self._project_id}"

    def _send(self, method: str, path: str, sent: dict[str, Any] | None = None, **options: Any) -> Any:
        made = _created(self.server.call(method, path, json=sent, **options))
        self._compare()
        return made

    def _compare(self) -> None:
        """Compare the branches, tags and stored files that would survive now with the server's."""
        target = self._folder / "survived"
        self._state.restore_to(target)
        for folder in ("uploads", "lfs", "secrets"):
            assert _contents(target / folder) == _contents(self.server.data / folder)
        for repository in (self.server.data / "repositories").glob("??/??/*.git"):
            survived = target / repository.relative_to(self.server.data)
            assert _branches_and_tags(survived) == _branches_and_tags(repository)
            assert (survived / "HEAD").read_text() == (repository / "HEAD").read_text()
        shutil.rmtree(target)

    def write_rows(self) -> None:
        """Write records of the database only."""
        issue = self._send("POST", f"{self._project}/issues", {"title": "kept"})
        path = f"{self._project}/issues/{issue['iid']}"
        note = self._send("POST", f"{path}/notes", {"body": "said"})
        self._send("PUT", path, {"state_event": "close"})
        self.checks |= _field(path, "state", "closed") | _field(f"{path}/notes/{note['id']}", "body", "said")

    def push(self) -> None:
        """Push branches, one in a new folder, and a tag, over HTTP and SSH; then delete one."""
        for way, remote in self._remotes.items():
            oid = self._tree.commit(way)
            self._tree.git("tag", way)
            for refs in (("master", f"master:{way}/new", "master:gone"), (way,), (":gone",)):
                remote.push(self._tree, *refs)
                self._compare()
            self.checks |= _branch(remote.id, "master", oid) | _branch(remote.id, f"{way}/new", oid)
            self.checks |= _field(f"/projects/{remote.id}/repository/tags/{way}", "name", way)

    def commit(self) -> None:
        """Commit, branch, tag, cherry-pick and merge by the API."""
        repository = f"{self._project}/repository"
        action = {"action": "create", "file_path": "topic.txt", "content": "topic"}
        sent = {"branch": "topic", "start_branch": "master", "commit_message": "topic", "actions": [action]}
        made = self._send("POST", f"{repository}/commits", sent)
        self._send("POST", f"{repository}/branches", {"branch": "other", "ref": "master"})
        picked = self._send("POST", f"{repository}/commits/{made['id']}/cherry_pick", {"branch": "other"})
        self._send("POST", f"{repository}/tags", {"tag_name": "annotated", "ref": "topic", "message": "words"})
        offered = {"source_branch": "topic", "target_branch": "master", "title": "topic"}
        request = self._send("POST", f"{self._project}/merge_requests", offered)
        path = f"{self._project}/merge_requests/{request['iid']}"
        merged = self._send("PUT", f"{path}/merge")
        self.checks |= (
            _branch(self._project_id, "topic", made["id"])
            | _branch(self._project_id, "other", picked["id"])
            | _branch(self._project_id, "master", merged["merge_commit_sha"])
            | _field(path, "state", "merged")
            | _field(f"{repository}/tags/annotated", "message", "words")
        )

    def store_files(self) -> None:
        """Store an upload, an avatar and a Git LFS object."""
        content = os.urandom(5000)
        self._send("POST", f"{self._project}/uploads", files={"file": ("a.bin", content)})
        avatar = {"avatar": ("a.png", PNG, "image/png")}
        self._send("PUT", self._project, files=avatar, data={"name": "project-http"})
        self._store_large_file(content)

        def check(server: Server) -> None:
            assert content in _contents(server.data / "uploads").values()
            assert content in _contents(server.data / "lfs").values()
            assert _shown(server, self._project)["avatar_url"]

        self.checks["files"] = check

    def _store_large_file(self, content: bytes) -> None:
        kind = "application/vnd.git-lfs+json"
        large_file = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
        sent = {"operation": "upload", "transfers": ["basic"], "objects": [large_file]}
        url = f"{self._remotes['http'].url}/info/lfs/objects/batch"
        batch = httpx.post(url, json=sent, headers={"Accept": kind, "Content-Type": kind})
        action = batch.json()["objects"][0]["actions"]["upload"]
        assert httpx.put(action["href"], content=content, headers=action["header"]).status_code == 200
        self._compare()

    def write_projects(self) -> None:
        """Fork, transfer and rename a project; write a wiki page and a snippet; change the default branch."""
        fork = self._send("POST", f"{self._project}/fork", {"name": "fork", "path": "fork"})
        group = self._send("POST", "/groups", {"name": "group", "path": "group"})
        self._send("PUT", f"/projects/{fork['id']}/transfer", {"namespace": group["id"]})
        self._send("PUT", f"/projects/{fork['id']}", {"path": "renamed", "default_branch": "topic"})
        page = self._send("POST", f"{self._project}/wikis", {"title": "page", "content": "kept"})
        snippet = {"title": "s", "file_name": "s.txt", "content": "kept", "visibility": "private"}
        stored = self._send("POST", "/snippets", snippet)
        self.checks |= (
            _field(f"/projects/{fork['id']}", "path_with_namespace", "group/renamed")
            | _field(f"/projects/{fork['id']}", "default_branch", "topic")
            | _field(f"{self._project}/wikis/{page['slug']}", "content", "kept")
            | _field(f"/snippets/{stored['id']}", "title", "s")
        )


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files below a folder, except temporary ones."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith(".")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def _branches_and_tags(repository: Path) -> str:
    """Return all branches and tags with what they point at, which must be readable."""
    return run(repository, "for-each-ref", "--format=%(refname) %(objectname) %(subject)", "refs/heads", "refs/tags")


def test_every_acknowledged_write_survives(recorded: FilteredServer, state: DurableState, tmp_path: Path) -> None:
    """The power fails right after the response to each kind of write."""
    writer = Writer(recorded, state, tmp_path)
    for write in (writer.push, writer.commit, writer.store_files, writer.write_projects, writer.write_rows):
        write()
    state.restore_to(tmp_path / "after")
    _serve_after_power_loss(tmp_path / "after", writer.checks)


def test_power_fails_under_load(recorded: FilteredServer, state: DurableState, tmp_path: Path) -> None:
    """At random moments, while commits, branches and issues are created: nothing is partial, nothing is lost."""
    dice = random.Random(ROUNDS)
    made = _created(recorded.call("POST", "/projects", json={"name": "load", "initialize_with_readme": True}))
    project = f"/projects/{made['id']}"

    for number in range(ROUNDS):

        def write(writer: int, count: int, number: int = number) -> httpx.Response:
            name = f"b-{number}-{writer}-{count}"
            if writer == 0:
                return recorded.call("POST", f"{project}/issues", json={"title": name})
            action = {"action": "create", "file_path": name, "content": name}
            sent = {"branch": name, "start_branch": "master", "commit_message": name, "actions": [action]}
            return recorded.call("POST", f"{project}/repository/commits", json=sent)

        load = LoadGenerator(write)
        with load.running():
            enough = dice.randint(1, 20)
            until("some writes", partial(load.has_acknowledged, enough))
            acknowledged = list(load.acknowledged)
            state.restore_to(tmp_path / f"round-{number}")
        checks: Checks = {}
        for writer, _, answer in acknowledged:
            issue = f"{project}/issues/{answer.get('iid')}"
            title = answer["title"]
            checks |= _field(issue, "title", title) if writer == 0 else _branch(made["id"], title, answer["id"])
        _serve_after_power_loss(tmp_path / f"round-{number}", checks)
