"""Pages of imports and placeholder users."""

from tests.client import User
from tests.web.browser import Browser

SOURCE = {
    "import[source_type]": "gitlab",
    "import[url]": "https://source.example",
    "import[access_token]": "a-secret-token",
    "import[path]": "team/app",
}


def test_start_and_cancel_an_import(browser: Browser, person: User) -> None:
    """The form keeps what was typed; a started import has a page with its state, and can be canceled."""
    browser.signed_in_as(person)
    assert "Import project" in browser.get("/projects/new").text
    sources = browser.get("/import/new")
    assert "Gitea or Forgejo" in sources.text
    refused = browser.submit("/import/new?source=gitlab", "/import/plan", fields={**SOURCE, "import[url]": "ftp://a"})
    assert refused.status_code == 422
    assert 'value="team/app"' in refused.text

    form = browser.form("/import/new?source=gitlab", "/import/plan")
    started = browser.post("/import", data={**form.fields, **SOURCE})
    assert started.status_code == 302, started.text
    page = browser.get(started.headers["location"])
    assert "team/app" in page.text
    assert "a-secret-token" not in page.text
    assert started.headers["location"] in browser.get("/import").text
    canceled = browser.submit(started.headers["location"], f"{started.headers['location']}/cancel")
    assert canceled.status_code == 302
    assert "canceled" in browser.get(started.headers["location"]).text


def test_other_pages(browser: Browser, person: User) -> None:
    """Users without placeholders see none; an archive is required; foreign imports do not exist."""
    browser.signed_in_as(person)
    assert "No placeholder users" in browser.get("/import/users").text
    missing = browser.submit("/import/archive", "/import/archive", fields={"import[path]": "kept"})
    assert missing.status_code == 422
    group = {"import[path]": "kept", "import[name]": "Kept"}
    missing = browser.submit("/import/group", "/import/group", fields=group)
    assert missing.status_code == 422 and 'value="Kept"' in missing.text
    unknown = {**SOURCE, "import[source_type]": "svn"}
    refused = browser.submit("/import/new?source=gitlab", "/import/plan", fields=unknown)
    assert refused.status_code == 422 and 'value="team/app"' in refused.text
    assert browser.get("/import/999999").status_code == 404
