"""Cherry-picks."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.repository.writable_repository import LINES, WritableRepository, message_of
from tests.client import Api, Make
from tests.git_history import History


@pytest.fixture
def side(writable: WritableRepository) -> dict[int, str]:
    """Create branches: one that changes a line, one with a merge, and one that conflicts with the first."""
    history = History()
    at = writable.first
    one = history.commit(
        "side", {"lines": LINES.replace("line 3", "side"), "new": "1\n"}, "Side\n\nWhy\n", parents=(at,)
    )
    other = history.commit("other", {"o": "1\n"}, parents=(at,), author="Bob Author <bob@example.org>", zone="-0330")
    history.commit("other", {"lines": LINES.replace("line 3", "side"), "new": "1\n"}, "Merge", parents=(other, one))
    history.commit("clash", {"lines": LINES.replace("line 3", "clash")}, "Clash", parents=(at,))
    return history.into(writable.repository)


def test_cherry_pick_copies_the_commit(api: Api, writable: WritableRepository, side: dict[int, str]) -> None:
    """With changes, message and author; the caller is the committer."""
    writable.commit({"action": "create", "file_path": "meanwhile", "content": "x"})
    before = writable.tip()
    path = f"/projects/{writable.project.id}/repository/commits/{side[2]}/cherry_pick"
    answer = api.post(path, writable.developer, branch="dev")
    assert answer.status_code == 201, answer.text
    commit = answer.json()
    assert commit["id"] == writable.tip()
    assert commit["parent_ids"] == [before]
    assert commit["message"] == "Change"
    assert (commit["author_name"], commit["author_email"]) == ("Bob Author", "bob@example.org")
    assert commit["authored_date"] == "2017-07-13T23:12:00.000-03:30"
    assert commit["committer_name"] == writable.developer.username
    assert {"o", "meanwhile"} <= set(writable.listed())


def test_custom_message(api: Api, writable: WritableRepository, side: dict[int, str]) -> None:
    """A short id or a branch name also identifies the commit."""
    path = f"/projects/{writable.project.id}/repository/commits/{side[1][:10]}/cherry_pick"
    assert api.post(path, writable.developer, branch="dev", message="Other words").json()["message"] == "Other words"
    assert writable.content("lines") == LINES.replace("line 3", "side").encode()


def test_a_merge_is_picked_against_its_first_parent(
    api: Api, writable: WritableRepository, side: dict[int, str]
) -> None:
    """The changes that the merge added to its branch."""
    path = f"/projects/{writable.project.id}/repository/commits/{side[3]}/cherry_pick"
    assert api.post(path, writable.developer, branch="dev").status_code == 201
    assert "new" in writable.listed()
    assert "o" not in writable.listed()


def test_conflicts_and_empty_picks_are_rejected(api: Api, writable: WritableRepository, side: dict[int, str]) -> None:
    """With different messages, and without changes."""
    url = f"/projects/{writable.project.id}/repository/commits"
    assert api.post(f"{url}/{side[1]}/cherry_pick", writable.developer, branch="dev").status_code == 201
    before = writable.git("for-each-ref")
    codes = {side[1]: "empty", side[4]: "conflict", "clash": "conflict", writable.first: "conflict"}
    words = {"empty": "already contains the result", "conflict": "has conflicting changes"}
    for sha, code in codes.items():
        for dry_run in (True, False):
            refused = api.post(f"{url}/{sha}/cherry_pick", writable.developer, branch="dev", dry_run=dry_run)
            assert message_of(refused).startswith("Sorry, we cannot cherry-pick this commit automatically.")
            assert refused.json()["error_code"] == code, sha
            assert words[code] in message_of(refused)
    assert writable.git("for-each-ref") == before


def test_dry_run_changes_nothing(api: Api, writable: WritableRepository, side: dict[int, str]) -> None:
    """It reports whether the pick would succeed."""
    path = f"/projects/{writable.project.id}/repository/commits/{side[1]}/cherry_pick"
    answer = api.post(path, writable.developer, branch="dev", dry_run=True)
    assert (answer.status_code, answer.json()) == (200, {"dry_run": "success"})
    assert writable.tip() == writable.first
    assert api.post(path, writable.developer, branch="master", dry_run=True).status_code == 403


@pytest.mark.parametrize(
    "name", ["nope", "--output=x", "a..b", "x" * 100_000, "0" * 40, "..%2f..%2fx", "dev%5E%7Btree%7D"]
)
def test_unknown_commits_and_branches(api: Api, writable: WritableRepository, side: dict[int, str], name: str) -> None:
    """Missing ones get 404, however they are spelled."""
    url = f"/projects/{writable.project.id}/repository/commits"
    if len(name) < 1000:
        unknown = api.post(f"{url}/{name}/cherry_pick", writable.developer, branch="dev")
        assert (unknown.status_code, unknown.json()["message"]) == (404, "404 Commit Not Found")
    unknown = api.post(f"{url}/{side[1]}/cherry_pick", writable.developer, branch=name)
    assert (unknown.status_code, unknown.json()["message"]) == (404, "404 Branch Not Found")


def test_permissions(api: Api, make: Make, writable: WritableRepository, side: dict[int, str]) -> None:
    """As for a push: developers, not to protected branches, not in archived projects."""
    path = f"/projects/{writable.project.id}/repository/commits/{side[1]}/cherry_pick"
    assert message_of(api.post(path, writable.developer)) == '400 (Bad request) "branch" not given'
    assert api.post(path, branch="dev").status_code == 401
    assert api.post(path, writable.reporter, branch="dev").status_code == 403
    assert api.post(path, writable.developer, branch="master").status_code == 403
    assert api.post(path, writable.master, branch="master").status_code == 201
    api.post(f"/projects/{writable.project.id}/archive", make.root)
    assert api.post(path, writable.master, branch="dev").status_code == 403
    assert writable.tip() == writable.first
    api.post(f"/projects/{writable.project.id}/unarchive", make.root)
    assert api.post(path, writable.developer, branch="dev").status_code == 201


def test_concurrent_picks(api: Api, writable: WritableRepository, side: dict[int, str]) -> None:
    """One succeeds, and the others are empty."""
    path = f"/projects/{writable.project.id}/repository/commits/{side[1]}/cherry_pick"
    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(lambda _: api.post(path, writable.developer, branch="dev"), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 7
    assert writable.git("rev-list", "--count", f"{writable.first}..dev") == "1"
