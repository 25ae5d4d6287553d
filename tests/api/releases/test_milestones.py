"""Milestones of a release, as sent by glab and semantic-release."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.git_history import History
from tests.roles import UsersByRole, project_with


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a public project with a tag."""
    project = project_with(make, roles, visibility="public")
    history = History()
    history.tag("v1", history.commit(files={"README.md": "hello\n"}))
    history.fill(instance, project)
    return project


def titles(api: Api, project: Project, tag: str = "v1") -> list[str]:
    """Return the titles as seen by an anonymous caller."""
    return [each["title"] for each in api.get(f"/projects/{project.id}/releases/{tag}").json()["milestones"]]


def test_a_release_has_milestones_by_title_or_id(api: Api, roles: UsersByRole, project: Project) -> None:
    url = f"/projects/{project.id}/releases"
    one, two = (
        api.post(f"/projects/{project.id}/milestones", roles.developer, title=title).json() for title in ("1.0", "1.1")
    )
    made = api.post(url, roles.developer, tag_name="v1", milestones=["1.1", "1.0", "1.0"])
    assert made.status_code == 201, made.text
    assert made.json()["milestones"] == [one, two]
    assert api.get(url).json()[0]["milestones"] == [one, two]

    edited = api.put(f"{url}/v1", roles.developer, name="One")
    assert [each["id"] for each in edited.json()["milestones"]] == [one["id"], two["id"]]
    assert api.put(f"{url}/v1", roles.developer, milestone_ids=[two["id"]]).json()["milestones"] == [two]
    for wrong in ({"milestones": ["1.0", "none"]}, {"milestone_ids": [one["id"], 10**9]}):
        refused = api.put(f"{url}/v1", roles.developer, **wrong)
        assert refused.status_code == 400
        assert refused.json()["message"].startswith("Milestone(s) not found: ")
    both = api.put(f"{url}/v1", roles.developer, milestones=["1.0"], milestone_ids=[one["id"]])
    assert both.status_code == 400
    assert titles(api, project) == ["1.1"]

    api.delete(f"/projects/{project.id}/milestones/{two['id']}", roles.developer)
    assert titles(api, project) == []
    assert api.put(f"{url}/v1", roles.developer, milestones=["1.0"]).json()["milestones"] == [one]
    assert api.put(f"{url}/v1", roles.developer, milestones=[]).json()["milestones"] == []


def test_milestones_of_other_projects_are_rejected(api: Api, make: Make, roles: UsersByRole) -> None:
    group = make_group(make)
    project, other = (make_project(make, namespace_id=group.id, initialize_with_readme=True) for _ in range(2))
    around = api.post(f"/groups/{group.id}/milestones", make.root, title="ours").json()
    elsewhere = api.post(f"/projects/{other.id}/milestones", make.root, title="theirs").json()
    for wrong in (
        {"milestones": ["theirs"]},
        {"milestone_ids": [elsewhere["id"]]},
        {"milestones": ["ours"]},
        {"milestone_ids": [around["id"]]},
        {"milestones": [f"m{number}" for number in range(101)]},
        {"milestone_ids": ["x"]},
        {"milestone_ids": [2**63]},
    ):
        refused = api.post(f"/projects/{project.id}/releases", make.root, tag_name="v1", ref="master", **wrong)
        assert refused.status_code == 400, refused.text
    assert api.get(f"/projects/{project.id}/repository/tags", make.root).json() == []


def test_milestones_are_hidden_if_issues_and_merge_requests_are_disabled(
    api: Api, roles: UsersByRole, project: Project
) -> None:
    api.post(f"/projects/{project.id}/milestones", roles.developer, title="1.0")
    api.post(f"/projects/{project.id}/releases", roles.developer, tag_name="v1", milestones=["1.0"])
    assert titles(api, project) == ["1.0"]
    api.put(f"/projects/{project.id}", roles.master, issues_enabled=False, merge_requests_enabled=False)
    assert titles(api, project) == []


def test_concurrent_changes_of_milestones(api: Api, roles: UsersByRole, project: Project) -> None:
    names = ["1.0", "1.1", "1.2"]
    for title in names:
        api.post(f"/projects/{project.id}/milestones", roles.developer, title=title)
    url = f"/projects/{project.id}/releases"
    api.post(url, roles.developer, tag_name="v1", milestones=names)
    wanted = [["1.0", "1.1"], ["1.1", "1.2"]] * 4
    with ThreadPoolExecutor(8) as together:
        said = together.map(lambda each: api.put(f"{url}/v1", roles.developer, milestones=each).status_code, wanted)
        assert set(said) == {200}
    assert titles(api, project) in wanted
