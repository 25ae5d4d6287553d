"""Security of every page: CSRF protection, content security policy, frames, content types."""

import html
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from ingot.web.all_pages import ALL_PAGES
from tests.api.issues.factories import make_issue
from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser, without_address
from tests.web.conftest import PASSWORD


@pytest.fixture
def project_issue(make: Make) -> str:
    """Return the path of a public issue."""
    project = make_project(make, visibility="public")
    return f"/{project.path}/-/issues/{make_issue(make, project, make.root, title='Open')['iid']}"


PLACES = [place for pages in ALL_PAGES for place in pages.routes]
# An unguessable link needs no CSRF token; mail programs send none.
# Nor do API clients, which send a secret of their own and for which cookies are ignored.
BY_LINK = [
    "/sent_notifications/:key/unsubscribe",
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/introspect",
    "/oauth/userinfo",
    "/oauth/register",
]
FORMS = [
    (place.method, place.path.replace(":id", "1"))
    for place in PLACES
    if place.method != "GET" and place.path not in BY_LINK
]


def test_routes_without_csrf_protection_are_listed() -> None:
    """A new page without CSRF protection must be added here."""
    assert [place.path for place in PLACES if place.csrf_exempt] == BY_LINK


@pytest.mark.parametrize("token", [None, "", "nonsense", ["a"]])
def test_a_form_without_a_csrf_token_does_nothing(api: Api, browser: Browser, person: User, token: Any) -> None:
    """Attack: another site makes the browser of a signed-in user submit a form."""
    browser.signed_in_as(person)
    before = browser.get("/profile/account").text
    data: dict[str, Any] = {}
    if token is not None:
        data["authenticity_token" if isinstance(token, str) else "authenticity_token[]"] = token
    fields = {"user[login]": person.username, "user[password]": PASSWORD, "user[current_password]": PASSWORD}
    fields |= {"user[password_confirmation]": PASSWORD, "user[email]": person.email}
    fields |= {"personal_access_token[name]": "Stolen", "personal_access_token[scopes][]": "api"}

    for method, path in FORMS:
        sent = {"_method": method.lower(), **data, **fields}
        refused = browser.post(path, data=sent, headers={"Origin": "https://evil.example"})
        assert refused.status_code == 422, path

    assert browser.get("/profile/account").text == before, "Still signed in, and with the same private token."
    assert len(api.get("/personal_access_tokens", person).json()) == 1


def test_a_csrf_token_of_another_browser_is_rejected(
    browser: Browser, open_browser: Callable[[], Browser], person: User, make: Make
) -> None:
    attacker = open_browser().signed_in_as(make.user(password=PASSWORD))
    stolen = attacker.form("/profile/account", "/profile/reset_private_token").fields
    visitor = open_browser().form("/users/sign_in", "/users/sign_in").fields
    browser.signed_in_as(person)

    for fields in (stolen, {"authenticity_token": visitor["authenticity_token"]}):
        assert browser.post("/profile/reset_private_token", data=fields).status_code == 422


def test_signing_in_needs_a_form_of_ours_too(
    browser: Browser, open_browser: Callable[[], Browser], person: User
) -> None:
    """Otherwise another site could sign its visitors in to an account of its own (login CSRF)."""
    fields = {"user[login]": person.username, "user[password]": PASSWORD}

    assert browser.post("/users/sign_in", data=fields).status_code == 422
    other = open_browser().form("/users/sign_in", "/users/sign_in").fields
    assert browser.post("/users/sign_in", data={**other, **fields}).status_code == 422
    assert not browser.is_signed_in()


def test_the_csrf_header_of_scripts_is_accepted(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    token = browser.form("/profile/account", "/users/sign_out").fields["authenticity_token"]

    assert browser.post("/profile/reset_private_token", headers={"X-CSRF-Token": token}).status_code == 302


READS = sorted(
    place.path.replace(":id", "1").replace(":file", "ingot.css") for place in PLACES if place.method == "GET"
)


@pytest.mark.parametrize("signed_in", [False, True])
def test_every_response_has_security_headers(browser: Browser, person: User, signed_in: bool) -> None:
    if signed_in:
        browser.signed_in_as(person)

    for path in [*READS, "/nothing", "/profile/nothing"]:
        answer = browser.get(path)
        assert answer.status_code in (200, 302, 404) or path.startswith("/oauth/"), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == ("SAMEORIGIN" if path == "/-/diagram_frame" else "DENY")
        assert answer.headers["referrer-policy"] == "same-origin", "Links in mails hold a secret."
        if answer.status_code != 302:
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "'unsafe-eval'" not in policy
            assert "script-src 'unsafe-inline'" not in policy
        if answer.headers.get("content-type", "").startswith("text/html"):
            stored = answer.headers["cache-control"] != "no-store"
            assert not (stored and (signed_in or path.startswith(("/users/", "/profile", "/oauth/", "/-/")))), path
            assert "<script>" not in answer.text
            assert " onclick=" not in answer.text
            assert 'style="' not in answer.text


def test_a_token_in_a_header_opens_no_page(browser: Browser, person: User) -> None:
    """Attack: use an API token of any scope for pages, which accept sessions only."""
    for options in (
        {"headers": {"PRIVATE-TOKEN": person.token}},
        {"headers": {"Authorization": f"Bearer {person.token}"}},
        {"params": {"private_token": person.token}},
    ):
        assert browser.get("/profile/account", **options).status_code == 302


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("DELETE", "/profile/account", 405),
        ("GET", "/users/sign_out", 405),
        ("GET", "/assets/..%2f..%2fapp.py", 404),
        ("GET", "/assets/%2e%2e", 404),
        ("GET", "/assets/%00", 404),
        ("GET", "/uploads/-/system/user/avatar/..%2f1/x", 404),
        ("GET", "/%ff", 404),
        ("GET", "/profile/%ff", 404),
    ],
)
def test_missing_pages_get_404(browser: Browser, method: str, path: str, status: int) -> None:
    answer = httpx.request(method, f"{browser.url}{path}")

    assert answer.status_code == status
    assert "<h1>" in answer.text


