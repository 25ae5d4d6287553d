"""Missing pages: the way to sign in, the frame of the project, and addresses that forms leave in the browser."""

import httpx
import pytest

from tests.api.issues.factories import make_issue
from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD


def test_visitors_of_hidden_and_missing_pages_can_sign_in_and_return(browser: Browser, make: Make) -> None:
    owner = make.user(password=PASSWORD)
    hidden = make_project(make, owner, visibility="private")
    browser.get("/explore")
    pages = {path: browser.get(path) for path in (f"/{hidden.path}", f"/{hidden.path}x")}
    texts = {page.text.replace(path, "") for path, page in pages.items()}
    assert len(texts) == 1 and {page.status_code for page in pages.values()} == {404}
    link = f"/users/sign_in?redirect_to=/{hidden.path}"
    assert pages[f"/{hidden.path}"].text.count(f'href="{link}"') == 2
    form = browser.form(link, "/users/sign_in")
    fields = form.fields | {"user[login]": owner.username, "user[password]": PASSWORD}
    assert browser.post("/users/sign_in", data=fields).headers["location"] == f"/{hidden.path}"


def test_a_missing_page_of_a_visible_project_has_its_frame(browser: Browser, make: Make, person: User) -> None:
    public = make_project(make, person, visibility="public")
    for path in ("/-/issues/99", "/-/commit/0123456", "/-/merge_requests/7/diffs"):
        page = browser.get(f"/{public.path}{path}")
        assert page.status_code == 404 and 'aria-label="Project"' in page.text, path
    private = make_project(make, person, visibility="private")
    page = browser.get(f"/{private.path}/-/issues/99")
    assert page.status_code == 404 and 'aria-label="Project"' not in page.text


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/-/issues/1/notes", "/-/issues/1"),
        ("/-/issues/1/discussions/abc/notes/3", "/-/issues/1"),
        ("/-/merge_requests/1/merge", "/-/merge_requests/1"),
        ("/-/settings/protected_branches", "/-/settings"),
        ("/-/hooks/3/test", "/-/hooks"),
    ],
)
def test_addresses_of_forms_lead_to_their_pages(
    browser: Browser, make: Make, person: User, address: str, page: str
) -> None:
    assert browser.get(f"/no/such{address}").headers["location"] == f"/no/such{page}"


@pytest.mark.parametrize("page", ["/-/issues/1/notes", "/issues/1/notes", "/merge_requests/1/merge", "/labels/1"])
def test_addresses_with_two_slashes_lead_to_no_other_host(api: Api, page: str) -> None:
    for host in ("//host.example/path", "///host.example", "/\\host.example/path"):
        answer = httpx.get(f"{api.url}{host}{page}")
        location = answer.headers.get("location", "/")
        assert location.startswith("/") and location[1:2] not in ("/", "\\"), (host, location)


def test_addresses_of_forms_for_accounts_lead_to_their_pages(browser: Browser) -> None:
    for address, page in (
        ("/users", "/users/sign_up"),
        ("/users/password", "/users/password/new"),
        ("/projects", "/projects/new"),
        ("/profile/reset_private_token", "/profile/account"),
        ("/profile/emails/3/confirm", "/profile/emails"),
    ):
        answer = browser.get(address)
        assert (answer.status_code, answer.headers["location"]) == (302, page)


def test_a_rejected_comment_can_be_reloaded(browser: Browser, make: Make, api: Api, person: User) -> None:
    project = make_project(make, person)
    issue = make_issue(make, project, person, title="Reload")
    browser.signed_in_as(person)
    path = f"/{project.path}/-/issues/{issue['iid']}"
    form = browser.form(path, f"{path}/notes")
    rejected = browser.post(form.action, data=form.fields | {"note[note]": ""})
    assert rejected.status_code == 422
    reloaded = browser.get(form.action)
    assert (reloaded.status_code, reloaded.headers["location"]) == (302, path)
