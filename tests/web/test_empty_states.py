"""Empty pages show the next step."""

from collections.abc import Callable
from html import unescape
from types import SimpleNamespace

import pytest

from ingot.core.db.clocks import wall_clock
from ingot.core.db.paging import Listing, Page
from ingot.core.http.request import Origin
from ingot.web.page_routes import PageHeaders, PageRequest
from ingot.web.template_environment import template_environment
from tests.client import Api, Make, User
from tests.factories import Project, make_project
from tests.web.browser import Browser


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return an empty project."""
    return make_project(make, person, visibility="public")


def test_a_missing_wiki_page_can_be_created(
    browser: Browser, open_browser: Callable[[], Browser], person: User, project: Project
) -> None:
    """Links in a wiki may point to pages that do not exist yet."""
    missing = f"/{project.path}/-/wikis/How-to-moor"
    nobody = open_browser().get(missing)
    assert (nobody.status_code, "<form method" in nobody.text.partition("<main")[2]) == (404, False)
    assert open_browser().get(f"/{project.path}/-/wikis/new").status_code == 404
    browser.signed_in_as(person)

    shown = browser.get(missing)
    assert (shown.status_code, "This page does not exist yet" in shown.text) == (404, True)
    written = browser.post(
        f"/{project.path}/-/wikis",
        data={"authenticity_token": browser.token(), "wiki[title]": "How to moor", "wiki[content]": "With ropes."},
    )
    assert written.headers["location"] == missing
    assert "With ropes." in browser.get(missing).text


@pytest.mark.parametrize(
    ("search", "topic", "text"),
    [
        ("", "", "No public projects"),
        ("tides", "", "matches your search."),
        ("", "sea", "has this topic."),
        ("tides", "sea", "matches your search and this topic."),
    ],
)
def test_an_empty_list_of_projects_names_its_filters(search: str, topic: str, text: str) -> None:
    template = template_environment(wall_clock).get_template("explore/projects.html")
    listing: Listing[object] = Listing([], Page(1, 20), 0)
    filters = {"search": search, "topic": topic, "orders": {}, "order": ""}
    page = PageRequest(Origin("http://localhost", "http://localhost", "127.0.0.1", ""), "/explore", {}, {}, {})
    visit = SimpleNamespace(
        request=page, headers=PageHeaders(), viewer=SimpleNamespace(csrf="", two_factor_due_at=None)
    )

    layout: dict[str, object] = {"user": None, "broadcasts": [], "silent": False, "to_do": 0, "notice": ""}
    shown = template.render(visit=visit, projects=listing, **layout, **filters)

    assert text in shown
    assert ("matches" in shown) is bool(search)


def test_an_empty_project_has_no_contributors(browser: Browser, project: Project) -> None:
    assert browser.get(f"/{project.path}/-/graphs").headers["location"] == f"/{project.path}"


def test_a_board_without_lists_explains_how_to_add_one(
    browser: Browser, open_browser: Callable[[], Browser], person: User, project: Project, api: Api
) -> None:
    page = f"/{project.path}/-/boards"
    browser.signed_in_as(person)

    assert "Lists are based on labels" in browser.get(page, follow_redirects=True).text
    label = api.post(f"{project.url}/labels", person, name="Doing", color="#123456").json()["id"]
    assert "Add a list under “Edit board”" in unescape(browser.get(page, follow_redirects=True).text)
    assert "Edit board" not in open_browser().get(page, follow_redirects=True).text
    board = api.get(f"{project.url}/boards", person).json()[0]["id"]
    assert api.post(f"{project.url}/boards/{board}/lists", person, label_id=label).status_code == 201
    assert "Add a list under" not in browser.get(page, follow_redirects=True).text


def test_a_wrong_password_keeps_the_username(browser: Browser, person: User) -> None:
    wrong = browser.sign_in(person.username, "wrong").text

    assert ('autocomplete="current-password" autofocus' in wrong, f'value="{person.username}"' in wrong) == (True, True)
    assert 'spellcheck="false" autofocus' in browser.get("/users/sign_in").text
