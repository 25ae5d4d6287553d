"""Limit of the branches, tags and notes of a repository (the setting ``max_refs``)."""

from collections.abc import Callable

import pytest

from ingot.projects.projects.api import repository_store
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import repository_of, run
from tests.transport.conftest import GitRemote, Tree, over_http

LIMIT = 4
REFUSAL = f"A repository may have {LIMIT} branches and tags at most."


@pytest.fixture(autouse=True)
def _limit(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository_store(instance.settings), "max_refs", LIMIT)


def test_pushes(instance: Instance, api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]) -> None:
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env, url = chosen.env, chosen.url(project)
    tree.commit()
    tree.git("push", "-q", url, "master", "master:one", "master:refs/tags/two")

    said = tree.git("push", url, "master:three", "master:refs/tags/four", fails=True)
    assert f"remote: {REFUSAL}" in said, said
    tree.git("push", "-q", url, "master:three")
    for name in ("refs/heads/four", "refs/tags/four", "refs/notes/commits"):
        assert REFUSAL in tree.git("push", url, f"master:{name}", fails=True)
    assert len(repository_of(instance, project).refs()) == LIMIT

    answer = api.post(f"{project.url}/repository/branches", owner, branch="four", ref="master")
    assert (answer.status_code, answer.json()["message"]) == (403, f"403 Forbidden - {REFUSAL}")
    answer = api.post(f"{project.url}/repository/tags", owner, tag_name="four", ref="master")
    assert answer.status_code == 403

    tree.commit(content="two\n")
    tree.git("push", "-q", url, "master:one", ":three", "master:five")
    assert set(repository_of(instance, project).refs()) == {
        b"refs/heads/five",
        b"refs/heads/master",
        b"refs/heads/one",
        b"refs/tags/two",
    }


def test_refs_that_are_loose_and_packed_count_once(instance: Instance, make: Make, tree: Tree) -> None:
    owner = make.user()
    project = make_project(make, owner)
    url = over_http(instance, project, owner)
    tree.commit()
    tree.git("push", "-q", url, "master", "master:one", "master:two")
    run(repository_of(instance, project).path, "pack-refs", "--all")
    tree.commit(content="two\n")
    tree.git("push", "-q", url, "master", "master:one", "master:two")
    tree.git("push", "-q", url, "master:three")


def test_wikis(instance: Instance, make: Make, tree: Tree) -> None:
    owner = make.user()
    project = make_project(make, owner)
    url = over_http(instance, f"{project.path}.wiki", owner)
    tree.commit()
    tree.git("push", "-q", url, *(f"master:refs/heads/{name}" for name in ("master", "a", "b", "c")))
    assert REFUSAL in tree.git("push", url, "master:d", fails=True)
