"""Commits of ten billion files in a few small objects: each request is answered or refused without listing them."""

import socket
import subprocess
from collections.abc import Callable, Generator
from typing import Any

import httpx
import pytest

from ingot.git.core import streaming
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import stream_git
from ingot.git.diffs import tree_changes
from ingot.git.history import tree_commits
from ingot.git.history.commits import NO_OID
from ingot.git.trees.entries import read_tree
from ingot.git.writing.new_objects import NewObjects
from ingot.git.writing.ref_updates import RefUpdate, update_refs
from ingot.repositories import content
from ingot.repositories.trees import views
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of, run
from tests.server.process import is_alive, until

TOO_LARGE = "400 (Bad request) The commit has too many files and folders"
SEARCH_TIMEOUT = "400 (Bad request) The search takes too long; use a longer or less common text"
LEVELS, WIDTH = 10, 10
FORMATS = ("tar", "tar.gz", "tar.bz2", "zip")
LISTING_COMMANDS = {"archive", "diff-tree", "grep", "ls-tree", "format-patch", "merge-tree", "show"}
BOMBS = ("files", "folders")
"""Branches: with ten billion files, and with ten billion folders without any file."""


def write_bomb(repository: Repository, parent: str, leaf: Callable[[NewObjects], bytes]) -> str:
    """Write a commit with ten folders in each folder, ten levels deep; return its id."""
    objects = NewObjects()
    oid = objects.add("tree", leaf(objects))
    for _ in range(LEVELS):
        oid = objects.add("tree", b"".join(b"40000 d%d\0" % number + bytes.fromhex(oid) for number in range(WIDTH)))
    person = "Ada <ada@example.org> 1500000000 +0000"
    text = f"tree {oid}\nparent {parent}\nauthor {person}\ncommitter {person}\n\nBomb\n"
    commit = objects.add("commit", text.encode())
    objects.store(repository)
    return commit


def _file(objects: NewObjects) -> bytes:
    return b"100644 file\0" + bytes.fromhex(objects.add("blob", b"bomb\n"))


class BombProject:
    """Public project with a branch for each kind of bomb, and one whose history contains a bomb."""

    def __init__(self, instance: Instance, make: Make) -> None:
        self.owner: User = make.user()
        self.project: Project = make_project(make, self.owner, visibility="public")
        history = History()
        history.commit(files={"README": "hello\n"})
        history.fill(instance, self.project)
        self.repository = repository_of(instance, self.project)
        base = self.repository.tip("refs/heads/master") or ""
        leaves = {"files": _file, "folders": lambda _: b""}
        self.tips = {name: write_bomb(self.repository, base, leaf) for name, leaf in leaves.items()}
        update_refs(self.repository, [RefUpdate(f"refs/heads/{name}", NO_OID, tip) for name, tip in self.tips.items()])
        self.url = f"{self.project.url}/repository"


@pytest.fixture(scope="module")
def bombs(instance: Instance, make: Make) -> BombProject:
    return BombProject(instance, make)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the git commands that are started."""
    started: list[str] = []
    plain = subprocess.Popen

    def record(args: Any, *rest: Any, **options: Any) -> "subprocess.Popen[bytes]":
        started.append(args[1])
        return plain(args, *rest, **options)

    monkeypatch.setattr(subprocess, "Popen", record)
    return started


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the folders that comparisons read."""
    read: list[str] = []

    def record(handle: Any, oid: str) -> Any:
        read.append(oid)
        return read_tree(handle, oid)

    monkeypatch.setattr(tree_changes, "read_tree", record)
    return read


@pytest.mark.parametrize("branch", BOMBS)
def test_archives_are_refused_before_they_begin(
    instance: Instance, api: Api, bombs: BombProject, commands: list[str], branch: str
) -> None:
    for form in FORMATS:
        for path in ("", "d1/d2"):
            refused = api.get(f"{bombs.url}/archive.{form}", sha=branch, path=path)
            assert (refused.status_code, refused.json()["message"]) == (400, TOO_LARGE)
    with httpx.Client(base_url=instance.url, timeout=60) as client:
        assert client.get(f"/{bombs.project.path}/-/archive/{branch}.zip").status_code == 400
    assert "archive" not in commands
    assert api.get(f"{bombs.url}/archive.tar", sha="master").status_code == 200


