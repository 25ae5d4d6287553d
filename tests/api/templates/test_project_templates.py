"""Templates that a project offers: those of the instance, and files of its default branch."""

from functools import partial

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project, statements_of
from tests.git_history import History
from tests.roles import UsersByRole, project_with

OF_INSTANCE = ["dockerfiles", "gitignores", "gitlab_ci_ymls", "licenses"]
OF_PROJECT = {"issues": "issue_templates", "merge_requests": "merge_request_templates"}


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a private project with description templates, and other files beside them."""
    project = project_with(make, roles)
    history = History()
    files = {"README.md": "x"}
    for folder in OF_PROJECT.values():
        files |= {
            f".gitlab/{folder}/Bug report.md": "## Übersicht\n",
            f".gitlab/{folder}/Default.md": "x",
            f".gitlab/{folder}/notes.txt": "x",
            f".gitlab/{folder}/more/Deep.md": "x",
            f".gitlab/{folder}/Huge.md": "x" * (2**20 + 1),
        }
    history.commit(files=files, message="Begin")
    history.fill(instance, project)
    return project


@pytest.mark.parametrize("kind", OF_INSTANCE)
def test_templates_of_the_instance(api: Api, roles: UsersByRole, project: Project, kind: str) -> None:
    listed = api.get(f"{project.url}/templates/{kind}", roles.reporter, per_page=2)
    everything = api.get(f"/templates/{kind}", per_page=2)
    assert listed.status_code == 200
    assert listed.json() == [{"key": each["key"], "name": each["name"]} for each in everything.json()]
    assert listed.headers["x-total"] == everything.headers["x-total"]
    key = listed.json()[0]["key"]
    filled = {"fullname": "Ada", "project": "Engine"}
    shown = api.get(f"{project.url}/templates/{kind}/{key}", roles.reporter, **filled)
    assert shown.json() == api.get(f"/templates/{kind}/{key}", roles.reporter, **filled).json()
    assert api.get(f"{project.url}/templates/{kind}/no-such-name", roles.reporter).status_code == 404


@pytest.mark.parametrize("kind", OF_PROJECT)
def test_templates_of_descriptions(api: Api, make: Make, roles: UsersByRole, project: Project, kind: str) -> None:
    where = f"{project.url}/templates/{kind}"
    listed = api.get(where, roles.reporter)
    assert listed.json() == [{"key": name, "name": name} for name in ("Bug report", "Default", "Huge")]
    assert [each["key"] for each in api.get(where, roles.reporter, per_page=1, page=2).json()] == ["Default"]
    shown = api.get(f"{where}/Bug%20report", roles.reporter)
    assert shown.json() == {"name": "Bug report", "content": "## Übersicht\n"}
    for name in ("missing", "notes", "notes.txt", "more%2FDeep", "..%2F..%2FREADME", "%00"):
        assert api.get(f"{where}/{name}", roles.reporter).status_code in (400, 404), name
    assert api.get(f"{where}/Huge", roles.reporter).status_code == 400
    empty = make_project(make)
    assert api.get(f"{empty.url}/templates/{kind}", make.root).json() == []


def test_callers_of_templates(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    """Guests of a private project cannot read its code, but write issues."""
    expected = {"reporter": (200, 200), "guest": (200, 403), "stranger": (404, 404), "nobody": (404, 404)}
    for role, (issues, others) in expected.items():
        for kind in (*OF_INSTANCE, *OF_PROJECT):
            answer = api.get(f"{project.url}/templates/{kind}", roles[role])
            assert answer.status_code == (issues if kind == "issues" else others), (role, kind)
    refused = api.get(f"{project.url}/templates/others", roles.reporter)
    assert (refused.status_code, refused.json()) == (400, {"message": {"type": ["is invalid"]}})
    assert api.get(f"{make_project(make, visibility='public').url}/templates/licenses").status_code == 200


@pytest.mark.parametrize("kind", [*OF_INSTANCE, *OF_PROJECT])
def test_longer_lists_need_no_more_statements(
    api: Api, make: Make, roles: UsersByRole, project: Project, kind: str
) -> None:
    for where in [f"{project.url}/templates/{kind}", *([f"/templates/{kind}"] if kind in OF_INSTANCE else [])]:
        costs = {statements_of(make, partial(api.get, where, roles.reporter, per_page=size)) for size in (1, 3)}
        assert len(costs) == 1
