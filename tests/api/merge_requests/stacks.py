"""Stacks of merge requests for tests."""

from typing import Any

from tests.api.merge_requests.factories import commit
from tests.client import Make, User
from tests.factories import Project


def make_stack(
    make: Make, project: Project, owner: User, names: list[str], base: str = "master", **sent: Any
) -> list[dict[str, Any]]:
    """Create branches that contain each other, and a merge request of each into the one before."""
    made = []
    for name in names:
        commit(make, project, name, {f"{name}.txt": f"{name}\n"}, owner, start=base, message=f"Add {name}")
        made.append(open_layer(make, project, owner, name, base, **sent))
        base = name
    return made


def open_layer(make: Make, project: Project, owner: User, source: str, target: str, **sent: Any) -> dict[str, Any]:
    """Create a merge request between existing branches."""
    asked = {"source_branch": source, "target_branch": target, "title": f"Merge {source}", **sent}
    answer = make.api.post(f"/projects/{project.id}/merge_requests", owner, **asked)
    assert answer.status_code == 201, answer.text
    merge_request: dict[str, Any] = answer.json()
    return merge_request
