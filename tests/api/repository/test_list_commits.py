"""Lists of commits: git's order, filters, pages and permissions."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.repository.branched_repository import START, BranchedRepository
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project, statements_of
from tests.git_history import History
from tests.roles import UsersByRole, project_with

FIELDS = [
    "id",
    "short_id",
    "title",
    "created_at",
    "parent_ids",
    "message",
    "author_name",
    "author_email",
    "authored_date",
    "committer_name",
    "committer_email",
    "committed_date",
    "web_url",
    "trailers",
    "extended_trailers",
]


@pytest.fixture(scope="module")
def branched(instance: Instance, make: Make) -> BranchedRepository:
    """Return a public project."""
    return BranchedRepository(instance, make_project(make, visibility="public"))


def titles(answer: httpx.Response) -> list[str]:
    """Return the titles in a list."""
    assert answer.status_code == 200, answer.text
    return [commit["title"] for commit in answer.json()]


def test_the_default_branch(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Newest first, with all fields, and a total."""
    answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root)
    assert titles(answer) == branched.log("master") == ["Last", "Merge", "Main", "Side", "Begin"]
    assert answer.headers["x-total"] == "5"
    shown = answer.json()[0]
    assert list(shown) == FIELDS
    assert (shown["id"], shown["short_id"]) == (branched.last, branched.last[:8])
    assert shown["message"] == "Last\n\nWhy it is.\n"
    assert shown["parent_ids"] == [branched.merge]
    assert answer.json()[1]["parent_ids"] == [branched.main, branched.side]
    assert answer.json()[-1]["committed_date"] == "2017-07-14T04:40:00.000+02:00"
    assert shown["web_url"].endswith(f"/{branched.project.path}/-/commit/{branched.last}")


REFS = ["ahead", "side/ünï", "v1", "v2", "HEAD", "refs/heads/ahead"]


@pytest.mark.parametrize("ref", REFS)
def test_by_reference(api: Api, make: Make, branched: BranchedRepository, ref: str) -> None:
    """Branches and tags, annotated or not."""
    answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root, ref_name=ref)
    assert titles(answer) == branched.log(ref)


