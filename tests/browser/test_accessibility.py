"""axe-core finds nothing that keeps people out, on every kind of page, in both colour schemes."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import Window
from tests.client import Api, Make, Person
from tests.conftest import ROOT_PASSWORD
from tests.making import Project, make_group, make_project

OWN = [
    "/",
    "/explore",
    "/explore/groups",
    "/explore/snippets",
    "/help",
    "/projects/new",
    "/groups/new",
    "/-/snippets",
    "/-/snippets/new",
]
OWN += ["/dashboard/issues", "/dashboard/merge_requests", "/dashboard/todos", "/search?search=a"]
OWN += ["/profile/account", "/profile/personal_access_tokens", "/profile/password/edit", "/profile/applications"]
OF_PROJECT = ["", "/-/tree/master", "/-/blob/master/tides.py", "/-/blame/master/tides.py", "/-/commits/master"]
OF_PROJECT += ["/-/commit/master", "/-/compare/master...topic", "/-/branches", "/-/tags", "/-/releases"]
OF_PROJECT += ["/-/edit/master/tides.py", "/-/issues", "/-/issues/1", "/-/issues/new", "/-/boards", "/-/labels"]
OF_PROJECT += ["/-/milestones", "/-/milestones/1", "/-/merge_requests", "/-/merge_requests/1", "/-/pipelines"]
OF_PROJECT += ["/-/merge_requests/1/diffs", "/-/merge_requests/1/diffs?view=split", "/-/merge_requests/1/commits"]
OF_PROJECT += ["/-/merge_requests/new", "/-/wikis", "/-/wikis/new", "/-/snippets", "/-/search?search=tide"]
OF_PROJECT += ["/-/edit", "/-/project_members", "/-/hooks", "/-/settings/repository", "/-/settings/integrations"]
OF_PROJECT += ["/-/settings/ci_cd", "/-/forks/new", "/-/issues/1/facts/labels", "/-/merge_requests/1/facts/time"]
OF_PROJECT += ["/-/issues/1/award_emoji", "/-/find_file/master", "/-/activity", "/-/blob/master/README.md"]
IN_THE_DARK = ["", "/-/blob/master/tides.py", "/-/issues/1", "/-/boards", "/-/merge_requests/1/diffs", "/-/edit"]
SNIPPET = [{"file_path": "a.py", "content": "x = 1"}, {"file_path": "b.md", "content": "# B\n\nmore"}]
OF_ADMIN = ["", "/users", "/users/1", "/projects", "/groups", "/jobs", "/hooks", "/application_settings"]
OF_ADMIN += ["/broadcast_messages", "/applications"]


@pytest.fixture
def project(make: Make, person: Person, api: Api) -> Project:
    """A project with something on each of its pages."""
    made = make_project(make, person, visibility="public", group=make_group(make, person, visibility="public"))
    file = {"commit_message": "Write\n\nit", "content": "def tide() -> int:\n    return 4\n"}
    for path, sent in (
        ("/repository/files/tides.py", {**file, "branch": "master"}),
        ("/repository/files/README.md", {**file, "branch": "master", "content": "# Tides\n\n## When\n\nTwice a day"}),
        ("/repository/branches", {"branch": "topic", "ref": "master"}),
        ("/repository/files/more.py", {**file, "branch": "topic"}),
        ("/repository/commits/master/comments", {"note": "Why"}),
        ("/repository/tags", {"tag_name": "v1", "ref": "master", "release_description": "First"}),
        ("/labels", {"name": "leak", "color": "#d9534f"}),
        ("/milestones", {"title": "Spring"}),
        ("/issues", {"title": "Water", "description": "- [ ] find\n\n```py\nx = 1\n```", "labels": "leak"}),
        ("/issues/1/notes", {"body": "Seen, **twice**"}),
        ("/merge_requests", {"source_branch": "topic", "target_branch": "master", "title": "Offer"}),
        ("/merge_requests/1/notes", {"body": "Good"}),
        ("/wikis", {"title": "home", "content": "# Welcome\n\nto it"}),
        ("/snippets", {"title": "Kept", "visibility": "public", "files": SNIPPET}),
        ("/hooks", {"url": "https://ci.example.org/"}),
    ):
        answer = api.post(f"{made.url}{path}", person, **sent)
        assert answer.status_code == 201, (path, answer.text)
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_keeps_anybody_out(
    open_window: Callable[..., Window], person: Person, project: Project, api: Api, scheme: str
) -> None:
    """Everything is looked for in the light; in the dark only colours differ, and one page of each kind will do."""
    window = open_window(color_scheme=scheme)
    window.open("/users/sign_in")
    found = {"/users/sign_in": window.barriers()}
    window.sign_in(person)
    group = project.path.rpartition("/")[0]
    paths = [*OWN, f"/{person.username}", f"/groups/{group}", f"/groups/{group}/-/group_members"]
    (snippet,) = api.get(f"{project.url}/snippets", person).json()
    kinds = [*(OF_PROJECT if scheme == "light" else IN_THE_DARK), f"/-/snippets/{snippet['id']}"]
    for path in [*(paths if scheme == "light" else OWN[:1]), *(f"/{project.path}{path}" for path in kinds)]:
        answer = window.page.goto(window.url + path)
        assert answer is not None
        assert answer.status == 200, path
        found[path] = window.barriers(only_colours=scheme == "dark")

    assert {path: barriers for path, barriers in found.items() if barriers} == {}


def test_nor_does_the_administration(window: Window) -> None:
    window.sign_in(Person(1, "root", "", "", ROOT_PASSWORD))
    found = {}
    for path in OF_ADMIN:
        window.open(f"/admin{path}")
        found[path] = window.barriers()

    assert {path: barriers for path, barriers in found.items() if barriers} == {}


@pytest.mark.parametrize("path", ["", "/-/issues/1", "/-/merge_requests/1/diffs", "/-/edit", "/-/boards"])
def test_a_phone_scrolls_one_way_only(
    open_window: Callable[..., Window], person: Person, project: Project, path: str
) -> None:
    window = open_window(viewport={"width": 390, "height": 800}).sign_in(person)

    page = window.open(f"/{project.path}{path}")

    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    tab = page.locator(".tabs a[aria-current]").first.bounding_box()
    assert tab is not None
    assert tab["x"] >= 0 and tab["x"] + tab["width"] <= 390, "The tab that is open is seen."


def test_nor_does_a_new_project_on_a_phone(open_window: Callable[..., Window], person: Person, make: Make) -> None:
    window = open_window(viewport={"width": 390, "height": 800}).sign_in(person)

    page = window.open(f"/{make_project(make, person).path}")

    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert window.barriers() == []
