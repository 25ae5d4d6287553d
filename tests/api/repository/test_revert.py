"""Reverts."""

import pytest

from tests.api.repository.writable_repository import LINES, WritableRepository, message_of
from tests.client import Api, Make


def commit(writable: WritableRepository, text: str) -> str:
    """Change a line on ``dev``."""
    changed = {"action": "update", "file_path": "lines", "content": LINES.replace("line 3", text)}
    made = writable.commit(changed, {"action": "chmod", "file_path": "lines", "execute_filemode": True})
    assert made.status_code == 201, made.text
    oid: str = made.json()["id"]
    return oid


def test_revert_restores_the_files(api: Api, writable: WritableRepository) -> None:
    """The message names the reverted commit."""
    undone = commit(writable, "changed")
    writable.commit({"action": "create", "file_path": "later", "content": "x"})
    answer = api.post(
        f"/projects/{writable.project.id}/repository/commits/{undone}/revert", writable.developer, branch="dev"
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["id"] == writable.tip()
    assert answer.json()["title"] == 'Revert "Change"'
    assert answer.json()["message"] == f'Revert "Change"\n\nThis reverts commit {undone}'
    assert answer.json()["author_name"] == answer.json()["committer_name"] == writable.developer.username
    assert writable.content("lines") == LINES.encode()
    assert writable.listed()["lines"] == "100644"
    assert "later" in writable.listed()


def test_revert_the_root_commit(api: Api, writable: WritableRepository) -> None:
    """The tree is empty afterwards."""
    path = f"/projects/{writable.project.id}/repository/commits/{writable.first}/revert"
    assert api.post(path, writable.developer, branch="dev").status_code == 201
    assert writable.listed() == {}


def test_conflicts_and_empty_reverts_are_rejected(api: Api, writable: WritableRepository) -> None:
    """Later changes conflict, and a second revert is empty; a dry run reports both."""
    url = f"/projects/{writable.project.id}/repository/commits"
    first, second = commit(writable, "one"), commit(writable, "two")
    tip = writable.tip()
    for dry_run in (True, False):
        refused = api.post(f"{url}/{first}/revert", writable.developer, branch="dev", dry_run=dry_run)
        assert message_of(refused).startswith(
            "Sorry, we cannot revert this commit automatically. The branch has conflicting changes"
        )
        assert refused.json()["error_code"] == "conflict"
    tried = api.post(f"{url}/{second}/revert", writable.developer, branch="dev", dry_run=True)
    assert (tried.status_code, tried.json()) == (200, {"dry_run": "success"})
    assert writable.tip() == tip
    assert api.post(f"{url}/{second}/revert", writable.developer, branch="dev").status_code == 201
    again = api.post(f"{url}/{second}/revert", writable.developer, branch="dev")
    assert "already contains the result" in message_of(again)
    assert again.json()["error_code"] == "empty"


@pytest.mark.parametrize("name", ["nope", "-x", "a..b", "0" * 40])
def test_unknown_commits_and_branches(api: Api, writable: WritableRepository, name: str) -> None:
    """Missing ones get 404."""
    url = f"/projects/{writable.project.id}/repository/commits"
    assert api.post(f"{url}/{name}/revert", writable.developer, branch="dev").status_code == 404
    assert api.post(f"{url}/{writable.first}/revert", writable.developer, branch=name).status_code == 404


def test_permissions(api: Api, make: Make, writable: WritableRepository) -> None:
    """As for a push."""
    path = f"/projects/{writable.project.id}/repository/commits/{writable.first}/revert"
    assert message_of(api.post(path, writable.developer)) == '400 (Bad request) "branch" not given'
    assert api.post(path, branch="dev").status_code == 401
    assert api.post(path, writable.stranger, branch="dev").status_code == 403
    assert api.post(path, writable.developer, branch="master").status_code == 403
    api.post(f"/projects/{writable.project.id}/archive", make.root)
    assert api.post(path, writable.master, branch="dev").status_code == 403
    api.post(f"/projects/{writable.project.id}/unarchive", make.root)
    assert api.post(path, writable.master, branch="master").status_code == 201
