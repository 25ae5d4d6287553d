"""Buttons that copy ids and names."""

from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Make, User
from tests.factories import make_group
from tests.web.browser import Browser


def test_ids_and_branch_names_can_be_copied(browser: Browser, make: Make, person: User) -> None:
    group = make_group(make, person, visibility="public")
    project = filled_project(make, person, group=group, visibility="public")
    request = make_merge_request(make, project, person)
    assert f'data-copy="{project.id}" aria-label="Copy project ID"' in browser.get(f"/{project.path}").text
    assert f'data-copy="{group.id}" aria-label="Copy group ID"' in browser.get(f"/groups/{group.path}").text
    page = browser.get(f"/{project.path}/-/merge_requests/{request['iid']}").text
    assert f'data-copy="{request["source_branch"]}" aria-label="Copy branch name"' in page
    commit = f'data-copy="{request["sha"]}" aria-label="Copy commit SHA"'
    assert commit in browser.get(f"/{project.path}/-/commit/{request['sha']}").text
    assert f'data-copy="{person.id}" aria-label="Copy user ID"' in browser.get(f"/{person.username}").text


def test_commands_can_be_copied(browser: Browser, make: Make, person: User) -> None:
    project = filled_project(make, person, visibility="public")
    button = 'data-copy aria-label="Copy the commands"'
    assert button in browser.get(f"/{project.path}/-/container_registry").text
    page = browser.signed_in_as(person).get("/profile/account").text
    assert (button in page, "PRIVATE-TOKEN: &lt;your token&gt;" in page) == (True, True)
