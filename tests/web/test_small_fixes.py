"""Broadcast messages that are dismissed, sessions, statuses, recovery codes and sizes on pages."""

import pytest

from ingot.web.profile.user_agents import describe_user_agent
from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128 on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 Edg/126.0",
            "Edge 126 on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605 Version/17.5 Mobile Safari/604.1",
            "Safari 17 on iOS",
        ),
        (
            "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML) Chrome/126.0 Mobile Safari/537.36",
            "Chrome 126 on Android",
        ),
        ("curl/8.5.0", "curl 8"),
        ("something else", "something else"),
        ("", "Unknown browser"),
        (None, "Unknown browser"),
    ],
)
def test_sessions_name_browsers_and_systems(header: str | None, shown: str) -> None:
    assert describe_user_agent(header) == shown


def test_a_broadcast_message_is_dismissed_in_one_browser(browser: Browser, api: Api, make: Make, person: User) -> None:
    admin = make.root
    sent = api.post("/broadcast_messages", admin, message="Dismiss me, please")
    assert sent.status_code == 201, sent.text
    number = sent.json()["id"]
    try:
        browser.get("/explore")
        address = f"/-/broadcast_messages/{number}/dismiss"
        form = browser.form("/explore", address)
        dismissed = browser.post(address, data=form.fields)
        assert (dismissed.status_code, dismissed.headers["location"]) == (302, "/explore")
        assert "Dismiss me, please" not in browser.get("/explore").text
        browser.cookies.delete("_service_dismissed")
        assert "Dismiss me, please" in browser.get("/explore").text
        browser.cookies.set("_service_dismissed", "x..99999999999999999999999.-1")
        assert "Dismiss me, please" in browser.get("/explore").text
    finally:
        api.delete(f"/broadcast_messages/{number}", admin)


def test_profiles_show_the_status(browser: Browser, api: Api, person: User) -> None:
    assert "Testing" not in browser.get(f"/{person.username}").text
    api.put("/user/status", person, emoji="coffee", message="Testing <b>", availability="busy")
    page = browser.get(f"/{person.username}").text
    assert "☕" in page and "Testing &lt;b&gt;" in page and ">Busy</span>" in page


def test_the_private_token_is_hidden_until_it_is_shown(browser: Browser, person: User) -> None:
    page = browser.signed_in_as(person).get("/profile/account").text
    assert '<input id="private_token" type="password" value="' in page


def test_pipelines_of_the_page_and_of_the_api_name_their_source(
    browser: Browser, api: Api, make: Make, person: User
) -> None:
    project = make_project(make, person)
    commit = {"branch": "master", "commit_message": "Add", "content": "job:\n  script: [a]\n  when: manual\n"}
    assert api.post(f"{project.url}/repository/files/.gitlab-ci.yml", person, **commit).status_code == 201
    assert api.post(f"{project.url}/pipeline", person, ref="master").json()["source"] == "api"
    browser.signed_in_as(person)
    path = f"/{project.path}/-/pipelines"
    form = browser.form(f"{path}/new", path)
    assert browser.post(path, data=form.fields | {"ref": "master"}).status_code == 302
    assert api.get(f"{project.url}/pipelines", person).json()[0]["source"] == "web"


def test_the_first_lines_of_a_long_file_are_shown(browser: Browser, api: Api, make: Make, person: User) -> None:
    project = make_project(make, person, visibility="public")
    text = "".join(f"line {number} {'x' * 60}\n" for number in range(18_000))
    assert len(text) > 1_200_000
    content = {"branch": "master", "commit_message": "Add", "content": text}
    assert api.post(f"{project.url}/repository/files/long.txt", person, **content).status_code == 201
    page = browser.get(f"/{project.path}/-/blob/master/long.txt").text
    assert "line 0 " in page and "line 17999 " not in page and len(page) < 200_000
    rest = browser.get(f"/{project.path}/-/blob/master/long.txt?rest", headers={"HX-Request": "true"}).text
    assert "line 17999 " in rest


def test_sizes_have_the_decimal_separator_of_the_language(browser: Browser, api: Api, make: Make, person: User) -> None:
    project = make_project(make, person, visibility="public")
    content = {"branch": "master", "commit_message": "Add", "content": "a" * 1_600}
    api.post(f"{project.url}/repository/files/a.txt", person, **content)
    path = f"/{project.path}/-/blob/master/a.txt"
    assert "1.6 KiB" in browser.get(path).text
    assert "1,6 KiB" in browser.get(path, headers={"Accept-Language": "de"}).text
