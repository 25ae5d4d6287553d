"""Commit statuses: permissions, lists, and the status of a commit."""

import httpx
import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, ids, statements_of
from tests.git_history import History
from tests.roles import UsersByRole, project_with

READERS = [
    ("administrator", 200),
    ("owner", 200),
    ("developer", 200),
    ("reporter", 200),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]


def fill(instance: Instance, project: Project) -> str:
    """Create a commit in a project and return its id."""
    history = History()
    mark = history.commit(files={"a": "1\n"})
    return history.fill(instance, project)[mark]


@pytest.mark.parametrize(("role", "status"), READERS)
def test_reporters_read(instance: Instance, api: Api, make: Make, roles: UsersByRole, role: str, status: int) -> None:
    private, public = project_with(make, roles), project_with(make, roles, visibility="public")
    for project, expected in ((private, status), (public, 401 if role == "nobody" else 200)):
        sha = fill(instance, project)
        answer = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles[role])
        assert answer.status_code == expected
        if expected == 200:
            assert answer.json() == []


@pytest.fixture
def reported(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> tuple[Project, str, list[int]]:
    """Return a commit with repeated statuses: two on master, two on develop."""
    project = project_with(make, roles)
    sha = fill(instance, project)
    said = []
    for ref, name, state in (
        ("master", "default", "failed"),
        ("master", "coverage", "canceled"),
        ("develop", "default", "running"),
        ("master", "coverage", "success"),
        ("develop", "coverage", "success"),
        ("master", "default", "success"),
    ):
        answer = api.post(f"/projects/{project.id}/statuses/{sha}", roles.master, ref=ref, name=name, state=state)
        said.append(answer.json()["id"])
    return project, sha, said


def test_the_latest_of_each_name_and_ref_are_listed(
    api: Api, roles: UsersByRole, reported: tuple[Project, str, list[int]]
) -> None:
    project, sha, said = reported

    def listed(**params: object) -> list[int]:
        return ids(api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.reporter, **params))

    assert listed() == said[2:]
    assert listed(all="true") == listed(all=1) == said
    assert listed(all="false") == said[2:]
    assert listed(ref="develop") == [said[2], said[4]]
    assert listed(name="coverage") == [said[3], said[4]]
    assert listed(name="coverage", ref="master", all=True) == [said[1], said[3]]
    assert listed(stage="external") == said[2:]
    assert listed(stage="test") == listed(ref="nope") == listed(name="%") == []
    answer = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.reporter, per_page=3, page=2)
    assert (ids(answer), answer.headers["x-total"]) == (said[5:], "4")
    wrong = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.reporter, all="perhaps")
    assert wrong.status_code == 400


def test_a_commit_shows_the_status_of_its_pipelines(
    api: Api, roles: UsersByRole, reported: tuple[Project, str, list[int]]
) -> None:
    project, sha, _ = reported

    def shown() -> tuple[str | None, str | None]:
        commit = api.get(f"/projects/{project.id}/repository/commits/{sha}", roles.reporter).json()
        return commit["status"], commit["last_pipeline"] and commit["last_pipeline"]["ref"]

    assert shown() == ("running", "develop")
    api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, ref="develop", state="success")
    assert shown() == ("success", "develop")
    api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, ref="other", state="failed")
    assert shown() == ("failed", "other")


def test_a_commit_without_pipelines_has_no_status(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    """Statuses of one project are not shown by another that has the same commit."""
    project, other = project_with(make, roles), project_with(make, roles)
    sha = fill(instance, project)
    assert fill(instance, other) == sha
    api.post(f"/projects/{other.id}/statuses/{sha}", roles.developer, state="failed")
    commit = api.get(f"/projects/{project.id}/repository/commits/{sha}", roles.reporter).json()
    assert (commit["status"], commit["last_pipeline"]) == (None, None)
    assert api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.reporter).json() == []
    assert api.get(f"/projects/{project.id}/pipelines", roles.reporter).json() == []


def test_a_longer_page_takes_no_more_statements(instance: Instance, api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    sha = fill(instance, project)
    for number in range(6):
        poster = (roles.developer, roles.master, roles.owner)[number % 3]
        sent = {"state": "success", "name": f"job {number}", "ref": f"branch {number}"}
        assert api.post(f"/projects/{project.id}/statuses/{sha}", poster, **sent).status_code == 201

    def statuses(size: int) -> httpx.Response:
        return api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.reporter, per_page=size)

    def pipelines(size: int) -> httpx.Response:
        return api.get(f"/projects/{project.id}/pipelines", roles.reporter, per_page=size)

    for listed in (statuses, pipelines):
        assert len(listed(6).json()) == 6
        assert statements_of(make, lambda: listed(1)) == statements_of(make, lambda: listed(6))  # noqa: B023 - Called at once.
