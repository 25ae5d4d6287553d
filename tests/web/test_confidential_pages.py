"""Confidential issues are hidden on every page, for the same callers as in the API tests."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from ingot.web.all_pages import ALL_PAGES
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Make, User
from tests.conftest import ROOT_PASSWORD
from tests.factories import Group, Project, make_group, make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

OUTSIDERS = ["nobody", "stranger", "external", "guest"]
INSIDERS = ["author", "assignee", "reporter", "administrator"]
SECRET = "unspeakable"
BELOW = "/:path/-/issues/:issue_iid"
PLACES = [place for pages in ALL_PAGES for place in pages.routes if place.path.startswith(BELOW)]


class Scene(NamedTuple):
    """Public project with a confidential issue, and a user of each role."""

    people: dict[str, User]
    group: Group
    project: Project
    issue: dict[str, Any]
    plain: dict[str, Any]
    milestone: dict[str, Any]
    board: int


@pytest.fixture(scope="module")
def scene(make: Make) -> Scene:
    """Return an issue with a label, a milestone, a link to an open issue, a mention there, and notes."""
    names = [name for name in (*OUTSIDERS, *INSIDERS) if name not in ("nobody", "administrator")]
    people = {name: make.user(external=name == "external", password=PASSWORD) for name in names}
    people["administrator"] = make.root
    group = make_group(make, visibility="public")
    levels = {people["guest"]: Level.GUEST, people["reporter"]: Level.REPORTER}
    project = make_project(make, group=group, visibility="public", members=levels)
    milestone = make_milestone(make, project)
    plain = make_issue(make, project, make.root, title="plain", labels="hush", milestone_id=milestone["id"])
    issue = make_issue(make, project, people["author"], title=SECRET, description=SECRET, confidential=True)
    base = f"{project.url}/issues/{issue['iid']}"
    sent = {"assignee_ids": [people["assignee"].id], "labels": "hush", "milestone_id": milestone["id"]}
    assert make.api.put(base, make.root, **sent).status_code == 200
    linked = {"target_project_id": project.id, "target_issue_iid": plain["iid"]}
    assert make.api.post(f"{base}/links", make.root, **linked).status_code == 201
    assert make.api.post(f"{base}/notes", make.root, body=f"{SECRET} @{people['stranger'].username}").status_code == 201
    note = {"body": f"See #{issue['iid']}"}
    assert make.api.post(f"{project.url}/issues/{plain['iid']}/notes", make.root, **note).status_code == 201
    board = make.api.get(f"{project.url}/boards", make.root).json()[0]["id"]
    label = make.api.get(f"{project.url}/labels", make.root).json()[0]["id"]
    assert make.api.post(f"{project.url}/boards/{board}/lists", make.root, label_id=label).status_code == 201
    return Scene(people, group, project, issue, plain, milestone, board)


@pytest.fixture
def enter(open_browser: Callable[[], Browser], scene: Scene) -> Callable[[str], Browser]:
    """Return a function that opens a browser for a role."""

    def enter(name: str) -> Browser:
        browser = open_browser()
        if name == "nobody":
            return browser
        person = scene.people[name]
        answer = browser.sign_in(person.username, ROOT_PASSWORD if name == "administrator" else PASSWORD)
        assert answer.status_code == 302
        return browser

    return enter


def _addresses(scene: Scene, iid: int) -> list[tuple[str, str]]:
    words = {":path": scene.project.path, ":issue_iid": str(iid), ":note_id": "1", ":discussion_id": "a" * 40}
    words |= {":issue_link_id": "1", ":child_id": "1", ":field": "labels", ":event_id": "1"}
    addresses = []
    for place in PLACES:
        path = place.path
        for word, value in words.items():
            path = path.replace(word, value)
        assert ":" not in path, "A new word of a path is named above."
        addresses.append((place.method, path))
    return addresses


@pytest.mark.parametrize("name", OUTSIDERS)
def test_pages_and_forms_respond_like_for_a_missing_issue(
    scene: Scene, enter: Callable[[str], Browser], name: str
) -> None:
    browser = enter(name)
    token = browser.token()
    fields = {"authenticity_token": token, "note[body]": "x", "issue[title]": "x", "name": "tada", "task": "0-done"}
    fields |= {"state_event": "close", "field[selected][]": "x", "to_project": scene.project.path, "target": "#1"}
    hidden, missing = _addresses(scene, scene.issue["iid"]), _addresses(scene, 999_999)

    for (method, path), (_, other) in zip(hidden, missing, strict=True):
        answers = []
        for address, iid in ((path, scene.issue["iid"]), (other, 999_999)):
            sent = {"_method": method.lower(), **fields}
            answer = browser.get(address) if method == "GET" else browser.post(address, data=sent)
            text = answer.text + answer.headers.get("location", "")
            text = text.replace(f"issues/{iid}", "it").replace(f"issues%2F{iid}", "it")
            answers.append((answer.status_code, text))
        assert answers[0] == answers[1], path
        assert answers[0][0] in ((302, 404) if name == "nobody" else (403, 404)), path
        assert SECRET not in answers[0][1]


def _lists(scene: Scene) -> list[str]:
    project, group = f"/{scene.project.path}/-", f"/groups/{scene.group.path}/-"
    narrowed = ["state=all", "label_name[]=hush", "confidential=true", f"milestone_title={scene.milestone['title']}"]
    return [
        *(f"{start}/issues?{more}" for start in (project, group) for more in narrowed),
        f"{project}/milestones/{scene.milestone['iid']}",
        f"{project}/boards/{scene.board}",
        f"{project}/issues/{scene.plain['iid']}",
    ]


@pytest.mark.parametrize("name", [*OUTSIDERS, *INSIDERS])
def test_lists_counts_and_links(scene: Scene, enter: Callable[[str], Browser], name: str) -> None:
    browser, seen = enter(name), name in INSIDERS

    for path in _lists(scene):
        page = browser.get(path)
        assert page.status_code == 200, path
        assert (SECRET in page.text) is seen, path
        assert (f'/issues/{scene.issue["iid"]}"' in page.text) is seen, path
    milestone = browser.get(f"/{scene.project.path}/-/milestones/{scene.milestone['iid']}").text
    assert f"0 of {'2 issues' if seen else '1 issue'} closed" in milestone
    labels = browser.get(f"/{scene.project.path}/-/labels").text
    assert (">2 open issues<" in labels) is (name in ("reporter", "administrator")), "As the API counts them."
    assert browser.get(f"/{scene.project.path}/-/issues/{scene.issue['iid']}").status_code == (200 if seen else 404)
    if name != "nobody":
        for path in ("/dashboard/todos", "/dashboard/issues?state=all", "/dashboard/issues?scope=created_by_me"):
            assert (SECRET in browser.get(path).text) is (seen and _concerns(name, path)), path


def _concerns(name: str, path: str) -> bool:
    """Return the roles on whose lists it is."""
    return {"assignee": "scope" not in path, "author": "created_by_me" in path}.get(name, False)
