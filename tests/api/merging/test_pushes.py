"""Pushes that contain the head of a merge request mark it as merged."""

from pathlib import Path

import pytest

from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.api.merging.merge_calls import make_branch_merge_request, merged, tip, url
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project
from tests.git.conftest import git


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    """Return a project with a first commit."""
    return filled_project(make, owner)


@pytest.fixture
def checkout(instance: Instance, project: Project, owner: User, tmp_path: Path) -> Path:
    """Return the owner's clone of the project, with push access over HTTP."""
    address = instance.url.replace("http://", f"http://{owner.username}:{owner.token}@")
    git(tmp_path, "clone", "-q", f"{address}/{project.path}.git", "checkout")
    return tmp_path / "checkout"


def test_a_pushed_local_merge(api: Api, make: Make, project: Project, owner: User, checkout: Path) -> None:
    """Other merge requests stay open."""
    here, other = make_merge_request(make, project, owner), make_merge_request(make, project, owner)
    git(checkout, "fetch", "-q")
    git(checkout, "merge", "-q", "--no-ff", "-m", "By hand", f"origin/{here['source_branch']}")
    git(checkout, "push", "-q", "origin", "master")
    shown = api.get(url(project, here), owner).json()
    assert (shown["state"], shown["merged_by"]["id"], shown["merge_commit_sha"]) == ("merged", owner.id, None)
    assert shown["merged_at"] is not None
    assert api.get(url(project, other), owner).json()["state"] == "opened"


def test_source_and_target_in_one_push(api: Api, make: Make, project: Project, owner: User, checkout: Path) -> None:
    """The head from the same push counts."""
    here = make_merge_request(make, project, owner)
    branch = here["source_branch"]
    git(checkout, "fetch", "-q")
    git(checkout, "checkout", "-q", branch)
    git(checkout, "commit", "-q", "--allow-empty", "-m", "More")
    head = git(checkout, "rev-parse", "HEAD")
    git(checkout, "push", "-q", "origin", f"{branch}:{branch}", f"{branch}:master")
    shown = api.get(url(project, here), owner).json()
    assert (shown["state"], shown["sha"]) == ("merged", head)


def test_pushes_without_the_head_merge_nothing(
    api: Api, make: Make, project: Project, owner: User, checkout: Path
) -> None:
    """A part of the commits, a cherry-pick, or a closed merge request."""
    part = make_merge_request(make, project, owner)
    head = part["sha"]
    newer = commit(make, project, part["source_branch"], {"more": "x"}, owner)
    git(checkout, "fetch", "-q")
    git(checkout, "push", "-q", "origin", f"{head}:refs/heads/master")
    assert api.get(url(project, part), owner).json()["state"] == "opened"
    git(checkout, "fetch", "-q")
    git(checkout, "checkout", "-q", "-B", "master", "origin/master")
    git(checkout, "cherry-pick", "--no-gpg-sign", "-x", newer)
    git(checkout, "push", "-q", "origin", "master")
    assert api.get(url(project, part), owner).json()["state"] == "opened"


def test_merging_a_stacked_branch_merges_the_lower_one(api: Api, make: Make, project: Project, owner: User) -> None:
    """The head of the lower branch is contained in the upper one."""
    lower = make_merge_request(make, project, owner, branch="lower")
    commit(make, project, "upper", {"upper": "x"}, owner, start="lower")
    upper = make_branch_merge_request(make, project, "upper", owner)
    merged(api, project, upper, owner)
    shown = api.get(url(project, lower), owner).json()
    assert (shown["state"], shown["merged_by"]["id"]) == ("merged", owner.id)


def test_commits_over_the_api(api: Api, make: Make, project: Project, owner: User) -> None:
    """Including a branch that is recreated at the head."""
    merge_request = make_merge_request(make, project, owner, target_branch="master")
    branches = f"/projects/{project.id}/repository/branches"
    assert api.post(branches, owner, branch="stable", ref="master").status_code == 201
    into = make_branch_merge_request(make, project, merge_request["source_branch"], owner, target_branch="stable")
    assert api.delete(f"{branches}/stable", owner).status_code == 200
    again = api.post(branches, owner, branch="stable", ref=merge_request["sha"])
    assert again.status_code == 201
    assert api.get(url(project, into), owner).json()["state"] == "merged"
    assert api.get(url(project, merge_request), owner).json()["state"] == "opened"
    assert tip(api, project, owner, "stable")["id"] == merge_request["sha"]
