"""External issue trackers: links of references, and ids of closed issues."""

from typing import Any

import pytest

from ingot.collaboration.external_issues import IssueTracker, external_issue_title
from ingot.integrations.queries import external_tracker_or_none
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make
from tests.factories import Project, make_project

URLS = {
    "project_url": "https://tracker.example.com/p",
    "issues_url": "https://tracker.example.com/issues/:id?x=:id",
    "new_issue_url": "https://tracker.example.com/new",
}


def configure_tracker(make: Make, project: Project) -> IssueTracker | None:
    """Configure the external tracker of a project."""
    return make.database.read(lambda db: external_tracker_or_none(db, project.id))


def rendered(api: Api, make: Make, project: Project, text: str) -> str:
    """Return a text of the project rendered as HTML."""
    answer = api.post("/markdown", make.root, text=text, gfm=True, project=project.path)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["html"])


@pytest.mark.parametrize("slug", ["custom-issue-tracker", "redmine", "bugzilla"])
def test_numbers_and_keys_link_to_the_tracker(api: Api, make: Make, slug: str) -> None:
    project = make_project(make)
    before = rendered(api, make, project, "See #12 and KEY-3.")
    assert "tracker.example.com" not in before
    made = api.put(f"{project.url}/services/{slug}", make.root, **URLS, title="Our <tracker>").json()
    assert (made["title"], made["active"]) == ("Our <tracker>", True)

    html = rendered(api, make, project, "See #12 and KEY-3, other/project#4, `#5` and UTF-8x.")
    assert html.count("<a ") == 2
    assert 'href="https://tracker.example.com/issues/12?x=12"' in html
    assert 'href="https://tracker.example.com/issues/3?x=3"' in html
    assert 'title="Issue in Our &lt;tracker&gt;"' in html
    found = configure_tracker(make, project)
    assert found is not None
    assert found.closed_by("Closes #7, #8 and KEY-9. Mentions #10. Fixes #7") == ["7", "8", "9"]

    api.put(f"{project.url}/services/{slug}", make.root, **URLS, active=False)
    assert configure_tracker(make, project) is None
    assert rendered(api, make, project, "See #12 and KEY-3.") == before


def test_jira_supports_keys_only(api: Api, make: Make) -> None:
    project = make_project(make)
    sent: dict[str, Any] = {"url": "https://jira.example.com/", "username": "u", "password": "p", "project_key": "KEY"}
    assert api.put(f"{project.url}/integrations/jira", make.root, **sent).json()["active"] is True
    html = rendered(api, make, project, "See #12, KEY-3 and OTHER_1-44.")
    assert html.count("<a ") == 2
    assert 'href="https://jira.example.com/browse/KEY-3"' in html
    assert 'href="https://jira.example.com/browse/OTHER_1-44"' in html
    found = configure_tracker(make, project)
    assert found is not None
    assert found.project_url == "https://jira.example.com/issues/?jql=project=KEY"
    assert found.closed_by("Fixes KEY-3 and closes #4, resolves OTHER-5") == ["KEY-3", "OTHER-5"]
    assert external_issue_title("KEY-3") == "External Issue KEY-3"


def test_the_first_of_two_trackers_counts(api: Api, make: Make) -> None:
    project = make_project(make)
    assert configure_tracker(make, project) is None
    api.put(f"{project.url}/services/redmine", make.root, **URLS)
    api.put(f"{project.url}/services/jira", make.root, url="https://jira.example.com")
    found = configure_tracker(make, project)
    assert (found and found.slug) == "redmine"
    assert api.delete(f"{project.url}/services/redmine", make.root).status_code == 200
    found = configure_tracker(make, project)
    assert (found and found.slug) == "jira"


def test_external_issues_closed_by_a_merge_request(api: Api, make: Make) -> None:
    """Their ids are strings."""
    owner = make.user()
    project = filled_project(make, owner)
    offered = make_merge_request(make, project, owner, description="Closes #7 and KEY-9; see #8")
    closes = f"/projects/{project.id}/merge_requests/{offered['iid']}/closes_issues"
    assert api.get(closes, owner).json() == []
    assert api.put(f"{project.url}/services/redmine", owner, **URLS).status_code == 200
    listed = api.get(closes, owner)
    assert [issue["id"] for issue in listed.json()] == ["7", "9"]
    assert set(listed.json()[0]) == {"id", "title"}
    assert listed.headers["x-total"] == "2"
