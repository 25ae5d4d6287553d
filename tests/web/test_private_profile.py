"""Private profiles, and details that pages show."""

from collections.abc import Callable

import pytest

from tests.client import Api, Make, User
from tests.conftest import ROOT_PASSWORD
from tests.factories import make_project
from tests.web.browser import Browser

LISTS = ("projects", "starred_projects", "contributed_projects", "events")
DETAILS = {
    "job_title": "<b>Captain</b>",
    "pronouns": "they/them",
    "discord": "123456789",
    "bluesky": "did:plc:captain",
    "mastodon": "@captain@sea.example",
}


@pytest.fixture
def captain(api: Api, make: Make) -> User:
    """Return a user with a public project, a star, an event and a follower."""
    captain = make.user(bio="Sails", location="Sea")
    project = make_project(make, captain, visibility="public")
    for path in (f"{project.url}/star", f"/users/{make.root.id}/follow"):
        assert api.post(path, captain).status_code == 201
    assert api.post(f"{project.url}/issues", captain, title="Storm").status_code == 201
    return captain


def test_private_profile_shows_the_name_only(
    api: Api, make: Make, captain: User, browser: Browser, open_browser: Callable[[], Browser]
) -> None:
    url, other = f"/users/{captain.id}", make.user()
    public = api.get(url, other).json()
    for name in LISTS:
        assert api.get(f"{url}/{name}", other).json(), name
    assert "Storm" in open_browser().get(f"/{captain.username}").text

    assert api.put(url, make.root, private_profile=True).status_code == 200

    shown = api.get(url, other).json()
    assert shown == {name: public[name] for name in ("id", "username", "name", "state", "avatar_url", "web_url")}
    for name in LISTS:
        assert api.get(f"{url}/{name}", other).json() == [], name
        assert api.get(f"{url}/{name}", captain).json(), name
        assert api.get(f"{url}/{name}", make.root).json(), name
    for name in ("followers", "following"):
        assert api.get(f"{url}/{name}", other).status_code == 404
        assert api.get(f"{url}/{name}", captain).status_code == 200
    assert api.get(url, captain).json()["bio"] == "Sails"
    assert api.get(url, make.root).json()["private_profile"] is True
    hidden = open_browser().get(f"/{captain.username}")
    assert hidden.status_code == 200
    assert "private profile" in hidden.text
    assert "Storm" not in hidden.text
    assert "Sails" not in hidden.text
    assert open_browser().get(f"/{captain.username}.atom").status_code != 200
    assert browser.sign_in("root", ROOT_PASSWORD).status_code == 302
    assert "Sails" in browser.get(f"/{captain.username}").text


def test_details_are_edited_and_shown(
    api: Api, make: Make, person: User, browser: Browser, open_browser: Callable[[], Browser]
) -> None:
    own = browser.signed_in_as(person)
    fields = {f"user[{name}]": value for name, value in DETAILS.items()}
    fields |= {"user[name]": "Ada", "user[private_profile]": "1"}
    assert own.submit("/profile", "/profile", fields=fields).status_code == 302
    stored = api.get(f"/users/{person.id}", make.root).json()
    assert {name: stored[name] for name in DETAILS} == DETAILS
    assert stored["private_profile"] is True
    page = own.get(f"/{person.username}").text
    for value in DETAILS.values():
        assert value.replace("<", "&lt;").replace(">", "&gt;") in page
    assert "they/them" in own.get("/profile").text
    assert "they/them" not in open_browser().get(f"/{person.username}").text


def test_note_is_for_administrators(api: Api, make: Make, person: User, browser: Browser) -> None:
    api.put(f"/users/{person.id}", make.root, note="Knows the <harbour>")
    assert "note" not in api.get(f"/users/{person.id}", person).json()
    assert browser.sign_in("root", ROOT_PASSWORD).status_code == 302
    page = f"/admin/users/{person.id}"
    assert "Knows the &lt;harbour&gt;" in browser.get(page).text
    form = browser.form(page, page, "put")
    assert browser.post(page, data={**form.fields, "user[note]": ""}).status_code == 302
    assert api.get(f"/users/{person.id}", make.root).json()["note"] is None
