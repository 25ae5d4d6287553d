"""Sign-in and sign-out: form fields, one error message, and rate limits."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingot.accounts.sessions.password_check import PasswordAttempt, check_password
from ingot.core.errors import Throttled, Unauthenticated
from ingot.core.settings import Settings
from ingot.web.cookies import set_cookie
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.web.browser import Browser, forms_of
from tests.web.conftest import PASSWORD


def test_the_form_has_the_documented_fields(browser: Browser) -> None:
    page = browser.get("/users/sign_in")

    (form,) = forms_of(page)
    assert (page.status_code, form.method, form.action) == (200, "post", "/users/sign_in")
    assert {"user[login]", "user[password]", "authenticity_token"} <= set(form.fields)
    assert form.fields["authenticity_token"]


@pytest.mark.parametrize("field", ["username", "email"])
def test_sign_in_by_name_or_address_ignoring_case(browser: Browser, person: User, field: str) -> None:
    assert not browser.is_signed_in()

    answer = browser.sign_in(getattr(person, field).upper(), PASSWORD)

    assert (answer.status_code, answer.headers["location"]) == (302, "/")
    assert browser.is_signed_in()


def test_the_cookie_is_hidden_from_scripts_and_other_sites(browser: Browser, person: User) -> None:
    answer = browser.sign_in(person.username, PASSWORD)

    (cookie,) = [value for value in answer.headers.get_list("set-cookie") if value.startswith("_service_session=")]
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= attributes
    assert "secure" not in attributes, "The external URL of these tests is not https."
    assert len(cookie.split(";")[0]) > 40


def test_every_failure_has_the_same_response(
    api: Api, make: Make, open_browser: Callable[[], Browser], person: User
) -> None:
    """Attack: learn from errors which accounts exist or are blocked."""
    blocked = make.user(password=PASSWORD)
    api.post(f"/users/{blocked.id}/block", make.root)
    without = make.user()
    rows = [(person.username, "wrong"), ("no-such-user", "wrong"), (blocked.username, PASSWORD)]
    rows += [(without.username, PASSWORD), (person.username, ""), ("", ""), (f"{person.username}\0", PASSWORD)]
    pages = set()

    for login, password in rows:
        browser = open_browser()
        answer = browser.sign_in(login, password)
        assert answer.status_code == 401
        assert not browser.is_signed_in()
        token = forms_of(answer)[0].fields["authenticity_token"]
        shown = answer.text.replace(token, "").replace(f'value="{login}"', 'value=""')
        pages.add(shown)
        assert "Invalid login or password." in shown
    assert len(pages) == 1


def test_ten_failures_lock_an_account(browser: Browser, make: Make, person: User) -> None:
    for _ in range(10):
        assert browser.sign_in(person.username, "wrong").status_code == 401

    stopped = browser.sign_in(person.username.upper(), PASSWORD)

    assert stopped.status_code == 429
    assert 0 < int(stopped.headers["retry-after"]) <= 600
    assert "Retry later" in stopped.text
    assert browser.signed_in_as(make.user(password=PASSWORD)).is_signed_in(), "Others are not stopped."


def test_only_failures_count(browser: Browser, open_browser: Callable[[], Browser], person: User) -> None:
    for _ in range(9):
        assert browser.sign_in(person.username, "wrong").status_code == 401
    for _ in range(5):
        assert open_browser().sign_in(person.username, PASSWORD).status_code == 302
    assert browser.sign_in(person.username, "wrong").status_code == 401
    assert browser.sign_in(person.username, PASSWORD).status_code == 429


def test_the_api_and_the_page_share_one_limit(api: Api, browser: Browser, person: User) -> None:
    for _ in range(10):
        assert api.post("/session", login=person.username, password="wrong").status_code == 401

    stopped = api.post("/session", login=person.username, password=PASSWORD)
    assert (stopped.status_code, "retry-after" in stopped.headers) == (429, True)
    assert browser.sign_in(person.username, PASSWORD).status_code == 429


def test_a_hundred_failures_lock_an_address(instance: Instance, make: Make, person: User) -> None:
    """Attack: try one password with many names; other addresses are not affected."""
    ip, other_ip = "198.51.100.7", "198.51.100.8"

    def attempt(login: str, password: str, ip: str) -> int:
        wanted = PasswordAttempt("pages", login, password, ip)
        return check_password(instance.app.database, instance.settings, wanted).id

    for number in range(100):
        with pytest.raises(Unauthenticated):
            attempt(f"{make.name('guessed')}-{number}", "wrong", ip)

    with pytest.raises(Throttled) as stopped:
        attempt(person.username, PASSWORD, ip)
    assert 0 < stopped.value.retry_after <= 600
    assert attempt(person.username, PASSWORD, other_ip) == person.id


EVIL = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example",
    "http:evil.example",
    "javascript:alert(1)",
    "evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "@evil.example",
    "",
]


@pytest.mark.parametrize("target", EVIL)
def test_redirects_after_sign_in_stay_on_this_host(browser: Browser, person: User, target: str) -> None:
    """Attack: a link to the sign-in form redirects its victim to another host."""
    page = browser.get("/users/sign_in", params={"redirect_to": target})
    (form,) = forms_of(page)
    assert form.fields.get("redirect_to", "") == ""
    sent = {**form.fields, "user[login]": person.username, "user[password]": PASSWORD, "redirect_to": target}

    answer = browser.post("/users/sign_in", data=sent)

    assert (answer.status_code, answer.headers["location"]) == (302, "/")
    again = browser.get("/users/sign_in", params={"redirect_to": target})
    assert again.headers["location"] == "/"


def test_redirect_to_the_requested_page(browser: Browser, person: User) -> None:
    sent_away = browser.get("/profile/personal_access_tokens")
    assert sent_away.status_code == 302
    path = sent_away.headers["location"]
    form = browser.form(path, "/users/sign_in")

    answer = browser.post(form.action, data={**form.fields, "user[login]": person.username, "user[password]": PASSWORD})

    assert answer.headers["location"] == "/profile/personal_access_tokens"


@pytest.mark.parametrize("path", ["//evil.example", "//evil.example/%2e%2e", "/\\evil.example", "/%5cevil.example"])
def test_unusual_paths_are_not_redirected(browser: Browser, path: str) -> None:
    answer = browser.get(f"{browser.url}{path}")

    assert answer.status_code in (400, 404)
    assert "location" not in answer.headers


@pytest.mark.parametrize("method", ["post", "delete"])
def test_sign_out_ends_the_session(instance: Instance, browser: Browser, person: User, method: str) -> None:
    browser.signed_in_as(person)
    cookie = browser.cookies["_service_session"]
    form = browser.form("/profile/account", "/users/sign_out")

    answer = browser.post("/users/sign_out", data={**form.fields, **({} if method == "post" else {"_method": method})})

    assert (answer.status_code, answer.headers["location"]) == (302, "/users/sign_in")
    with Browser(instance.url) as thief:
        thief.cookies.set("_service_session", cookie)
        assert not thief.is_signed_in()


def test_a_sign_in_is_recorded_as_activity(api: Api, make: Make, browser: Browser, person: User) -> None:
    assert api.get(f"/users/{person.id}", make.root).json()["last_activity_on"] is None

    browser.signed_in_as(person)

    now = api.get(f"/users/{person.id}", make.root).json()
    assert now["last_activity_on"] == now["current_sign_in_at"][:10]
    pages = int(api.get("/user/activities", make.root, per_page=100).headers["x-total-pages"])
    listed = [api.get("/user/activities", make.root, per_page=100, page=number + 1).text for number in range(pages)]
    assert person.username in "".join(listed)


def test_invalid_cookies_are_ignored(browser: Browser) -> None:
    for cookie in ("_service_session", "_service_session=", "_service_session=\xff", '=;;;"', "_service_visitor=x"):
        answer = browser.get("/profile/account", headers={"Cookie": cookie.encode("latin-1")})
        assert answer.status_code == 302


@pytest.mark.parametrize(
    ("external_url", "secure"), [("", False), ("http://forge.example", False), ("https://forge.example", True)]
)
def test_the_cookie_is_secure_with_https_only(external_url: str, secure: bool) -> None:
    _, value = set_cookie(Settings(external_url=external_url), "_service_session", "x")

    assert ("secure" in value.decode().lower().split("; ")) is secure


def test_an_account_has_one_limit_for_all_its_names(instance: Instance, api: Api, make: Make) -> None:
    """Attack: ten guesses by username, then more by address, or many at once."""
    user = make.user(password="correct-horse")
    names = [user.username, user.email] * 10

    def guess(login: str) -> int:
        return api.post("/session", login=login, password="wrong-guess").status_code

    with ThreadPoolExecutor(3) as crowd:  # More checks at once are refused with 503.
        answers = list(crowd.map(guess, names))

    assert answers.count(401) == 10
    assert answers.count(429) == 10
    assert api.post("/session", login=user.email, password="correct-horse").status_code == 429
