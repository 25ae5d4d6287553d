"""Code search on pages: grouped by file, with marked lines, in all projects that the user may see."""

import re
import shutil

from sqlalchemy import bindparam, select

from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import projects
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.web.browser import Browser

_KEY = select(projects.c.repository_key).where(projects.c.id == bindparam("project"))


def _write(make: Make, owner: User, project: Project, path: str, content: str) -> None:
    sent = {"branch": "master", "commit_message": "Add", "content": content}
    assert make.api.post(f"{project.url}/repository/files/{path}", owner, **sent).status_code == 201


def test_code_of_all_visible_projects(browser: Browser, make: Make, person: User) -> None:
    other = make.user()
    own, public = make_project(make, person), make_project(make, other, visibility="public")
    hidden = make_project(make, other, visibility="private")
    members_only = make_project(make, other, visibility="public", repository_access_level="private")
    text = "one\ntwo\nneedle <b> NEEDLE\nfour\n" + "x\n" * 20 + "needle again\n"
    for owner, project in ((person, own), (other, public), (other, hidden), (other, members_only)):
        _write(make, owner, project, "a.py", text)

    page = browser.signed_in_as(person).get("/search?scope=blobs&search=needle").text

    shown = re.findall(r'<h2 class="file-bar"><a href="/([^"]+)/-/blob/', page)
    assert sorted(shown) == sorted([own.path, public.path]), "One heading for each file."
    plain = re.sub(r"</?span[^>]*>", "", page)
    assert plain.count("<mark>needle</mark> &lt;b&gt; <mark>NEEDLE</mark>") == 2
    assert f'/{own.path}/-/blob/master/a.py#L25">25</a>' in page
    for project in (hidden, members_only):
        assert project.path not in page


def test_a_missing_repository_is_skipped(browser: Browser, make: Make, instance: Instance, person: User) -> None:
    found, lost = make_project(make, person), make_project(make, person)
    _write(make, person, found, "a.py", "rarity\n")
    _write(make, person, lost, "a.py", "rarity\n")
    key = instance.app.database.read(lambda db: db.value(_KEY, project=lost.id))
    shutil.rmtree(RepositoryStore(instance.settings.data / "repositories").path_of(key))

    page = browser.signed_in_as(person).get("/search?scope=blobs&search=rarity")

    assert page.status_code == 200 and found.path in page.text and lost.path not in page.text


def test_code_search_in_a_project(browser: Browser, make: Make, person: User) -> None:
    project = make_project(make, person)
    _write(make, person, project, "a.txt", "<script>needle()</script>\n")
    browser.signed_in_as(person)
    page = browser.get(f"/{project.path}/-/search?scope=blobs&search=needle+extension:txt").text
    assert "&lt;script&gt;<mark>needle</mark>()" in page
    assert "No results found" in browser.get("/search?scope=blobs&search=unfindable-text").text


def test_matches_are_highlighted(browser: Browser, make: Make, person: User) -> None:
    """The mark of a match that covers several words does not split their elements."""
    project = make_project(make, person)
    _write(make, person, project, "a.py", "def needle(): return '<i>' # def needle\n")
    browser.signed_in_as(person)
    page = browser.get(f"/{project.path}/-/search?scope=blobs&search=def+needle").text
    (line,) = re.findall(r"<pre>(.*)</pre>", page)
    assert '<span class="k"><mark>def</mark></span>' in line and '"nf"><mark>needle</mark></span>' in line
    assert "# <mark>def needle</mark>" in line
    assert re.sub(r"<[^>]*>", "", line) in (
        "def needle(): return &#39;&lt;i&gt;&#39; # def needle",
        "def needle(): return '&lt;i&gt;' # def needle",
    )


def test_three_matches_of_a_file_are_shown_at_once(browser: Browser, make: Make, person: User) -> None:
    project = make_project(make, person)
    _write(make, person, project, "many.py", ("needle\n" + "x\n" * 9) * 5)
    _write(make, person, project, "few.txt", "needle\n")
    browser.signed_in_as(person)

    page = browser.get(f"/{project.path}/-/search?scope=blobs&search=needle").text

    assert page.count("<mark>needle</mark>") == 6
    assert "<summary>Show 2 more matches</summary>" in page
    first, _, rest = page.partition("<summary>Show 2")
    assert "#L21" in first and "#L31" not in first and "#L41" in rest


def test_code_is_filtered_by_path_language_and_project(browser: Browser, make: Make, person: User) -> None:
    project, hidden = make_project(make, person), make_project(make, make.user(), visibility="private")
    for path in ("src%2Fa.py", "src%2Fa.rb", "b.pyi", "c.py"):
        _write(make, person, project, path, "needle\n")
    browser.signed_in_as(person)

    def shown(query: str) -> set[str]:
        page = browser.get(f"/{project.path}/-/search?scope=blobs&search=needle&{query}").text
        return set(re.findall(r'<h2 class="file-bar"><a href="[^"]*">([^<]+)</a>', page))

    assert shown("language=python") == {"src/a.py", "b.pyi", "c.py"}
    assert shown("language=Ruby") == {"src/a.rb"}
    assert shown("path=src&language=py") == {"src/a.py"}
    assert shown("path=nowhere") == set()
    found = make.api.get(f"{project.url}/search", person, scope="blobs", search="needle -language:python").json()
    assert [each["path"] for each in found] == ["src/a.rb"]
    answer = browser.get(f"/search?scope=blobs&search=needle&project={project.path}&path=src")
    assert answer.headers["location"] == f"/{project.path}/-/search?search=needle&path=src&scope=blobs"
    assert browser.get(f"/search?search=x&project={hidden.path}").status_code == 404


def test_tabs_count_what_the_user_may_see(browser: Browser, make: Make, person: User) -> None:
    owner = make.user()
    project = make_project(make, owner, visibility="public", repository_access_level="private")
    make.api.post(f"{project.url}/issues", owner, title="uncommonness")
    make.api.post(f"{project.url}/issues", owner, title="uncommonness too", confidential=True)
    browser.signed_in_as(person)

    def counts(path: str) -> dict[str, str]:
        answer = browser.get(f"{path}?search=uncommonness&counts=1", headers={"HX-Request": "true"})
        assert answer.status_code == 200 and "hx-get" not in answer.text
        return dict(re.findall(r'scope=(\w+)[^<]*>[^<]*<span class="number">(\d+)</span>', answer.text))

    assert counts("/search")["issues"] == "1"
    in_project = counts(f"/{project.path}/-/search")
    assert in_project["issues"] == "1" and "blobs" not in in_project and "commits" not in in_project
    page = browser.get(f"/{project.path}/-/search?search=uncommonness&scope=issues").text
    assert re.search(r'<nav class="tabs" aria-label="Scope" hx-get="[^"]*counts=1', page)
