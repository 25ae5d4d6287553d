"""Merge requests and git clients: pushes update them, and their commits can be fetched."""

from collections.abc import Callable

from tests.api.merge_requests.factories import fork
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.transport.conftest import GitRemote, Tree


def test_pushes_update_and_clients_fetch(
    api: Api, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner = make.user()
    project = make_project(make, owner)
    chosen = git_remote(owner)
    tree.env, url = chosen.env, chosen.url(project)
    tree.commit()
    tree.git("push", "-q", url, "master")
    tree.git("checkout", "-q", "-b", "topic")
    first = tree.commit("a", "a\n")
    tree.git("push", "-q", url, "topic")
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Topic"}
    assert api.post(f"/projects/{project.id}/merge_requests", owner, **sent).status_code == 201

    second = tree.commit("b", "b\n")
    tree.git("push", "-q", url, "topic")
    assert tree.git("ls-remote", url, "refs/merge-requests/1/head").split()[0] == second
    assert api.get(f"/projects/{project.id}/merge_requests/1", owner).json()["sha"] == second

    tree.git("reset", "-q", "--hard", first)
    third = tree.commit("c", "c\n")
    tree.git("push", "-q", "--force", url, "topic")
    tree.git("push", "-q", url, ":topic")
    tree.git("fetch", "-q", url, "refs/merge-requests/1/head")
    assert tree.git("rev-parse", "FETCH_HEAD") == third
    versions = api.get(f"/projects/{project.id}/merge_requests/1/versions", owner).json()
    assert [version["head_commit_sha"] for version in versions] == [third, second, first]
    assert api.get(f"/projects/{project.id}/merge_requests/1", owner).json()["state"] == "opened"


def test_a_push_to_a_fork_updates_the_merge_request(
    api: Api, instance: Instance, make: Make, tree: Tree, git_remote: Callable[[User], GitRemote]
) -> None:
    owner, person = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    theirs = git_remote(owner)
    tree.env = theirs.env
    tree.commit()
    tree.git("push", "-q", theirs.url(project), "master")
    copy = fork(make, project, person)
    chosen = git_remote(person)
    tree.env = chosen.env
    tree.git("checkout", "-q", "-b", "topic")
    tree.commit("a", "a\n")
    tree.git("push", "-q", chosen.url(copy), "topic")
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Topic", "target_project_id": project.id}
    made = api.post(f"/projects/{copy.id}/merge_requests", person, **sent).json()
    second = tree.commit("b", "b\n")
    tree.git("push", "-q", chosen.url(copy), "topic")
    assert tree.git("ls-remote", chosen.url(project), f"refs/merge-requests/{made['iid']}/head").split()[0] == second
    assert tree.git("ls-remote", chosen.url(copy), "refs/merge-requests/*") == ""
    commits = api.get(f"/projects/{project.id}/merge_requests/{made['iid']}/commits", owner).json()
    assert commits[0]["id"] == second
