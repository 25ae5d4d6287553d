"""Commits with CI files, made through the API."""

from typing import Any

from tests.client import Make, User
from tests.factories import Project


def commit_files(
    make: Make,
    project: Project,
    files: dict[str, str],
    *,
    branch: str = "main",
    message: str = "Change files",
    user: User | None = None,
    start_branch: str | None = None,
    action: str = "create",
) -> str:
    """Commit files to a branch and return the id of the commit."""
    actions = [{"action": action, "file_path": path, "content": content} for path, content in files.items()]
    sent: dict[str, Any] = {"branch": branch, "commit_message": message, "actions": actions}
    if start_branch is not None:
        sent["start_branch"] = start_branch
    made = make.api.post(f"{project.url}/repository/commits", user or make.root, **sent)
    assert made.status_code == 201, made.text
    oid: str = made.json()["id"]
    return oid


def list_pipelines(make: Make, project: Project, user: User | None = None, **filters: Any) -> list[dict[str, Any]]:
    """Return the pipelines of a project, the newest first."""
    listed = make.api.get(f"{project.url}/pipelines", user or make.root, **filters)
    assert listed.status_code == 200, listed.text
    pipelines: list[dict[str, Any]] = listed.json()
    return pipelines
