"""Protected branches with a slash in their name: every way to change them is denied to developers."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History, repository_of
from tests.transport.conftest import GitRemote, Tree

BRANCH = "a/b"
URL = "a%2Fb"


@pytest.fixture
def users(make: Make) -> tuple[User, User]:
    """Return a master, and a developer."""
    return make.user(), make.user()


@pytest.fixture
def project(instance: Instance, api: Api, make: Make, users: tuple[User, User]) -> Project:
    master, developer = users
    made = make_project(make, master, members={developer: 30})
    history = History()
    history.commit("a/b", files={"file": "one\n"})
    history.commit("dev", files={"file": "one\n", "more": "more\n"}, parents=(1,))
    history.fill(instance, made)
    assert api.post(f"{made.url}/protected_branches", master, name="a/*").status_code == 201
    return made


def _calls(api: Api, project: Project, who: User) -> list[tuple[str, Callable[[], Any]]]:
    """Return every call that would move, create or delete a matching branch."""
    base = f"{project.url}/repository"
    said = {"branch": BRANCH, "commit_message": "Change"}
    actions = [{"action": "create", "file_path": "new", "content": "x"}]
    moved = [{"action": "move", "file_path": "moved", "previous_path": "file"}]
    return [
        ("commit", lambda: api.post(f"{base}/commits", who, **said, actions=actions)),
        ("move", lambda: api.post(f"{base}/commits", who, **said, actions=moved)),
        (
            "start",
            lambda: api.post(
                f"{base}/commits", who, branch="a/c", start_branch="dev", commit_message="x", actions=actions
            ),
        ),
        ("create file", lambda: api.post(f"{base}/files/x", who, **said, content="x")),
        ("update file", lambda: api.put(f"{base}/files/file", who, **said, content="x")),
        ("delete file", lambda: api.delete(f"{base}/files/file", who, **said)),
        ("pick", lambda: api.post(f"{base}/commits/dev/cherry_pick", who, branch=BRANCH)),
        ("revert", lambda: api.post(f"{base}/commits/{URL}/revert", who, branch=BRANCH)),
        ("branch", lambda: api.post(f"{base}/branches", who, branch="a/d", ref="dev")),
        ("delete", lambda: api.delete(f"{base}/branches/{URL}", who)),
        ("unprotect", lambda: api.put(f"{base}/branches/{URL}/unprotect", who)),
        ("drop the rule", lambda: api.delete(f"{project.url}/protected_branches/a%2F*", who)),
    ]


def test_api_calls_are_denied(instance: Instance, api: Api, project: Project, users: tuple[User, User]) -> None:
    _, developer = users
    before = repository_of(instance, project).refs()
    for name, call in _calls(api, project, developer):
        answer = call()
        assert answer.status_code in (400, 403), (name, answer.status_code, answer.text)
        assert repository_of(instance, project).refs() == before, name
    # The same calls are permitted on other branches.
    sent = {"branch": "dev", "commit_message": "x", "content": "x"}
    assert api.post(f"{project.url}/repository/files/x", developer, **sent).status_code == 201


def test_merges_are_denied(instance: Instance, api: Api, project: Project, users: tuple[User, User]) -> None:
    master, developer = users
    sent = {"source_branch": "dev", "target_branch": BRANCH, "title": "In"}
    opened = api.post(f"{project.url}/merge_requests", developer, **sent).json()
    url = f"{project.url}/merge_requests/{opened['iid']}"
    before = repository_of(instance, project).tip(f"refs/heads/{BRANCH}")
    assert api.put(f"{url}/merge", developer).status_code == 401
    assert api.post(f"{url}/notes", developer, body="/merge").status_code in (201, 202, 400)
    assert repository_of(instance, project).tip(f"refs/heads/{BRANCH}") == before
    assert api.put(f"{url}/merge", master).status_code == 200
    assert repository_of(instance, project).tip(f"refs/heads/{BRANCH}") != before


def test_pushes_are_denied(
    instance: Instance, project: Project, users: tuple[User, User], tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    chosen = git_remote(users[1])
    tree.env, url = chosen.env, chosen.url(project)
    tree.git("fetch", "-q", url, BRANCH)
    tree.git("reset", "-q", "--hard", "FETCH_HEAD")
    tip = tree.commit("other")
    before = repository_of(instance, project).refs()
    branch = f"refs/heads/{BRANCH}"
    for spec in (f"{tip}:{branch}", f"+{tip}:{branch}", f":{branch}", f"{tip}:refs/heads/a/new"):
        said = tree.git("push", "-q", url, spec, fails=True)
        assert "protected branch" in said, (spec, said)
    assert repository_of(instance, project).refs() == before
