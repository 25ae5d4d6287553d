"""Search of code, commits and wikis by git: literal text, never a pattern or an option."""

from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from ingot.core.access.levels import Level
from ingot.git.trees import search
from tests.client import Api, Make, User
from tests.factories import Project, make_project

OUTPUT = "/tmp/ingot-code-search-output"
"""File that must not be written."""
README = "# Title\n\nFirst line\nThe NEEDLE is here\nafter\nmore\n\n\n\n\nlast needle\n"
FILES = {
    "README.md": README,
    "src/deep/Needle.py": "print('nothing')\n",
    "src/deep/other.py": "x = '.*'\n-- needle --\n",
    "docs/übung.txt": "Grüße: ÄRGER\n",
    "options.txt": f"--output={OUTPUT}\n",
    "long.txt": "needle" + "y" * 100_000 + "\n",
}


class CodeSearchSetup(NamedTuple):
    """Private project with code, and its callers."""

    project: Project
    owner: User
    guest: User

    @property
    def path(self) -> str:
        """Return the path of its search endpoint."""
        return f"/projects/{self.project.id}/search"


@pytest.fixture(scope="module")
def code_search(make: Make) -> CodeSearchSetup:
    """Return a project, created once; the tests only read."""
    owner, guest = make.user(), make.user()
    project = make_project(make, owner, visibility="private", members={guest: Level.GUEST})
    base = f"/projects/{project.id}/repository"
    actions = [{"action": "create", "file_path": path, "content": text} for path, text in FILES.items()]
    actions.append({"action": "create", "file_path": "a.bin", "content": "AG5lZWRsZQA=", "encoding": "base64"})
    sent = {"branch": "master", "commit_message": "Add the NEEDLE\n\nand Ärger", "actions": actions}
    made = make.api.post(f"{base}/commits", owner, **sent)
    assert made.status_code == 201, made.text
    other = {"branch": "other", "start_branch": "master", "commit_message": "Elsewhere (.*) -x"}
    changed = [{"action": "create", "file_path": "elsewhere.txt", "content": "only elsewhere"}]
    assert make.api.post(f"{base}/branches", owner, branch="other", ref="master").status_code == 201
    del other["start_branch"]
    assert make.api.post(f"{base}/commits", owner, **other, actions=changed).status_code == 201
    page = make.api.post(f"/projects/{project.id}/wikis", owner, title="Home", content="one\na Needle page\n")
    assert page.status_code == 201, page.text
    return CodeSearchSetup(project, owner, guest)