def test_by_id(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Full or short."""
    for ref in (branched.main, branched.main[:8]):
        answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root, ref_name=ref)
        assert titles(answer) == ["Main", "Begin"]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"path": "a.txt"}, ["Main", "Begin"]),
    ({"path": "lib"}, ["Last", "Begin"]),
    ({"path": "/lib/x.py"}, ["Last", "Begin"]),
    ({"path": "nothing"}, []),
    ({"path": "a.*"}, []),
    ({"path": "../a.txt"}, []),
    ({"path": ""}, ["Last", "Merge", "Main", "Side", "Begin"]),
    ({"first_parent": "true"}, ["Last", "Merge", "Main", "Begin"]),
    ({"order": "topo"}, ["Last", "Merge", "Side", "Main", "Begin"]),
    ({"order": "default", "author": "bob"}, ["Side"]),
    ({"author": "Ada Writer"}, ["Last", "Merge", "Main", "Begin"]),
    ({"all": "true"}, ["Ahead", "Last", "Merge", "Main", "Side", "Begin"]),
    ({"all": "1", "ref_name": "side/ünï"}, ["Ahead", "Last", "Merge", "Main", "Side", "Begin"]),
    ({"since": "2017-07-14T02:43:00Z"}, ["Last", "Merge"]),
    ({"since": "2017-07-14T04:43:00+02:00"}, ["Last", "Merge"]),
    ({"since": "2017-07-14T02:43:00.001Z"}, ["Last"]),
    ({"until": "2017-07-14T02:41:00Z"}, ["Side", "Begin"]),
    ({"until": "2017-07-14T02:41:00.999Z"}, ["Side", "Begin"]),
    ({"since": "2017-07-14T02:41:00Z", "until": "2017-07-14T02:42:00Z"}, ["Main", "Side"]),
    ({"since": "2017-07-14", "until": "2017-07-15"}, ["Last", "Merge", "Main", "Side", "Begin"]),
    ({"since": "2999-01-01T00:00:00Z"}, []),
    ({"until": "1000-01-01T00:00:00Z"}, []),
    ({"since": "0001-01-01T00:00:00Z", "until": "9999-12-31T23:59:59Z", "path": "b.txt"}, ["Side"]),
]


@pytest.mark.parametrize(("sent", "expected"), FILTERS)
def test_filters(api: Api, make: Make, branched: BranchedRepository, sent: dict[str, Any], expected: list[str]) -> None:
    """Each applies to the list and the total; times are inclusive."""
    assert START == 1_500_000_000
    answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root, **sent)
    assert titles(answer) == expected
    assert answer.headers["x-total"] == str(len(expected))


def test_pages(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Pages are contiguous, and empty after the last."""
    url = f"/projects/{branched.project.id}/repository/commits"
    pages = [api.get(url, make.root, per_page=2, page=page) for page in (1, 2, 3)]
    assert [titles(page) for page in pages] == [["Last", "Merge"], ["Main", "Side"], ["Begin"]]
    assert pages[0].headers["x-next-page"] == "2"
    assert pages[0].headers["x-total-pages"] == "3"
    for page in (4, 10**6, 10**18):
        behind = api.get(url, make.root, per_page=2, page=page)
        assert titles(behind) == []
        assert behind.headers["x-total"] == "5"


def test_with_stats(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Added and deleted lines, against the first parent."""
    answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root, with_stats="true")
    assert [commit["stats"] for commit in answer.json()] == [
        {"additions": 0, "deletions": 1, "total": 1},
        {"additions": 1, "deletions": 0, "total": 1},
        {"additions": 1, "deletions": 0, "total": 1},
        {"additions": 1, "deletions": 0, "total": 1},
        {"additions": 2, "deletions": 0, "total": 2},
    ]


def test_pushed_commits_are_listed_at_once(instance: Instance, api: Api, make: Make) -> None:
    """In the list and the total, also if both were cached."""
    branched = BranchedRepository(instance, make_project(make))
    url = f"/projects/{branched.project.id}/repository/commits"
    assert api.get(url, make.root).headers["x-total"] == "5"
    more = History()
    more.commit(files={"a.txt": "3\n"}, message="New", parents=(branched.last,), at=START + 10_000)
    more.into(branched.repository)
    answer = api.get(url, make.root)
    assert titles(answer)[:2] == ["New", "Last"]
    assert answer.headers["x-total"] == "6"


def test_an_empty_repository(api: Api, make: Make) -> None:
    """The list is empty for every ref."""
    project = make_project(make)
    for sent in ({}, {"ref_name": "master"}, {"all": "true"}, {"path": "a", "with_stats": "true"}, {"author": "x"}):
        answer = api.get(f"/projects/{project.id}/repository/commits", make.root, **sent)
        assert (answer.status_code, answer.json(), answer.headers["x-total"]) == (200, [], "0")


def test_a_missing_default_branch(instance: Instance, api: Api, make: Make) -> None:
    """No other branch replaces it."""
    project = make_project(make)
    made = History()
    made.commit("other", {"a": "1"})
    made.fill(instance, project)
    url = f"/projects/{project.id}/repository/commits"
    assert titles(api.get(url, make.root, ref_name="other")) == ["Change"]
    assert api.get(url, make.root, ref_name="master").status_code == 200


# Expressions that git would evaluate are not refs here.
SPELLED = ["master~1..master", "a..b", "master^{tree}", "master:a.txt", "../../x", "@{-1}", "x y", "^master", "@{1}"]


def test_an_unknown_ref_lists_nothing(api: Api, make: Make, branched: BranchedRepository) -> None:
    """It may be created later."""
    for name in ("nope", "nope/ünï", "f" * 40, "fffffff", "x" * 5000, *SPELLED):
        answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root, ref_name=name)
        assert (answer.status_code, answer.json()) == (200, []), name


HOSTILE = ["--output=/tmp/pwned-by-a-ref", "-x", "--all"]


@pytest.mark.parametrize("name", HOSTILE)
def test_invalid_refs_are_rejected(api: Api, make: Make, branched: BranchedRepository, name: str) -> None:
    """They never reach git."""
    answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root, ref_name=name)
    assert (answer.status_code, answer.json()) == (400, {"message": {"ref_name": ["is invalid"]}})
    assert not Path("/tmp/pwned-by-a-ref").exists()


INVALID = [
    {"since": "invalid-date"},
    {"until": "5"},
    {"since": "2017-13-01T00:00:00Z"},
    {"order": "random"},
    {"all": "perhaps"},
    {"ref_name": "a\0b"},
    {"path": "a\0b"},
    {"path": "x" * 5000},
    {"author": "x" * 300},
    {"page": "1e9"},
    {"first_parent": "2"},
]


@pytest.mark.parametrize("sent", INVALID)
def test_invalid_values(api: Api, make: Make, branched: BranchedRepository, sent: dict[str, Any]) -> None:
    """The error names the parameter."""
    answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root, **sent)
    assert answer.status_code == 400, answer.text
    assert next(iter(sent)) in answer.text


@pytest.mark.parametrize("sent", [{"ref_name[]": "master"}, {"path[a]": "b"}, {"author[]": "x"}])
def test_arrays_are_no_texts(api: Api, make: Make, branched: BranchedRepository, sent: dict[str, Any]) -> None:
    """Arrays are rejected for both parameters."""
    answer = api.get(f"/projects/{branched.project.id}/repository/commits", make.root, **sent)
    assert answer.status_code == 400, answer.text


CALLERS = [
    ("administrator", 200),
    ("owner", 200),
    ("developer", 200),
    ("reporter", 200),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]


@pytest.mark.parametrize(("role", "status"), CALLERS)
def test_visibility_of_a_private_project(instance: Instance, api: Api, make: Make, role: str, status: int) -> None:
    """Reporters and above; other users get 404."""
    roles = UsersByRole(make)
    branched = BranchedRepository(instance, project_with(make, roles))
    for path in (
        "",
        f"/{branched.last}",
        f"/{branched.last}/diff",
        f"/{branched.last}/refs",
        f"/{branched.last}/sequence",
    ):
        answer = api.get(f"/projects/{branched.project.id}/repository/commits{path}", roles[role])
        assert answer.status_code == status, answer.text


def test_authentication_is_required_on_public_projects(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Any valid credential is accepted."""
    url = f"/projects/{branched.project.id}/repository/commits"
    for path in (
        "",
        f"/{branched.last}",
        f"/{branched.last}/diff",
        f"/{branched.last}/refs",
        f"/{branched.last}/signature",
    ):
        assert api.get(url + path).status_code == 401
    assert api.get(url, make.user()).status_code == 200


def test_statements_do_not_grow_with_the_page(api: Api, make: Make, branched: BranchedRepository) -> None:
    """Commits are read from the repository only."""
    url = f"/projects/{branched.project.id}/repository/commits"
    small = statements_of(make, lambda: api.get(url, make.root, per_page=1))
    assert statements_of(make, lambda: api.get(url, make.root, per_page=100)) == small


def test_file_names_in_other_encodings(instance: Instance, api: Api, make: Make) -> None:
    """Filtered by the shown name; of two names that are shown alike, the UTF-8 one counts."""
    project = make_project(make)
    made = History()
    made.commit(files={"caf\udce9/a": "1"}, message="Latin")
    made.commit(files={"na\xefve": "1", "na\udcefve": "1"}, message="Both")
    made.commit(files={"na\udcefve": "2"}, message="Hidden")
    made.commit(files={"caf\udce9/a": "2"}, message="More")
    made.fill(instance, project)
    url = f"/projects/{project.id}/repository/commits"
    for path in ("café", "café/a", "/café/"):
        assert titles(api.get(url, make.root, path=path)) == ["More", "Latin"]
    assert titles(api.get(url, make.root, path="café/a", follow=True)) == ["More", "Latin"]
    assert titles(api.get(url, make.root, path="café/a", per_page=1, page=2)) == ["Latin"]
    assert titles(api.get(url, make.root, path="naïve")) == ["Both"]
    assert titles(api.get(url, make.root, path="né")) == []
