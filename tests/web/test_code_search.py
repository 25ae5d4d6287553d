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
    assert page.count("<mark>needle</mark> &lt;b&gt; <mark>NEEDLE</mark>") == 2
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
