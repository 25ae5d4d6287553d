"""Requests of glab that the tests of other clients do not cover."""

import shutil

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import repository_of
from tests.roles import UsersByRole, project_with


def test_linked_issues_default_to_the_same_project(api: Api, make: Make) -> None:
    """``glab issue create --linked-issues 1`` sends null for the project and the number as a text."""
    project = make_project(make)
    one, two = (api.post(f"/projects/{project.id}/issues", make.root, title=title).json() for title in ("one", "two"))
    url = f"/projects/{project.id}/issues/{two['iid']}/links"
    sent = {"target_project_id": None, "target_issue_iid": str(one["iid"]), "link_type": "relates_to"}
    linked = api.request("POST", url, make.root, json=sent)
    assert linked.status_code == 201, linked.text
    assert linked.json()["target_issue"]["id"] == one["id"]
    assert [each["iid"] for each in api.get(url, make.root).json()] == [one["iid"]]


def test_incidents_are_an_empty_list(api: Api, make: Make) -> None:
    """``glab incident list`` requests issues of that type; ``glab issue list`` those of any."""
    project = make_project(make)
    issue = api.post(f"/projects/{project.id}/issues", make.root, title="one").json()
    url = f"/projects/{project.id}/issues"
    for kind, found in (("issue", [issue["id"]]), ("incident", []), ("task", []), ("test_case", [])):
        listed = api.get(url, make.root, issue_type=kind, in_="title,description", state="opened")
        assert [each["id"] for each in listed.json()] == found
        assert listed.headers["x-total"] == str(len(found))
        assert api.get("/issues_statistics", make.root, issue_type=kind, search="no such").status_code == 200
    assert api.get(url, make.root, issue_type="nonsense").status_code == 400


def test_a_project_has_the_url_of_its_readme(api: Api, make: Make, roles: UsersByRole) -> None:
    """``glab repo view`` takes branch and file from that URL."""
    project = project_with(make, roles, visibility="internal", path=make.name("readme"))
    url = f"/projects/{project.id}"
    address = f"{api.get(url, make.root).json()['web_url']}/-/blob"
    assert "readme_url" not in api.get(url, make.root).json()
    files = f"{url}/repository/files"
    sent = {"branch": "master", "content": "hello", "commit_message": "Say hello"}
    assert api.post(f"{files}/docs%2FREADME.md", roles.master, **sent).status_code == 201
    assert "readme_url" not in api.get(url, make.root).json()
    for name, quoted in (("readme.rst", "readme.rst"), ("ReadMe.md", "ReadMe.md")):
        assert api.post(f"{files}/{name}", roles.master, **sent).status_code == 201
        assert api.get(url, roles.guest).json()["readme_url"] == f"{address}/master/{quoted}"
    assert api.put(url, make.root, visibility="private").status_code == 200
    assert "readme_url" not in api.get(url, roles.guest).json()
    assert api.get(url, roles.reporter).json()["readme_url"] == f"{address}/master/ReadMe.md"
    api.delete(f"{files}/ReadMe.md", roles.master, branch="master", commit_message="Say less")
    assert api.get(url, roles.reporter).json()["readme_url"] == f"{address}/master/readme.rst"


def test_a_project_is_shown_if_its_repository_is_unreadable(api: Api, make: Make, instance: Instance) -> None:
    project = make_project(make, initialize_with_readme=True)
    shutil.rmtree(repository_of(instance, project).path)
    shown = api.get(f"/projects/{project.id}", make.root)
    assert (shown.status_code, "readme_url" in shown.json()) == (200, False)
