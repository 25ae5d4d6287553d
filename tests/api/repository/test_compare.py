"""Comparison of refs, contributors, and merge bases."""

from pathlib import Path
from typing import Any

import pytest

from tests.api.repository.branched_repository import BranchedRepository
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History
from tests.roles import UsersByRole, project_with


@pytest.fixture(scope="module")
def branched(instance: Instance, make: Make) -> BranchedRepository:
    """Return a public project."""
    return BranchedRepository(instance, make_project(make, visibility="public"))


def between(old: str, new: str, **more: Any) -> dict[str, Any]:
    """Return the parameters, one of which is a Python keyword."""
    return {"from": old, "to": new, **more}


def test_compare_branches(api: Api, branched: BranchedRepository) -> None:
    """Commits oldest first, the newest separately, and the changed files; anonymous callers may compare."""
    answer = api.get(f"/projects/{branched.project.id}/repository/compare", **between("side/ünï", "ahead"))
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert list(shown) == ["commit", "commits", "diffs", "compare_timeout", "compare_same_ref", "web_url"]
    assert [commit["title"] for commit in shown["commits"]] == ["Main", "Merge", "Last", "Ahead"]
    assert shown["commit"] == shown["commits"][-1]
    assert shown["commit"]["id"] == branched.ahead
    assert [entry["new_path"] for entry in shown["diffs"]] == ["a.txt", "c", "lib/x.py"]
    assert (shown["compare_timeout"], shown["compare_same_ref"]) == (False, False)
    assert shown["web_url"].endswith(f"/{branched.project.path}/-/compare/{branched.side}...{branched.ahead}")


def test_compare_tags_and_ids(api: Api, branched: BranchedRepository) -> None:
    """By any name; surrounding spaces are ignored."""
    url = f"/projects/{branched.project.id}/repository/compare"
    expected = api.get(url, **between("v1", "v2")).json()
    assert [commit["title"] for commit in expected["commits"]] == ["Last", "Ahead"]
    assert api.get(url, **between(branched.merge[:8], f" {branched.ahead} ")).json() == expected


def test_comparison_with_another_project_is_rejected(api: Api, make: Make, branched: BranchedRepository) -> None:
    """It is not supported, and ignoring the parameter would return a wrong result."""
    url = f"/projects/{branched.project.id}/repository/compare"
    here = api.get(url, **between("v1", "v2"))
    assert api.get(url, **between("v1", "v2", from_project_id=branched.project.id)).json() == here.json()
    for other in (make_project(make, visibility="public").id, make_project(make).id, 0, 2**62):
        refused = api.get(url, **between("v1", "v2", from_project_id=other))
        assert (refused.status_code, refused.json()) == (
            400,
            {"message": {"from_project_id": ["can only be this project"]}},
        )


def test_compare_backwards(api: Api, branched: BranchedRepository) -> None:
    """The result is empty; a straight comparison shows the removed changes."""
    url = f"/projects/{branched.project.id}/repository/compare"
    shown = api.get(url, **between("ahead", "side/ünï")).json()
    assert (shown["commit"], shown["commits"], shown["diffs"], shown["compare_same_ref"]) == (None, [], [], False)
    straight = api.get(url, **between("ahead", "side/ünï", straight="true")).json()
    assert [(entry["new_path"], entry["deleted_file"]) for entry in straight["diffs"]] == [
        ("a.txt", False),
        ("c", True),
        ("lib/x.py", False),
    ]
    assert straight["web_url"].endswith(f"{branched.ahead}..{branched.side}")


def test_compare_equal_refs(api: Api, branched: BranchedRepository) -> None:
    """Two names of one commit count as equal."""
    shown = api.get(f"/projects/{branched.project.id}/repository/compare", **between("v2", "ahead")).json()
    assert (shown["commit"], shown["commits"], shown["diffs"], shown["compare_same_ref"]) == (None, [], [], True)


def test_compare_since_the_merge_base(instance: Instance, api: Api, make: Make) -> None:
    """Later changes of the older side do not count, unless straight; unrelated histories are compared completely."""
    project = make_project(make, visibility="public")
    made = History()
    first = made.commit(files={"a": "1\n"})
    made.commit("topic", {"b": "1\n"}, "Topic", parents=(first,))
    made.commit(files={"c": "2\n"}, parents=(first,))
    made.commit("other", {"d": "1\n"}, parents=())
    made.fill(instance, project)
    url = f"/projects/{project.id}/repository/compare"

    def paths(**sent: Any) -> list[str]:
        return [entry["new_path"] for entry in api.get(url, **sent).json()["diffs"]]

    assert paths(**between("master", "topic")) == ["b"]
    assert paths(**between("master", "topic", straight="true")) == ["b", "c"]
    assert paths(**between("master", "other")) == ["d"]
    unrelated = api.get(f"/projects/{project.id}/repository/merge_base", None, **{"refs[]": ["master", "other"]})
    assert (unrelated.status_code, unrelated.json()) == (404, {"message": "404 Merge Base Not Found"})


def test_many_commits(instance: Instance, api: Api, make: Make) -> None:
    """The newest thousand are shown, and marked as truncated."""
    project = make_project(make, visibility="public")
    made = History()
    made.commit(files={"a": "0\n"})
    made.tag("start", 1)
    for number in range(1100):
        made.commit(files={"a": f"{number}\n"}, message=str(number))
    made.fill(instance, project)
    shown = api.get(f"/projects/{project.id}/repository/compare", **between("start", "master")).json()
    assert [commit["title"] for commit in shown["commits"]] == [str(number) for number in range(100, 1100)]
    assert shown["compare_timeout"] is True
    assert shown["diffs"][0]["diff"].endswith("-0\n+1099\n")


