"""Branches that the page of an issue proposes."""

from tests.api.merge_requests.factories import filled_project
from tests.client import Api, Make, User
from tests.web.browser import Browser


def test_names_follow_the_template(browser: Browser, person: User, api: Api, make: Make) -> None:
    project = filled_project(make, person, visibility="public")
    url = f"{project.url}/issues"
    issue = api.post(url, person, title="Déjà vu: again?").json()["iid"]
    secret = api.post(url, person, title="Hidden", confidential=True).json()["iid"]
    page = f"/{project.path}/-/issues"
    new = f"/{project.path}/-/branches/new?branch="
    assert new not in browser.get(f"{page}/{issue}").text, "Visitors create no branches."
    browser.signed_in_as(person)
    assert f"{new}{issue}-deja-vu-again" in browser.get(f"{page}/{issue}").text
    assert f"{new}{secret}-confidential-issue" in browser.get(f"{page}/{secret}").text
    template = {"issue_branch_template": "fix-%{id}/%{title}"}
    assert api.put(project.url, person, **template).status_code == 200
    proposed = f"{new}fix-{issue}/deja-vu-again"
    assert proposed in browser.get(f"{page}/{issue}").text
    assert f'value="fix-{issue}/deja-vu-again"' in browser.get(proposed).text
    refused = api.put(project.url, person, issue_branch_template="no branch: %{id}")
    assert refused.json()["message"] == {"issue_branch_template": ["must make valid names of branches"]}
