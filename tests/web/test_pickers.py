"""Choices of people, labels and milestones in forms."""

from collections.abc import Callable
from urllib.parse import quote

from tests.client import Make, User
from tests.factories import make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


def test_choices_are_found_by_name_and_stay_hidden_from_others(
    make: Make, person: User, open_browser: Callable[[], Browser]
) -> None:
    project = make_project(make, person, visibility="private")
    api = make.api
    for name in ("needs <work>", "bug"):
        api.post(f"{project.url}/labels", person, name=name, color="#aa0000")
    for title in ("Spring", "Autumn"):
        api.post(f"{project.url}/milestones", person, title=title)
    browser = open_browser().signed_in_as(person)
    url = f"/{project.path}/-/choices"

    def found(kind: str, search: str, field: str) -> str:
        answer = browser.get(f"{url}/{kind}?search={quote(search)}&name={quote(field)}")
        assert answer.status_code == 200
        return answer.text

    labels = found("labels", "needs", "issue[labels][]")
    assert 'name="issue[labels][]" value="needs &lt;work&gt;"' in labels and "bug" not in labels
    milestones = found("milestones", "spr", "issue[milestone_id]")
    assert 'type="radio" name="issue[milestone_id]"' in milestones and "Autumn" not in milestones
    people = found("people", person.username, "merge_request[reviewer_ids][]")
    assert f'value="{person.id}"' in people and f"@{person.username}" in people
    assert "No matching results." in found("people", "nobody-at-all", "issue[assignee_ids][]")
    for query in ("", "?name=x", "?name=issue[a]%22", "?name[]=issue[a]"):
        assert browser.get(f"{url}/people{query}").status_code == 404
    assert browser.get(f"{url}/secrets?name=issue[a]").status_code == 404
    stranger = open_browser().signed_in_as(make.user(password=PASSWORD))
    assert stranger.get(f"{url}/people?name=issue[a]").status_code == 404
    assert open_browser().get(f"{url}/people?name=issue[a]", headers={"HX-Request": "true"}).status_code == 401


def test_forms_keep_what_was_chosen(browser: Browser, make: Make, person: User) -> None:
    project = make_project(make, person)
    api = make.api
    api.post(f"{project.url}/labels", person, name="bug", color="#aa0000")
    milestone = api.post(f"{project.url}/milestones", person, title="Spring").json()
    browser.signed_in_as(person)
    fields = {
        "issue[title]": "Rust",
        "issue[assignee_ids][]": str(person.id),
        "issue[labels][]": "bug",
        "issue[milestone_id]": str(milestone["id"]),
    }
    made = browser.submit(f"/{project.path}/-/issues/new", f"/{project.path}/-/issues", fields=fields)
    assert made.status_code == 302, made.text
    issue = api.get(f"{project.url}/issues/1", person).json()
    assert [user["id"] for user in issue["assignees"]] == [person.id]
    assert (issue["labels"], issue["milestone"]["title"]) == (["bug"], "Spring")
    page = browser.get(f"/{project.path}/-/issues/1/edit").text
    for value in (person.id, "bug", milestone["id"]):
        assert f'value="{value}" checked' in page
