"""Terms of service that users must accept, on pages, in the API and for git."""

import httpx

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import changed_settings, make_project
from tests.instance_settings import PATH
from tests.web.browser import Browser

TERMS = "/-/users/terms"


def _git_status(api: Api, path: str, user: User) -> int:
    url = f"{api.url}/{path}.git/info/refs?service=git-upload-pack"
    return httpx.get(url, auth=(user.username, user.token)).status_code


def test_terms_are_accepted_before_anything_else(browser: Browser, person: User, api: Api, make: Make) -> None:
    project = make_project(make, visibility="private", members={person: Level.DEVELOPER})
    browser.signed_in_as(person)
    with changed_settings(make, terms="Be **kind**.", enforce_terms=True):
        refused = api.get("/user", person)
        assert (refused.status_code, "Terms of Service" in refused.text) == (403, True)
        assert _git_status(api, project.path, person) == 403
        page = browser.get("/profile/account")
        assert (page.status_code, page.headers["location"]) == (302, f"{TERMS}?redirect_to=%2Fprofile%2Faccount")
        assert api.get("/user", make.root).status_code == 200, "Who sets the terms has accepted them."
        shown = browser.get(page.headers["location"])
        assert "Be <strong>kind</strong>." in shown.text
        accepted = browser.submit(page.headers["location"], f"{TERMS}/accept")
        assert accepted.headers["location"] == "/profile/account"
        assert browser.is_signed_in()
        assert api.get("/user", person).status_code == 200
        assert _git_status(api, project.path, person) == 200
        with changed_settings(make, terms="Be kinder."):
            assert api.get("/user", person).status_code == 403, "They have changed."
            declined = browser.submit(TERMS, f"{TERMS}/decline")
            assert declined.headers["location"] == "/users/sign_in"
            assert not browser.is_signed_in()


def test_anyone_reads_the_terms(browser: Browser, api: Api, make: Make) -> None:
    assert browser.get(TERMS).status_code == 404
    refused = api.put(PATH, make.root, enforce_terms=True)
    assert (refused.status_code, api.get(PATH, make.root).json()["enforce_terms"]) == (400, False)
    with changed_settings(make, terms="Be kind."):
        assert "Be kind." in browser.get(TERMS).text
        assert "Accept terms" not in browser.get(TERMS).text


def test_bots_need_not_accept_terms(api: Api, make: Make) -> None:
    project = make_project(make)
    sent = {"name": "bot", "scopes": ["api"], "expires_at": "2099-01-01"}
    token = api.post(f"{project.url}/access_tokens", make.root, **sent).json()["token"]
    with changed_settings(make, terms="Be kind.", enforce_terms=True):
        assert api.get(project.url, make.root.with_token(token)).status_code == 200
