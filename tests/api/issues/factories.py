"""Issues and milestones created through the API."""

from typing import Any

from tests.client import Make, User
from tests.factories import Project


def make_issue(make: Make, project: Project, author: User, **attributes: Any) -> dict[str, Any]:
    """Create an issue and return the response."""
    sent = {"title": make.name("issue"), **attributes}
    made = make.api.post(f"/projects/{project.id}/issues", author, **sent)
    assert made.status_code == 201, made.text
    issue: dict[str, Any] = made.json()
    return issue


def make_milestone(make: Make, project: Project, **attributes: Any) -> dict[str, Any]:
    """Create a milestone of a project and return the response."""
    sent = {"title": make.name("milestone"), **attributes}
    made = make.api.post(f"/projects/{project.id}/milestones", make.root, **sent)
    assert made.status_code == 201, made.text
    milestone: dict[str, Any] = made.json()
    return milestone
