"""Administration pages, and their permissions."""

from collections.abc import Callable

import pytest

from ingot.core.db.connection import Connection
from ingot.core.jobs.admin import list_jobs
from ingot.core.jobs.queue import enqueue
from ingot.core.jobs.tables import jobs
from tests.client import Api, Make, User
from tests.conftest import ROOT_PASSWORD, Instance
from tests.factories import make_project
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

READS = ["", "/users", "/users/new", "/projects", "/groups", "/jobs", "/hooks", "/application_settings/sizes"]
READS += ["/broadcast_messages", "/users/1"]


@pytest.fixture
def admin(browser: Browser) -> Browser:
    """Return Root's browser."""
    assert browser.sign_in("root", ROOT_PASSWORD).status_code == 302
    return browser


@pytest.mark.parametrize("path", READS)
def test_administration_is_for_administrators(
    admin: Browser, open_browser: Callable[[], Browser], person: User, path: str
) -> None:
    assert admin.get(f"/admin{path}").status_code == 200
    assert open_browser().signed_in_as(person).get(f"/admin{path}").status_code == 404
    assert open_browser().get(f"/admin{path}").status_code == 302


def test_life_cycle_of_a_user(admin: Browser, api: Api, make: Make, open_browser: Callable[[], Browser]) -> None:
    name = make.name("clerk")
    typed = {"user[name]": "<b>Clerk</b>", "user[username]": name, "user[email]": f"{name}@example.org"}
    typed["user[password]"] = PASSWORD

    refused = admin.submit("/admin/users/new", "/admin/users", fields={**typed, "user[email]": "no address"})
    made = admin.submit("/admin/users/new", "/admin/users", fields=typed)

    assert refused.status_code == 422
    assert name in refused.text
    assert made.status_code == 302, made.text
    there = made.headers["location"]
    assert "<b>Clerk</b>" not in admin.get(there).text
    assert open_browser().sign_in(name, PASSWORD).status_code == 302
    assert admin.submit(there, f"{there}/block").status_code == 302
    assert open_browser().sign_in(name, PASSWORD).status_code == 401
    assert admin.submit(there, f"{there}/unblock").status_code == 302
    token = admin.form(there, f"{there}/block").fields["authenticity_token"]
    change = {**typed, "authenticity_token": token, "_method": "put", "user[name]": "Chief", "user[password]": ""}
    assert admin.post(there, data=change).status_code == 302
    assert api.get(f"/users?username={name}", make.root).json()[0]["name"] == "Chief"
    assert name in admin.get("/admin/users", params={"search": name}).text
    assert admin.post(there, data={"authenticity_token": token, "_method": "delete"}).status_code == 302


def test_settings_take_effect_at_once(
    admin: Browser, api: Api, make: Make, open_browser: Callable[[], Browser]
) -> None:
    page = "/admin/application_settings/sign_in_and_sign_up"
    form = admin.form(page, page)
    before = api.get("/application/settings", make.root).json()
    typed = {**form.fields, "settings[signin_enabled]": "1", "settings[sign_in_text]": "Ask the harbour <master>"}
    typed["settings[user_oauth_applications]"] = "1"

    assert admin.post(page, data={**typed, "settings[session_expire_delay]": "soon"}).status_code == 422
    assert admin.post(page, data=typed).status_code == 302

    assert "Ask the harbour &lt;master&gt;" in open_browser().get("/users/sign_in").text
    assert api.get("/application/settings", make.root).json()["signup_enabled"] is False
    assert api.put("/application/settings", make.root, **before).status_code == 200


def test_broadcast_messages(admin: Browser) -> None:
    page = "/admin/broadcast_messages"
    assert admin.submit(page, page, fields={"broadcast_message[message]": "The tide <is> high"}).status_code == 302
    shown = admin.get("/explore").text
    assert "The tide &lt;is&gt; high" in shown
    number = admin.get(page).text.split(f'action="{page}/')[1].split('"')[0]
    assert admin.submit(page, f"{page}/{number}", fields={"_method": "delete"}).status_code == 302


def test_dead_jobs_are_retried_or_dropped(admin: Browser, instance: Instance) -> None:
    def kill_job(db: Connection) -> list[int]:
        numbers = [enqueue(db, "no such kind", {}) for _ in range(2)]
        for number in numbers:
            db.update(jobs, number, state="dead")
        return numbers

    numbers = instance.app.database.write(kill_job)
    again, gone = (f"/admin/jobs/{number}" for number in numbers)
    assert admin.get("/admin/jobs").text.count("no such kind") == 2
    assert admin.submit("/admin/jobs", f"{again}/retry").status_code == 302
    assert admin.submit("/admin/jobs", gone, fields={"_method": "delete"}).status_code == 302
    kept = instance.app.database.read(lambda db: list_jobs(db, None, 10_000)[0])
    assert [(job.id, job.state) for job in kept if job.id in numbers] == [(numbers[0], "waiting")]
    assert gone not in admin.get("/admin/jobs").text


@pytest.mark.parametrize("kind", ["project", "system"])
def test_life_cycle_of_a_system_hook(
    admin: Browser, open_browser: Callable[[], Browser], person: User, make: Make, kind: str
) -> None:
    project = make_project(make, person, visibility="public")
    shelf = f"/{project.path}/-/hooks" if kind == "project" else "/admin/hooks"
    title = "Webhooks" if kind == "project" else "System hooks"
    browser = open_browser().signed_in_as(person) if kind == "project" else admin
    typed = {"hook[url]": "https://ci.example.org/x", "hook[token]": "a secret", "hook[push_events]": "1"}

    refused = browser.submit(shelf, shelf, fields={**typed, "hook[url]": "ftp://<x>"})
    made = browser.submit(shelf, shelf, fields=typed)

    assert refused.status_code == 422
    assert "ftp://&lt;x&gt;" in refused.text
    assert made.status_code == 302
    number = browser.get(shelf).text.split(f'href="{shelf}/')[1].split("/")[0]
    there = f"{shelf}/{number}"
    page = browser.get(f"{there}/edit")
    assert page.status_code == 200
    assert "a secret" not in page.text
    changed = {**typed, "_method": "put", "hook[url]": "https://other.example.org/"}
    token = browser.form(f"{there}/edit", f"{there}/test").fields["authenticity_token"]
    assert browser.post(there, data={**changed, "authenticity_token": token}).status_code == 302
    listed = browser.get(shelf).text
    assert ("other.example.org" in listed, f"<h1>{title}</h1>" in listed) == (True, True)
    if kind == "project":
        make.api.put(f"{project.url}/hooks/{number}", person, url="https://other.example.org/", name="Build & test")
        for address in (shelf, f"{there}/edit"):
            named = browser.get(address).text
            assert ("Build &amp; test" in named, "other.example.org" in named) == (True, True), address
    stranger = open_browser().signed_in_as(make.user(password=PASSWORD))
    assert stranger.get(shelf).status_code == 404
    assert stranger.get(f"{there}/edit").status_code == 404
    assert browser.post(there, data={"_method": "delete", "authenticity_token": token}).status_code == 302
    assert "other.example.org" not in browser.get(shelf).text


def test_the_ghost_user_has_no_actions(admin: Browser, api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner)

    pages = ("/projects/new", f"/{project.path}/-/forks/new", f"/{project.path}/-/edit")

    assert "ghost" in [namespace["path"] for namespace in api.get("/namespaces?search=ghost", make.root).json()]
    for page in pages:
        text = admin.get(page).text
        assert 'value="ghost"' not in text and "ghost</option>" not in text, page
        assert 'value="root"' in text or ">root</option>" in text, page
