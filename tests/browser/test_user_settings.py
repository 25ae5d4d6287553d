"""User settings, tokens and applications in a real browser."""

import httpx
from playwright.sync_api import expect

from tests.browser.conftest import BrowserWindow
from tests.client import Api, Make, User
from tests.factories import make_project

OUT_OF_BAND = "urn:ietf:wg:oauth:2.0:oob"


def test_a_token_is_shown_once_and_works(window: BrowserWindow, person: User) -> None:
    page = window.set_session(person).open("/profile/personal_access_tokens")
    page.get_by_label("Name", exact=True).fill("For my script")
    page.get_by_role("checkbox", name="read_api").check()
    page.get_by_role("button", name="Create personal access token").click()

    token = page.locator("#created-personal-access-token").input_value()

    me = httpx.get(f"{window.url}/api/v4/user", headers={"PRIVATE-TOKEN": token})
    assert me.json()["username"] == person.username
    page.goto(f"{window.url}/profile/personal_access_tokens")
    expect(page.get_by_text("For my script")).to_be_visible()
    assert token not in page.content()


def test_an_application_is_authorized(window: BrowserWindow, person: User) -> None:
    """An application is created, asks for consent, and uses its token."""
    page = window.set_session(person).open("/profile/applications")
    page.locator("[name='doorkeeper_application[name]']").fill("Tide bot")
    page.locator("[name='doorkeeper_application[redirect_uri]']").fill(OUT_OF_BAND)
    page.locator("form:has([name='doorkeeper_application[name]']) button[type=submit]").click()
    number, secret = page.locator("#application_id").inner_text(), page.locator("#secret").inner_text()

    page.goto(
        f"{window.url}/oauth/authorize?client_id={number}&redirect_uri={OUT_OF_BAND}&response_type=code&scope=api&state=x"
    )
    expect(page.get_by_role("heading", name="Authorize Tide bot")).to_be_visible()
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_load_state()
    code = page.locator("code").first.inner_text()

    asked = {"grant_type": "authorization_code", "code": code, "redirect_uri": OUT_OF_BAND}
    got = httpx.post(f"{window.url}/oauth/token", data={**asked, "client_id": number, "client_secret": secret})
    assert got.status_code == 200, got.text
    bearer = {"Authorization": f"Bearer {got.json()['access_token']}"}
    assert httpx.get(f"{window.url}/api/v4/user", headers=bearer).json()["username"] == person.username


def test_settings_and_hooks_of_a_project(window: BrowserWindow, person: User, make: Make, api: Api) -> None:
    project = make_project(make, person)
    page = window.set_session(person).open(f"/{project.path}")
    page.get_by_role("link", name="Settings").last.click()
    page.get_by_label("Description", exact=True).fill("Tells the tides")
    page.get_by_role("button", name="Save").first.click()
    page.wait_for_load_state()
    assert api.get(project.url, person).json()["description"] == "Tells the tides"

    page.goto(f"{window.url}/{project.path}/-/hooks")
    page.get_by_label("URL").fill("https://ci.example.org/hook")
    page.get_by_role("button", name="Add webhook").click()

    expect(page.get_by_role("link", name="https://ci.example.org/hook")).to_be_visible()
    assert [hook["url"] for hook in api.get(f"{project.url}/hooks", person).json()] == ["https://ci.example.org/hook"]