HOSTILE = ["nope", "--output=/tmp/pwned-by-compare", "-x", "a..b", "master^9", "../../x", "x" * 5000, ""]


@pytest.mark.parametrize("name", HOSTILE)
def test_unknown_refs(api: Api, branched: BranchedRepository, name: str) -> None:
    """On either side they are not found, and never reach git."""
    url = f"/projects/{branched.project.id}/repository/compare"
    for sent in (between(name, "master"), between("master", name)):
        answer = api.get(url, **sent)
        assert (answer.status_code, answer.json()) == (404, {"message": "404 Ref Not Found"})
    assert not Path("/tmp/pwned-by-compare").exists()


def test_missing_parameters(api: Api, branched: BranchedRepository) -> None:
    """The first one is reported."""
    url = f"/projects/{branched.project.id}/repository/compare"
    assert api.get(url, to="master").json() == {"message": '400 (Bad request) "from" not given'}
    assert api.get(url, None, **{"from": "master"}).json() == {"message": '400 (Bad request) "to" not given'}
    assert api.get(url, **between("master", "v1", straight="x")).status_code == 400


def test_contributors(api: Api, branched: BranchedRepository) -> None:
    """Ordered by their last commit; merges do not count."""
    url = f"/projects/{branched.project.id}/repository/contributors"
    ada = {"name": "Ada Writer", "email": "ada@example.org", "commits": 3, "additions": 0, "deletions": 0}
    bob = {"name": "Bob", "email": "bob@example.org", "commits": 1, "additions": 0, "deletions": 0}
    answer = api.get(url)
    assert answer.json() == [ada, bob]
    assert answer.headers["x-total"] == "2"
    assert api.get(url, order_by="commits").json() == [bob, ada]
    assert api.get(url, order_by="commits", sort="desc").json() == [ada, bob]
    assert api.get(url, order_by="name", sort="desc").json() == [bob, ada]
    assert api.get(url, order_by="email", per_page=1).json() == [ada]
    assert api.get(url, ref="side/ünï", order_by="name").json() == [{**ada, "commits": 1}, bob]
    assert api.get(url, ref="nope").status_code == 404
    assert api.get(url, order_by="age").status_code == 400


def test_merge_base(api: Api, branched: BranchedRepository) -> None:
    """Of two or more refs."""
    url = f"/projects/{branched.project.id}/repository/merge_base"
    answer = api.get(url, None, **{"refs[]": ["side/ünï", branched.main]})
    assert (answer.status_code, answer.json()["id"]) == (200, branched.first)
    assert answer.json()["title"] == "Begin"
    assert api.get(url, None, **{"refs[]": ["ahead", "master", "v1"]}).json()["id"] == branched.last
    assert api.get(url, None, **{"refs[]": ["v1", "v1"]}).json()["id"] == branched.merge


INVALID: list[tuple[list[str], str]] = [
    (["master"], "Provide at least 2 refs"),
    (["master", "nope"], "Could not find ref: nope"),
    (["--all", "-x"], "Could not find refs: --all, -x"),
    (["master"] * 101, "Provide at most 100 refs"),
]


@pytest.mark.parametrize(("refs", "words"), INVALID)
def test_merge_base_of_missing_refs(api: Api, branched: BranchedRepository, refs: list[str], words: str) -> None:
    """The error names the missing ref."""
    answer = api.get(f"/projects/{branched.project.id}/repository/merge_base", None, **{"refs[]": refs})
    assert (answer.status_code, answer.json()) == (400, {"message": words})


def test_merge_base_requires_refs(api: Api, branched: BranchedRepository) -> None:
    """Without them the call gets 400."""
    answer = api.get(f"/projects/{branched.project.id}/repository/merge_base")
    assert (answer.status_code, answer.json()) == (400, {"message": '400 (Bad request) "refs" not given'})


def test_an_empty_repository(api: Api, make: Make) -> None:
    """There are no contributors."""
    project = make_project(make, visibility="public")
    assert api.get(f"/projects/{project.id}/repository/contributors").json() == []
    assert api.get(f"/projects/{project.id}/repository/compare", **between("master", "master")).status_code == 404
    assert api.get(f"/projects/{project.id}/repository/merge_base", None, **{"refs[]": ["a", "b"]}).status_code == 400


CALLERS = [("administrator", 200), ("reporter", 200), ("guest", 403), ("stranger", 404), ("nobody", 404)]


@pytest.mark.parametrize(("role", "status"), CALLERS)
def test_permission_to_compare_in_a_private_project(
    instance: Instance, api: Api, make: Make, role: str, status: int
) -> None:
    """Reporters and above; other users get 404."""
    roles = UsersByRole(make)
    project = BranchedRepository(instance, project_with(make, roles)).project
    url = f"/projects/{project.id}/repository"
    for answer in (
        api.get(f"{url}/compare", roles[role], **between("v1", "v2")),
        api.get(f"{url}/contributors", roles[role]),
        api.get(f"{url}/merge_base", roles[role], **{"refs[]": ["v1", "v2"]}),
    ):
        assert answer.status_code == status, answer.text