def _paths(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [file["path"] for file in answer.json()]


def test_context_of_matches(api: Api, code_search: CodeSearchSetup) -> None:
    """Nearby matches are merged; files are also found by name; binary files are skipped."""
    found = api.get(code_search.path, code_search.owner, scope="blobs", search="needle")
    assert found.json()[0] == {
        "basename": "README",
        "data": "\nFirst line\nThe NEEDLE is here\nafter\nmore\n",
        "path": "README.md",
        "filename": "README.md",
        "id": None,
        "ref": "master",
        "startline": 2,
        "project_id": code_search.project.id,
    }
    assert (found.json()[1]["startline"], found.json()[1]["data"]) == (9, "\n\nlast needle\n")
    names = ["README.md", "README.md", "long.txt", "src/deep/other.py", "src/deep/Needle.py"]
    assert (_paths(found), found.headers["X-Total"]) == (names, "5")
    assert len(found.json()[2]["data"]) < 20_000
    by_name = found.json()[4]
    assert (by_name["data"], by_name["startline"], by_name["basename"]) == ("print('nothing')\n", 1, "src/deep/Needle")
    pages = [
        _paths(api.get(code_search.path, code_search.owner, scope="blobs", search="needle", per_page=2, page=n))
        for n in (1, 2, 3)
    ]
    assert pages == [names[:2], names[2:4], names[4:]]


TEXTS: list[tuple[str, list[str]]] = [
    ("x = '.*'", ["src/deep/other.py"]),
    (".*", ["src/deep/other.py"]),
    (f"--output={OUTPUT}", ["options.txt"]),
    ("-- NEEDLE", ["src/deep/other.py"]),
    ("ärger", ["docs/übung.txt"]),
    ("ÜBUNG", ["docs/übung.txt"]),
    ("GRÜSSE", []),
    ("^print", []),
    ("needle\nprint", []),
    ("needle filename:README.md", ["README.md", "README.md"]),
    ("needle extension:py", ["src/deep/other.py", "src/deep/Needle.py"]),
    ("needle extension:py filename:o*.PY", ["src/deep/other.py"]),
    ("needle path:src/", ["src/deep/other.py", "src/deep/Needle.py"]),
    ("needle -path:src -filename:*.txt", ["README.md", "README.md"]),
    ("extension:md", ["README.md"]),
    ("filename:*d*p*r.py", ["src/deep/other.py"]),
    ("filename:*py*y", []),
    ("only elsewhere", []),
]


@pytest.mark.parametrize(("text", "paths"), TEXTS)
def test_texts_and_filters(api: Api, code_search: CodeSearchSetup, text: str, paths: list[str]) -> None:
    assert _paths(api.get(code_search.path, code_search.owner, scope="blobs", search=text)) == paths
    assert not Path(OUTPUT).exists()


def test_search_in_other_refs(api: Api, code_search: CodeSearchSetup) -> None:
    """A branch, a commit, and a missing ref."""
    found = api.get(code_search.path, code_search.owner, scope="blobs", search="only elsewhere", ref="other")
    assert [(file["path"], file["ref"]) for file in found.json()] == [("elsewhere.txt", "other")]
    for ref in ("nowhere", "0" * 40, "a b"):
        assert api.get(code_search.path, code_search.owner, scope="blobs", search="needle", ref=ref).json() == []
        assert api.get(code_search.path, code_search.owner, scope="commits", search="needle", ref=ref).json() == []
    for ref in ("--output=x", "-x"):
        assert api.get(code_search.path, code_search.owner, scope="blobs", search="needle", ref=ref).status_code == 400


def test_search_commits(api: Api, code_search: CodeSearchSetup) -> None:
    """By message, ignoring case, and by id."""
    found = api.get(code_search.path, code_search.owner, scope="commits", search="the needle")
    assert [commit["title"] for commit in found.json()] == ["Add the NEEDLE"]
    commit: dict[str, Any] = found.json()[0]
    assert commit["project_id"] == code_search.project.id
    for text in (commit["id"], commit["short_id"].upper(), "ärger", "and ÄRG"):
        assert [
            each["id"] for each in api.get(code_search.path, code_search.owner, scope="commits", search=text).json()
        ] == [commit["id"]], text
    for text, hits in (("(.*) -x", 1), ("elsewhere", 1), ("E.*", 0), ("--all", 0), ("0" * 40, 0)):
        found = api.get(code_search.path, code_search.owner, scope="commits", search=text, ref="other")
        assert (found.status_code, len(found.json()), found.headers["X-Total"]) == (200, hits, str(hits)), text


def test_search_wiki(api: Api, make: Make, code_search: CodeSearchSetup) -> None:
    """A project without a wiki repository has no results."""
    found = api.get(code_search.path, code_search.guest, scope="wiki_blobs", search="NEEDLE")
    assert [(file["path"], file["basename"], file["startline"]) for file in found.json()] == [("Home.md", "Home", 1)]
    assert _paths(api.get(code_search.path, code_search.guest, scope="wiki_blobs", search="home")) == ["Home.md"]
    empty = make_project(make, code_search.owner)
    for scope in ("wiki_blobs", "blobs", "commits"):
        assert api.get(f"/projects/{empty.id}/search", code_search.owner, scope=scope, search="x").json() == []


def test_users_without_code_access_find_nothing(api: Api, make: Make, code_search: CodeSearchSetup) -> None:
    """Guests of a private project, and users who cannot see it."""
    for scope in ("blobs", "commits"):
        assert api.get(code_search.path, code_search.guest, scope=scope, search="needle").status_code == 403
        assert api.get(code_search.path, make.user(), scope=scope, search="needle").status_code == 404


def test_results_are_bounded(api: Api, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of results and the time of git are limited."""
    owner = make.user()
    project = make_project(make, owner)
    actions = [{"action": "create", "file_path": f"{n:03}.txt", "content": "many\n" * 4} for n in range(30)]
    sent = {"branch": "master", "commit_message": "x", "actions": actions}
    assert make.api.post(f"/projects/{project.id}/repository/commits", owner, **sent).status_code == 201
    monkeypatch.setattr(search, "MAX_MATCHES", 10)
    path = f"/projects/{project.id}/search"
    assert api.get(path, owner, scope="blobs", search="many").headers["X-Total"] == "10"
    monkeypatch.setattr(search, "_TIMEOUT_SECONDS", 0.0)
    answer = api.get(path, owner, scope="blobs", search="any")
    assert answer.status_code == 400
    assert "too long" in answer.json()["message"]
