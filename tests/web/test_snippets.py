"""Files of snippets on pages."""

import pytest

from tests.client import Api, Make, User
from tests.factories import Project, changed_settings, make_project
from tests.web.browser import Browser

FILES = [
    {"file_path": "src/one.py", "content": "def one() -> int:\n    return 1  # <b>\n"},
    {"file_path": "two.md", "content": "# Two\n\nMore *words*\n"},
    {"file_path": "three.txt", "content": "".join(f"line {number}\n" for number in range(1, 502))},
]


@pytest.fixture
def project(make: Make, person: User) -> Project:
    """Return a project for snippets."""
    return make_project(make, person, visibility="public")


@pytest.mark.parametrize("shared", [False, True])
def test_files_have_highlighting_line_numbers_and_links(
    browser: Browser, api: Api, person: User, project: Project, shared: bool
) -> None:
    shelf = f"{project.url}/snippets" if shared else "/snippets"
    # A file that was shown in full before is cached, and then always shown in full.
    new = {**FILES[2], "content": f"{project.name}\n{FILES[2]['content']}"}
    made = api.post(shelf, person, title="Three", visibility="public", files=[*FILES[:2], new]).json()
    there = f"/{project.path}/-/snippets/{made['id']}" if shared else f"/-/snippets/{made['id']}"

    page = browser.get(there).text

    assert '<span class="k">def</span>' in page
    assert "&lt;b&gt;" in page
    assert '<tr id="L2"><td><a href="#L2">2</a>' in page
    assert "<em>words</em>" in page, "Markdown is shown as it is meant to look."
    assert "*words*" in browser.get(f"{there}?plain=1").text
    assert 'id="f2-L1"' in browser.get(f"{there}?plain=1").text, "No two lines have the same address."
    assert 'id="f3-L400"' in page
    assert 'id="f3-L401"' not in page, "Only the beginning, unless the whole file is requested."
    rest = browser.get(f"{there}?rest=3", headers={"hx-request": "true"}).text
    assert rest.startswith('<tbody><tr id="f3-L401">')
    assert 'id="f3-L501"' in rest
    assert 'id="f3-L501"' in browser.get(f"{there}?all=3").text


def test_raw_file_of_a_snippet(browser: Browser, api: Api, person: User) -> None:
    made = api.post("/snippets", person, title="Three", visibility="public", files=FILES).json()
    there = f"/-/snippets/{made['id']}"

    raw, saved = browser.get(f"{there}/raw/main/src/one.py"), browser.get(f"{there}/raw/main/two.md?inline=false")

    assert f'href="{there}/raw/main/src/one.py"' in browser.get(there).text
    assert (raw.text, raw.headers["content-type"]) == (FILES[0]["content"], "text/plain; charset=utf-8")
    assert raw.headers["content-disposition"].startswith('inline; filename="one.py"')
    assert saved.headers["content-disposition"].startswith('attachment; filename="two.md"')
    assert browser.get(f"{there}/raw").text == FILES[0]["content"]
    assert [browser.get(f"{there}/raw/{odd}").status_code for odd in ("main/none.py", "other/two.md")] == [404, 404]
    for file in made["files"]:
        assert browser.get(file["raw_url"]).status_code == 200, "The API names the same addresses."


def test_files_of_a_private_snippet_are_hidden(browser: Browser, api: Api, person: User) -> None:
    made = api.post("/snippets", person, title="Three", visibility="private", files=FILES).json()

    assert browser.get(f"/-/snippets/{made['id']}/raw/main/two.md").status_code == 404


def test_new_snippets_propose_the_visibility_of_the_settings(browser: Browser, make: Make, person: User) -> None:
    own = browser.signed_in_as(person)
    for level in ("internal", "public"):
        with changed_settings(make, default_snippet_visibility=level):
            assert f'value="{level}" checked' in own.get("/snippets/new").text
    assert 'value="private" checked' in own.get("/snippets/new").text
