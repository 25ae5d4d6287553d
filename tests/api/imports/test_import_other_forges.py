"""Imports from GitHub and Gitea by the job, from small servers with paging, rate limits and a real repository."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.api.imports.conftest import ImportingInstance
from tests.transfers.sources import forge_server, test_gitea, test_github
from tests.transfers.sources.forge_server import ForgeServer

TIME = "2024-03-01T10:00:00Z"
HUNK = "@@ -1,2 +1,3 @@\n one\n two\n+three"
_AUTHOR = {f"GIT_{role}_{part}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}


class Commits(NamedTuple):
    """Last commits of the default branch and of the pull request."""

    main: str
    topic: str


def _repository(path: Path) -> Commits:
    """Create a bare repository with the branches main and topic; topic is pull request 4."""

    def git(*arguments: str, text: str | None = None) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": "/dev/null", **_AUTHOR}
        command = ["git", *arguments]
        done = subprocess.run(
            command, cwd=path, env=environment, input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(content: str, *parents: str) -> str:
        blob = git("hash-object", "-w", "--stdin", text=content)
        tree = git("mktree", text=f"100644 blob {blob}\tREADME\n")
        return git("commit-tree", tree, *(f"-p{parent}" for parent in parents), "-m", "A change")

    path.mkdir(parents=True)
    git("init", "-q", "--bare", "-b", "main")
    main = commit("one\ntwo\n")
    topic = commit("one\ntwo\nthree\n", main)
    for name, oid in (("heads/main", main), ("heads/topic", topic), ("pull/4/head", topic)):
        git("update-ref", f"refs/{name}", oid)
    return Commits(main, topic)


def _github(forge: ForgeServer, commits: Commits) -> None:
    repo, ada = test_github.REPO, test_github.ADA
    details = {"id": 55, "name": "rocket", "full_name": "octo/rocket", "default_branch": "main", "pushed_at": TIME}
    repository = {**details, "visibility": "private", "has_wiki": False}
    pull = {
        "number": 4,
        "head": {"ref": "topic", "sha": commits.topic, "repo": {"id": 55, "full_name": "octo/rocket"}},
        "base": {"ref": "main", "sha": commits.main, "repo": {"id": 55, "full_name": "octo/rocket"}},
        "review_comments": 1,
        "updated_at": TIME,
    }
    on_line = {"path": "README", "commit_id": commits.topic, "original_commit_id": commits.topic, "diff_hunk": HUNK}
    comment = {"id": 71, "body": "On a line", "user": ada, "created_at": TIME, "updated_at": TIME, **on_line}
    forge.documents = {
        repo: repository,
        f"{test_github.API}/repositories/55": repository,
        f"{test_github.API}/users/ada": {**ada, "name": "Ada Lovelace"},
        f"{repo}/labels": [{"id": 1, "name": "bug", "color": "d73a4a"}],
        f"{repo}/milestones": [],
        f"{repo}/issues": [
            test_github.issue(1, labels=[{"name": "bug"}], reactions={"total_count": 1}),
            test_github.issue(2, body="See #1 and #4"),
            test_github.issue(3, state="closed", closed_at=TIME),
            test_github.issue(4, pull_request={}),
        ],
        f"{repo}/pulls": [pull],
        f"{repo}/pulls/4": pull,
        f"{repo}/pulls/4/comments": [comment],
        f"{repo}/issues/1/timeline": [test_github.entry("commented", 13, body="A comment", user=ada)],
        f"{repo}/issues/1/reactions": [test_github.reaction(21, "+1")],
        f"{repo}/issues/4/timeline": [
            {"event": "reviewed", "id": 31, "user": ada, "state": "approved", "body": "Fine", "submitted_at": TIME}
        ],
        f"{repo}/comments": [{**comment, "id": 81, "body": "On the commit", "line": 3}],
        f"{repo}/branches": [{"name": "main", "commit": {"sha": commits.main}}],
        f"{repo}/commits/{commits.main}/statuses": [{"id": 1, "state": "success", "context": "build"}],
        f"{repo}/commits/{commits.main}/check-runs": {
            "check_runs": [{"id": 2, "name": "lint", "head_sha": commits.main, "conclusion": "failure"}]
        },
    }


def _gitea(forge: ForgeServer, commits: Commits) -> None:
    repo, ada, bob = test_gitea.REPO, test_gitea.ADA, test_gitea.BOB
    named = {"id": 5, "name": "rocket", "full_name": "team/rocket", "html_url": f"{forge.url}/team/rocket"}
    repository = {**named, "owner": {"id": 2, "login": "team"}, "default_branch": "main", "has_wiki": False}
    branch = {"repo_id": 5, "repo": repository}
    pull = test_gitea.item(
        4,
        head={"ref": "topic", "sha": commits.topic, **branch},
        base={"ref": "main", "sha": commits.main, **branch},
        merge_base=commits.main,
    )
    review = {"id": 1, "state": "APPROVED", "user": ada, "body": "Fine", "submitted_at": TIME, "comments_count": 1}
    issues = [
        test_gitea.item(1, labels=[test_gitea.LABEL], comments=1),
        test_gitea.item(2, body="See #1 and #4"),
        test_gitea.item(3, state="closed", closed_at=TIME),
    ]
    forge.listed = lambda path, query, entries: (
        [pull] if path == f"{repo}/issues" and query.get("type") == "pulls" else entries
    )
    forge.documents = {
        repo: repository,
        f"{repo}/labels": [test_gitea.LABEL],
        f"{repo}/milestones": [],
        f"{repo}/issues": issues,
        f"{repo}/pulls": [pull],
        f"{repo}/issues/1/comments": [test_gitea.comment(13, "A comment", user=ada)],
        f"{repo}/issues/1/reactions": [{"user": bob, "content": "+1", "created_at": TIME}],
        f"{repo}/pulls/4/reviews": [review],
        f"{repo}/pulls/4/reviews/1/comments": [
            test_gitea.comment(71, "On a line", path="README", position=3, diff_hunk=HUNK, user=ada)
        ],
        f"{repo}/branches": [{"name": "main", "commit": {"id": commits.main}}],
        f"{repo}/commits/{commits.main}/statuses": [
            {"id": 1, "status": "success", "context": "build"},
            {"id": 2, "status": "failure", "context": "lint"},
        ],
    }


@pytest.fixture(params=["github", "gitea"])
def forge(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, ForgeServer]]:
    """Run a server of each kind with pages of two entries."""
    kind: str = request.param
    owner = {"github": "octo", "gitea": "team"}[kind]
    with forge_server.serving("per_page" if kind == "github" else "limit") as server:
        commits = _repository(tmp_path / owner / "rocket.git")
        server.repositories, server.page_limit = tmp_path, 2
        {"github": _github, "gitea": _gitea}[kind](server, commits)
        yield kind, server


def test_import_by_the_job(importing: ImportingInstance, forge: tuple[str, ForgeServer]) -> None:
    """Everything has its number; rate limits and a cut connection only delay the import; nothing comes twice."""
    kind, server = forge
    path = importing.make.name(kind)
    sent: dict[str, Any] = {"target_namespace": "root", "new_name": path, "personal_access_token": "x"}
    named: dict[str, dict[str, Any]] = {
        "github": {"repo_id": 55, "github_hostname": server.url},
        "gitea": {"repository": "team/rocket", "gitea_host_url": server.url},
    }
    started = importing.api.post(f"/import/{kind}", importing.root, **sent, **named[kind])
    assert started.status_code == 201, started.text
    again = {"Retry-After": "0"}
    server.failures = [(429, again), (403, again), (503, again), (0, {})]
    importing.work()
    url = f"/projects/root%2F{path}"

    def get(part: str) -> Any:
        answer = importing.api.get(f"{url}{part}", importing.root)
        assert answer.status_code == 200, (part, answer.text)
        return answer.json()

    status = get("/import")
    assert (status["import_status"], status["import_error"]) == ("finished", None), status
    issues = {each["iid"]: each for each in get("/issues?scope=all")}
    assert {iid: (each["state"], each["labels"], each["upvotes"]) for iid, each in issues.items()} == {
        1: ("opened", ["bug"], 1),
        2: ("opened", [], 0),
        3: ("closed", [], 0),
    }
    assert issues[2]["description"] == "See #1 and !4"
    assert [note["body"] for note in get("/issues/1/notes") if not note["system"]] == ["A comment"]
    (request,) = get("/merge_requests?scope=all")
    assert (request["iid"], request["source_branch"], request["state"]) == (4, "topic", "opened")
    notes = [note for note in get("/merge_requests/4/notes") if not note["system"]]
    assert sorted(note["body"] for note in notes) == ["Fine", "On a line"]
    (position,) = [note["position"] for note in notes if note["type"] == "DiffNote"]
    assert (position["new_path"], position["new_line"], position["old_line"]) == ("README", 3, None)
    assert len(get("/merge_requests/4/approvals")["approved_by"]) == 1
    assert [change["new_path"] for change in get("/merge_requests/4/changes")["changes"]] == ["README"]
    assert {each["name"]: each["status"] for each in get("/repository/commits/main/statuses")} == {
        "build": "success",
        "lint": "failed",
    }
    comments = [(each["note"], each["line"]) for each in get("/repository/commits/topic/comments")]
    assert comments == ([("On the commit", 3)] if kind == "github" else [])
