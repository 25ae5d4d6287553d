"""Branches and merge requests created through the API."""

from typing import Any

from tests.client import Make, User
from tests.factories import Project, make_project


def filled_project(make: Make, owner: User | None = None, **attributes: Any) -> Project:
    """Return a project with a first commit on its default branch."""
    project = make_project(make, owner, **attributes)
    commit(make, project, "master", {"README": "one\ntwo\nthree\n"}, owner, message="Begin")
    return project


def commit(
    make: Make,
    project: Project,
    branch: str,
    files: dict[str, str],
    author: User | None = None,
    *,
    start: str | None = None,
    message: str = "Change",
    action: str = "create",
) -> str:
    """Commit files to a branch and return the id of the commit."""
    actions = [{"action": action, "file_path": path, "content": content} for path, content in files.items()]
    sent: dict[str, Any] = {"branch": branch, "commit_message": message, "actions": actions}
    if start is not None:
        sent["start_branch"] = start
    made = make.api.post(f"/projects/{project.id}/repository/commits", author or make.root, **sent)
    assert made.status_code == 201, made.text
    oid: str = made.json()["id"]
    return oid


def make_merge_request(
    make: Make, project: Project, author: User | None = None, branch: str = "", **attributes: Any
) -> dict[str, Any]:
    """Create a merge request from a new branch and return the response."""
    branch = branch or make.name("branch")
    commit(make, project, branch, {f"{branch}.txt": f"{branch}\n"}, author, start="master")
    sent = {"source_branch": branch, "target_branch": "master", "title": f"Merge {branch}", **attributes}
    made = make.api.post(f"/projects/{project.id}/merge_requests", author or make.root, **sent)
    assert made.status_code == 201, made.text
    merge_request: dict[str, Any] = made.json()
    return merge_request


def fork(make: Make, project: Project, person: User) -> Project:
    """Create a fork of a project in a user's namespace."""
    made = make.api.post(f"/projects/{project.id}/fork", person)
    assert made.status_code == 201, made.text
    shown = made.json()
    return Project(shown["id"], shown["path_with_namespace"], shown["name"], shown["namespace"]["id"])