@pytest.mark.parametrize("branch", BOMBS)
def test_diffs_list_the_first_files(
    api: Api, bombs: BombProject, commands: list[str], compared: list[str], branch: str
) -> None:
    diff = api.get(f"{bombs.url}/commits/{bombs.tips[branch]}/diff", bombs.owner).json()
    refs: dict[str, Any] = {"from": "master", "to": branch}
    comparison = api.get(f"{bombs.url}/compare", bombs.owner, **refs).json()
    assert comparison["compare_timeout"]
    for changes in (diff, comparison["diffs"]):
        assert [change["diff"] for change in changes] == [""] * len(changes)
        if branch == "files":
            assert len(changes) == 1000 and all(change["collapsed"] for change in changes)
            assert [change["new_path"] for change in changes[10:12]] == [
                "d0/" * 9 + "d9/file",
                "d0/" * 8 + "d1/d0/file",
            ]
    assert not LISTING_COMMANDS.intersection(commands)
    assert len(compared) < 25_000
    before = len(compared)
    assert api.get(f"{bombs.url}/commits/{bombs.tips[branch]}/diff", bombs.owner).status_code == 200
    assert len(compared) == before


@pytest.mark.parametrize("branch", BOMBS)
def test_stats_are_zero(api: Api, bombs: BombProject, commands: list[str], compared: list[str], branch: str) -> None:
    shown = api.get(f"{bombs.url}/commits/{bombs.tips[branch]}", bombs.owner)
    assert shown.json()["stats"] == {"additions": 0, "deletions": 0, "total": 0}
    listed = api.get(f"{bombs.url}/commits", bombs.owner, ref_name=branch, with_stats=True).json()
    assert [commit["stats"]["total"] for commit in listed] == [0, 1]
    assert commands.count("diff-tree") <= 1  # Of the other commit.
    assert len(compared) < 200


def _requests(api: Api, bombs: BombProject, branch: str) -> list[tuple[str, Callable[[], httpx.Response]]]:
    tip, owner, url = bombs.tips[branch], bombs.owner, bombs.project.url
    offered = {"source_branch": branch, "target_branch": "master", "title": "Bomb"}
    return [
        ("search", lambda: api.get(f"{url}/search", owner, scope="blobs", search="bomb", ref=branch)),
        ("search by name", lambda: api.get(f"{url}/search", owner, scope="blobs", search="filename:x", ref=branch)),
        ("cherry-pick", lambda: api.post(f"{bombs.url}/commits/{tip}/cherry_pick", owner, branch="master")),
        ("revert", lambda: api.post(f"{bombs.url}/commits/{tip}/revert", owner, branch=branch)),
        ("merge request", lambda: api.post(f"{url}/merge_requests", owner, **offered)),
    ]


@pytest.mark.parametrize("branch", BOMBS)
def test_every_request_is_answered_or_refused(
    instance: Instance, api: Api, bombs: BombProject, commands: list[str], branch: str
) -> None:
    before = len(instance.log.getvalue())
    refusals = (TOO_LARGE, SEARCH_TIMEOUT)
    for name, send in _requests(api, bombs, branch):
        answer = send()
        assert answer.status_code in (201, 400), (name, answer.status_code, answer.text[:200])
        assert answer.status_code != 400 or answer.json()["message"] in refusals, (name, answer.text[:200])
    opened = answer.json()
    assert opened["changes_count"] == "1000+"
    changes = f"{bombs.project.url}/merge_requests/{opened['iid']}/changes"
    assert api.get(changes, bombs.owner).json()["overflow"]
    tip = bombs.tips[branch]
    with httpx.Client(base_url=instance.url, timeout=60) as client:
        for page in (
            f"tree/{branch}",
            f"commit/{tip}",
            f"commit/{tip}.diff",
            f"commit/{tip}.patch",
            f"compare/master...{branch}",
            f"merge_requests/{opened['iid']}",
            f"merge_requests/{opened['iid']}/diffs",
            f"merge_requests/{opened['iid']}.diff",
        ):
            assert client.get(f"/{bombs.project.path}/-/{page}").status_code < 500, page
    assert not LISTING_COMMANDS.intersection(commands)
    assert '"event": "fault"' not in instance.log.getvalue()[before:]