def test_error_pages_show_the_menu_to_signed_in_users(browser: Browser, person: User, make: Make) -> None:
    """Missing and hidden pages look the same."""
    hidden = make_project(make, visibility="private")
    strange = browser.get("/nobody/nothing")
    assert 'href="/users/sign_in?redirect_to=/nobody/nothing"' in strange.text
    browser.signed_in_as(person)
    seen = set()
    for path in ("/nobody/nothing", f"/{hidden.path}", f"/{hidden.path}/-/issues/1", "/-/no/such/page", "/admin"):
        page = browser.get(path)
        assert page.status_code == 404, path
        assert f"@{person.username}</span></summary>" in page.text, path
        seen.add(without_address(page.text))
    assert len(seen) == 1

    wrong = browser.post("/explore", data={})
    assert wrong.status_code == 405
    assert "Sign out" in wrong.text
    assert browser.get("/nobody?a=%ff&b[").status_code in (400, 404)


def test_unreadable_forms_are_rejected(browser: Browser) -> None:
    rows = [
        (b"a" * (2**20 + 1), "application/x-www-form-urlencoded", 413),
        (b"user%ff=%ff", "application/x-www-form-urlencoded", 400),
        (b"{", "application/json", 400),
        (b"<a/>", "application/xml", 415),
        (b"nonsense", "multipart/form-data", 400),
    ]
    for content, kind, status in rows:
        answer = browser.post("/users/sign_in", content=content, headers={"Content-Type": kind})
        assert answer.status_code == status, kind


def test_an_avatar_is_public_and_runs_nothing(api: Api, make: Make, browser: Browser) -> None:
    user = make.user()
    png = b"\x89PNG\r\n\x1a\n<script>alert(1)</script>"
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"

    kept = api.request("PUT", f"/users/{user.id}", make.root, files={"avatar": ("face.html", png, "text/html")})
    refused = api.request("PUT", f"/users/{user.id}", make.root, files={"avatar": ("face.svg", svg, "image/svg+xml")})

    assert refused.status_code == 400
    served = browser.get(kept.json()["avatar_url"])
    assert (served.status_code, served.headers["content-type"]) == (200, "image/png")
    assert served.headers["x-content-type-options"] == "nosniff"
    assert served.headers["content-security-policy"] == "default-src 'none'; sandbox"


LONG = "A text that took a while to write & <b>should</b> not be lost"


def test_an_expired_session_keeps_the_typed_text(browser: Browser, project_issue: str) -> None:
    """The error page contains the text."""
    sent = {"note[body]": LONG, "note[token]": "a secret that is never shown again"}
    ours = {"Origin": browser.url, "Referer": f"{browser.url}{project_issue}"}

    told = browser.post(f"{project_issue}/notes", data=sent, headers=ours)
    short = browser.post(f"{project_issue}/notes", data={"note[body]": "x"}, headers=ours)
    foreign = browser.post(f"{project_issue}/notes", data=sent, headers={"Origin": "https://evil.example"})

    assert told.status_code == 401
    assert html.escape(LONG, quote=False) in told.text
    assert "a secret" not in told.text
    back = f"/users/sign_in?redirect_to={quote(project_issue, safe='')}"
    assert f'href="{back}"' in told.text
    assert (short.status_code, short.headers["location"]) == (302, back), "An address of forms is no page."
    assert (foreign.status_code, foreign.headers["location"]) == (302, "/users/sign_in?redirect_to=%2F")


def test_an_expired_form_keeps_the_typed_text(browser: Browser, person: User, project_issue: str) -> None:
    browser.signed_in_as(person)
    sent = {"authenticity_token": "of another session", "note[body]": LONG}

    told = browser.post(f"{project_issue}/notes", data=sent, headers={"Origin": browser.url})
    foreign = browser.post(f"{project_issue}/notes", data=sent, headers={"Origin": "https://evil.example"})

    assert (told.status_code, foreign.status_code) == (422, 422)
    assert html.escape(LONG, quote=False) in told.text
    assert "took a while" not in foreign.text


def test_a_script_gets_401_without_a_session(browser: Browser) -> None:
    """Otherwise it would insert the sign-in page into another one."""
    asked = browser.get("/-/people", headers={"HX-Request": "true"})

    assert asked.status_code == 401


def test_only_pages_set_a_cookie(open_browser: Callable[[], Browser]) -> None:
    """Cacheable responses must not share one session between visitors."""
    for path in ("/assets/ingot.css", "/oauth/discovery/keys", "/.well-known/openid-configuration"):
        assert "set-cookie" not in open_browser().get(path).headers, path
    assert "_service_visitor" in open_browser().get("/users/sign_in").headers["set-cookie"]
