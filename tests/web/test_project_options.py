"""Options of projects and groups that pages show and change."""

from collections.abc import Callable

import pytest

from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import changed_settings, day, make_group, make_project
from tests.web.browser import Browser

HOSTILE = "</textarea><script>alert(1)</script>"


@pytest.fixture
def own(browser: Browser, person: User) -> Browser:
    """Return the browser of a user."""
    return browser.signed_in_as(person)


def test_templates_of_descriptions(api: Api, make: Make, own: Browser, person: User) -> None:
    project = filled_project(make, person)
    merge_request = make_merge_request(make, project, person)
    api.put(f"{project.url}/merge_requests/{merge_request['iid']}", person, state_event="close")
    new_issue = f"/{project.path}/-/issues/new"
    branches = f"merge_request[source_branch]={merge_request['source_branch']}&merge_request[target_branch]=master"
    new_merge_request = f"/{project.path}/-/merge_requests/new?{branches}"
    assert "Steps to" not in own.get(new_issue).text
    edit = f"/{project.path}/-/edit"
    fields = {"part": "merging", "merging[merge_method]": "merge", "merging[squash_option]": "default_off"}
    fields |= {"merging[issues_template]": f"Steps to {HOSTILE}", "merging[merge_requests_template]": "Why and how"}
    fields |= {
        "merging[merge_request_title_regex]": "^[A-Z]+-[0-9]+",
        "merging[merge_request_title_regex_description]": "X-1",
    }
    assert own.post(edit, data={"authenticity_token": own.token(), "_method": "put", **fields}).status_code == 302
    page = own.get(new_issue).text
    assert "Steps to &lt;/textarea&gt;" in page
    assert "Why and how" in own.get(new_merge_request).text
    assert api.get(project.url, person).json()["merge_request_title_regex"] == "^[A-Z]+-[0-9]+"


def test_titles_must_match(api: Api, make: Make, own: Browser, person: User) -> None:
    project = filled_project(make, person)
    rule = {"merge_request_title_regex": "^[A-Z]+-[0-9]+: ", "merge_request_title_regex_description": "Key & text"}
    assert api.put(project.url, person, merge_request_title_regex="(").status_code == 400
    assert api.put(project.url, person, **rule).status_code == 200
    made = make_merge_request(make, project, person)
    url = f"{project.url}/merge_requests/{made['iid']}"
    assert api.get(url, person).json()["detailed_merge_status"] == "title_regex"
    assert api.put(f"{url}/merge", person).status_code == 405
    page = own.get(f"/{project.path}/-/merge_requests/{made['iid']}").text
    assert "does not have the form" in page
    assert "Key &amp; text" in page
    api.put(url, person, title="KEY-7: Better")
    assert api.put(f"{url}/merge", person).json()["state"] == "merged"


def test_rules_of_a_group(api: Api, make: Make, own: Browser, person: User) -> None:
    group = make_group(make, person)
    edit = f"/groups/{group.path}/-/edit"
    fields = {"part": "rules", "rules[shared_runners_setting]": "disabled_and_unoverridable"}
    fields |= {"rules[default_branch]": "trunk", "rules[enabled_git_access_protocol]": "ssh"}
    fields |= {"rules[membership_lock]": "1"}
    assert own.post(edit, data={"authenticity_token": own.token(), "_method": "put", **fields}).status_code == 302
    shown = api.get(group.url, person).json()
    expected = {
        "shared_runners_setting": "disabled_and_unoverridable",
        "default_branch": "trunk",
        "enabled_git_access_protocol": "ssh",
        "membership_lock": True,
        "prevent_sharing_groups_outside_hierarchy": False,
    }
    assert {name: shown[name] for name in expected} == expected
    project = make_project(make, person, group=group, initialize_with_readme=True)
    assert f"{api.url}/{project.path}.git" not in own.get(f"/{project.path}").text


def test_first_day_of_the_week(
    make: Make, person: User, instance: Instance, open_browser: Callable[[], Browser]
) -> None:
    def row_of_monday() -> str:
        page = open_browser().get(f"/{person.username}").text
        return page.partition(">Mon<")[0].rpartition('y="')[2].rstrip('"')

    with day(instance, "2030-01-02"):
        rows = [row_of_monday()]
        for first in (0, 6):
            with changed_settings(make, first_day_of_week=first):
                rows.append(row_of_monday())
    assert rows == ["8", "20", "32"]
