"""Folders nested thousands of levels deep: each request is answered or refused with 400, and no process ends."""

from collections.abc import Callable

import httpx
import pytest

from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.trees.depth import MAX_DEPTH
from ingot.git.writing.new_objects import NewObjects
from ingot.git.writing.ref_updates import RefUpdate, update_refs
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of

TOO_DEEP = "400 (Bad request) The folders are nested too deeply"
SEARCH_TIMEOUT = "400 (Bad request) The search takes too long; use a longer or less common text"
DEEP, BOTTOMLESS = 5_000, 25_000
"""git reads 5,000 levels except for archives, and overflows its stack in a diff of 25,000."""
FORMATS = ("tar", "tar.gz", "tar.bz2", "zip")


def write_deep_commit(repository: Repository, levels: int, parent: str) -> str:
    """Write a commit with a file below this number of nested folders; return its id."""
    objects = NewObjects()
    oid = objects.add("tree", b"100644 file\0" + bytes.fromhex(objects.add("blob", b"deep\n")))
    for _ in range(levels):
        oid = objects.add("tree", b"40000 d\0" + bytes.fromhex(oid))
    person = "Ada <ada@example.org> 1500000000 +0000"
    text = f"tree {oid}\nparent {parent}\nauthor {person}\ncommitter {person}\n\nDeep\n"
    commit = objects.add("commit", text.encode())
    objects.store(repository)
    return commit


class DeepProject:
    """Public project whose branches have folders of increasing depth."""

    def __init__(self, instance: Instance, make: Make) -> None:
        self.owner: User = make.user()
        self.project: Project = make_project(make, self.owner, visibility="public")
        history = History()
        history.commit(files={"README": "hello\n"})
        history.fill(instance, self.project)
        self.repository = repository_of(instance, self.project)
        base = self.repository.tip("refs/heads/master") or ""
        depths = {"shallow": MAX_DEPTH - 10, "deep": DEEP, "bottomless": BOTTOMLESS}
        self.tips = {name: write_deep_commit(self.repository, depth, base) for name, depth in depths.items()}
        update_refs(self.repository, [RefUpdate(f"refs/heads/{name}", NO_OID, tip) for name, tip in self.tips.items()])
        self.url = f"{self.project.url}/repository"


@pytest.fixture(scope="module")
def deep(instance: Instance, make: Make) -> DeepProject:
    return DeepProject(instance, make)


def test_archives_are_refused_before_they_begin(api: Api, deep: DeepProject) -> None:
    for branch in ("deep", "bottomless"):
        for form in FORMATS:
            refused = api.get(f"{deep.url}/archive.{form}", deep.owner, sha=branch)
            assert (refused.status_code, refused.json()["message"]) == (400, TOO_DEEP)
    allowed = api.get(f"{deep.url}/archive.tar", deep.owner, sha="shallow")
    assert allowed.status_code == 200 and allowed.content.endswith(b"\0" * 1024)


def test_lists_go_to_the_bottom(api: Api, deep: DeepProject) -> None:
    asked = {"ref": deep.tips["deep"], "recursive": True, "per_page": 10}
    first = api.get(f"{deep.url}/tree", deep.owner, **asked)
    assert [entry["path"] for entry in first.json()[:3]] == ["d", "d/d", "d/d/d"]
    assert first.headers["x-total"] == str(DEEP + 1)
    last = api.get(f"{deep.url}/tree", deep.owner, **asked, page=DEEP // 10 + 1).json()
    assert [entry["path"] for entry in last] == ["d/" * DEEP + "file"]
    middle = api.get(f"{deep.url}/tree", deep.owner, **asked, page=DEEP // 20).json()
    assert [entry["path"].count("/") for entry in middle] == list(range(DEEP // 2 - 10, DEEP // 2))


def _requests(api: Api, deep: DeepProject, branch: str) -> list[tuple[str, Callable[[], httpx.Response]]]:
    tip, owner = deep.tips[branch], deep.owner
    change = {"branch": branch, "commit_message": "Change", "content": "x"}
    offered = {"source_branch": branch, "target_branch": "master", "title": "Deep"}
    return [
        ("tree", lambda: api.get(f"{deep.url}/tree", owner, ref=branch)),
        ("commit", lambda: api.get(f"{deep.url}/commits/{tip}", owner)),
        ("diff", lambda: api.get(f"{deep.url}/commits/{tip}/diff", owner)),
        ("compare", lambda: api.get(f"{deep.url}/compare", owner, **{"from": "master", "to": branch})),
        ("history", lambda: api.get(f"{deep.url}/commits", owner, ref_name=branch, path="d/d")),
        ("stats", lambda: api.get(f"{deep.url}/commits", owner, ref_name=branch, with_stats=True)),
        ("search", lambda: api.get(f"{deep.project.url}/search", owner, scope="blobs", search="deep", ref=branch)),
        ("cherry-pick", lambda: api.post(f"{deep.url}/commits/{tip}/cherry_pick", owner, branch="master")),
        ("revert", lambda: api.post(f"{deep.url}/commits/{tip}/revert", owner, branch=branch)),
        ("merge request", lambda: api.post(f"{deep.project.url}/merge_requests", owner, **offered)),
        ("file", lambda: api.post(f"{deep.url}/files/new", owner, **change)),
    ]


@pytest.mark.parametrize("branch", ["deep", "bottomless"])
def test_every_request_is_answered_or_refused(instance: Instance, api: Api, deep: DeepProject, branch: str) -> None:
    before = len(instance.log.getvalue())
    for name, send in _requests(api, deep, branch):
        answer = send()
        assert answer.status_code in (200, 201, 400), (name, answer.status_code, answer.text[:200])
        # On a busy machine, the time limit of searches is reached before the limit of the depth.
        refusals = (TOO_DEEP, SEARCH_TIMEOUT) if name == "search" else (TOO_DEEP,)
        assert answer.status_code != 400 or answer.json()["message"] in refusals, (name, answer.text[:200])
    tip, folder = deep.tips[branch], "/".join(["d"] * 100)
    with httpx.Client(base_url=instance.url, timeout=60) as client:
        for page in (
            f"tree/{branch}",
            f"tree/{branch}/{folder}",
            f"commit/{tip}",
            f"commit/{tip}.diff",
            f"commit/{tip}.patch",
            f"compare/master...{branch}",
            f"find_file/{branch}",
            f"archive/{branch}.zip",
        ):
            assert client.get(f"/{deep.project.path}/-/{page}").status_code < 500, page
    assert '"event": "fault"' not in instance.log.getvalue()[before:]