def test_merges_are_refused(api: Api, bombs: BombProject, commands: list[str]) -> None:
    change = {"branch": "ahead", "start_branch": "master", "commit_message": "Change", "content": "x"}
    assert api.post(f"{bombs.url}/files/new", bombs.owner, **change).status_code == 201
    offered = {"source_branch": "files", "target_branch": "ahead", "title": "Bomb"}
    opened = api.post(f"{bombs.project.url}/merge_requests", bombs.owner, **offered).json()
    merged = api.put(f"{bombs.project.url}/merge_requests/{opened['iid']}/merge", bombs.owner)
    assert merged.status_code in (400, 405, 406), merged.text
    assert "merge-tree" not in commands


def test_a_bomb_in_the_history_of_a_tree(bombs: BombProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk that finds the last commit of all paths gets as far as its limits allow."""
    monkeypatch.setattr(tree_commits, "_MAX_MEMORY", 20 * 2**20)
    readme = b"100644 README\0" + bytes.fromhex(run(bombs.repository.path, "rev-parse", "master:README"))
    objects = NewObjects()
    person = "Ada <ada@example.org> 1500000000 +0000"
    header = f"tree {objects.add('tree', readme)}\nparent {bombs.tips['files']}\n"
    tip = objects.add("commit", f"{header}author {person}\ncommitter {person}\n\nEnd\n".encode())
    objects.store(bombs.repository)
    with pytest.raises(GitError):
        tree_commits.find_tree_commits(bombs.repository, tip)


def test_a_client_that_disconnects_before_the_first_byte(
    instance: Instance, bombs: BombProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    plain = subprocess.Popen

    def record(*args: Any, **options: Any) -> "subprocess.Popen[bytes]":
        processes.append(plain(*args, **options))
        return processes[-1]

    def silent(*_: Any) -> Generator[bytes, None, None]:
        return stream_git(["nap"], bombs.repository.path, config=[("alias.nap", "!sleep 600")])

    monkeypatch.setattr(views, "stream_archive", silent)
    monkeypatch.setattr(streaming.subprocess, "Popen", record)  # type: ignore[attr-defined]
    host, port = instance.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            f"GET /api/v4{bombs.url}/archive.tar?sha=master&append_sha=false HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        )
        until("the start of git", lambda: processes)
    until("the end of git", lambda: processes[0].returncode is not None)
    assert not is_alive(processes[0].pid)


def test_large_files_are_sent_raw_only(
    api: Api, instance: Instance, make: Make, commands: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small pack can contain a file of any size; it is not read as a whole."""
    monkeypatch.setattr(content, "MAX_JSON_BYTES", 2**21)
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"large": bytes(2**21 + 1), "allowed": bytes(2**21)})
    history.into(repository_of(instance, project))
    oid = run(repository_of(instance, project).path, "rev-parse", "master:large")
    commands.clear()
    url = f"{project.url}/repository"
    for path in (f"{url}/files/large?ref=master", f"{url}/blobs/{oid}"):
        refused = api.get(path)
        message = "413 The file is larger than 2 MB; request its raw content"
        assert (refused.status_code, refused.json()["message"]) == (413, message)
    assert commands == []
    assert api.get(f"{url}/files/large/raw?ref=master").content == bytes(2**21 + 1)
    assert api.get(f"{url}/blobs/{oid}/raw").content == bytes(2**21 + 1)
    assert api.get(f"{url}/files/allowed?ref=master").json()["size"] == 2**21
