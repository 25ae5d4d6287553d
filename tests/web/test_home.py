"""Start pages, and a project from creation to its first push."""

import re

import httpx
import pytest

from tests.client import Api, Make, User
from tests.factories import make_project
from tests.web.browser import Browser


def test_create_a_project(browser: Browser, person: User, api: Api) -> None:
    browser.signed_in_as(person)

    answer = browser.submit("/projects/new", "/projects", fields={"project[name]": "Tide tables"})

    assert (answer.status_code, answer.headers["location"]) == (302, f"/{person.username}/tide-tables")
    home = browser.get(answer.headers["location"])
    assert home.status_code == 200
    assert "git push -u origin master" in home.text, "The way to a first push is shown."
    assert "Tide tables" in browser.get("/").text


def test_rejected_input_stays_in_the_form(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)

    fields = {"project[name]": "-<b>x</b>", "project[description]": "A long story"}
    answer = browser.submit("/projects/new", "/projects", fields=fields)

    assert answer.status_code == 422
    assert "A long story" in answer.text
    assert 'value="-&lt;b&gt;x&lt;/b&gt;"' in answer.text
    assert 'role="alert"' in answer.text


def test_a_project_is_initialized_with_files(browser: Browser, person: User, api: Api) -> None:
    browser.signed_in_as(person)
    chosen = {"project[initialize_with_readme]": "true", "project[gitignore]": "Python", "project[licence]": "mit"}
    refused = browser.submit("/projects/new", "/projects", fields={**chosen, "project[name]": "-"})
    assert refused.status_code == 422
    assert 'value="true" checked' in refused.text
    assert '<option value="Python" selected>' in refused.text
    unknown = browser.submit(
        "/projects/new", "/projects", fields={**chosen, "project[name]": "X", "project[licence]": "../x"}
    )
    assert unknown.status_code == 422

    answer = browser.submit("/projects/new", "/projects", fields={**chosen, "project[name]": "Moon phases"})

    path = f"{person.username}/moon-phases"
    assert answer.headers["location"] == f"/{path}"
    tree = api.get(f"/projects/{path.replace('/', '%2F')}/repository/tree", person).json()
    assert sorted(entry["name"] for entry in tree) == [".gitignore", "LICENSE", "README.md"]
    assert api.get(f"/projects/{person.username}%2Fx", person).status_code == 404, "The project was not created."
    bare = browser.submit("/projects/new", "/projects", fields={"project[name]": "Stars", "project[licence]": "mit"})
    assert "LICENSE" in browser.get(bare.headers["location"]).text


@pytest.mark.parametrize(("visibility", "status"), [("public", 200), ("internal", 404), ("private", 404)])
def test_anonymous_visitors_find_public_projects(
    browser: Browser, make: Make, person: User, visibility: str, status: int
) -> None:
    project = make_project(make, person, visibility=visibility)

    assert browser.get(f"/{project.path}").status_code == status
    found = browser.get(f"/explore?search={project.name}").text
    assert (f'href="/{project.path}"' in found) == (status == 200)


def test_a_readme_is_shown(browser: Browser, make: Make, api: Api, person: User) -> None:
    project = make_project(make, person, visibility="public")
    content = {
        "branch": "master",
        "commit_message": "Say hello",
        "content": "# Hello\n\n<script>alert(1)</script>\n\n**you**",
    }
    api.post(f"/projects/{project.id}/repository/files/README.md", person, **content)

    home = browser.get(f"/{project.path}").text

    assert "<strong>you</strong>" in home
    assert "Say hello" in home
    assert "<script>alert" not in home


def test_the_color_scheme_is_stored(browser: Browser) -> None:
    answer = browser.submit("/explore", "/-/theme", theme="dark")

    assert answer.headers["location"] == "/explore"
    assert '<html lang="en" data-theme="dark">' in browser.get("/explore").text


def test_a_text_is_previewed(browser: Browser, person: User) -> None:
    browser.signed_in_as(person)
    token = browser.form("/projects/new", "/projects").fields["authenticity_token"]
    sent = {"authenticity_token": token, "field": "issue[description]", "issue[description]": "*so*", "project": ""}

    assert "<em>so</em>" in browser.post("/-/preview", data=sent).text
    assert browser.post("/-/preview", data={**sent, "field": "a[b][c]"}).status_code in (200, 404)


def test_static_files_are_cacheable(browser: Browser) -> None:
    page = browser.get("/explore").text
    address = page.split('rel="stylesheet" href="')[1].split('"')[0]

    assert "immutable" in browser.get(address).headers["cache-control"]
    assert browser.get("/assets/..%2Fdoor.py").status_code == 404
    icon = browser.get("/favicon.ico")
    assert (icon.headers["content-type"], "public" in icon.headers["cache-control"]) == ("image/svg+xml", True)


def test_size_of_a_page_without_content(browser: Browser, person: User, make: Make) -> None:
    """At most 57 kB of HTML, stylesheet, scripts and icons, compressed."""
    project = make_project(make, person, visibility="public")
    browser.signed_in_as(person)

    for path in (f"/{project.path}", f"/{project.path}/-/issues/new", f"/{project.path}/-/merge_requests", "/"):
        page = browser.get(path)
        files = set(re.findall(r'(?:href|src)="(/assets/[^"]+\.(?:css|js|svg)\?v=[^"#]+)', page.text))
        assert len(files) >= 5, path
        page_bytes = int(page.headers["content-length"])
        assert page_bytes + sum(_transferred(browser, file) for file in files) < 57_000, path


def _transferred(browser: Browser, path: str) -> int:
    with httpx.stream("GET", f"{browser.url}{path}", headers={"Accept-Encoding": "gzip"}) as answer:
        return len(b"".join(answer.iter_raw()))
