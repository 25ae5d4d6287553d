"""Repository pages with forms: files, branches, tags, releases, comments, cherry-picks."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

import httpx
import pytest

from ingot.core.access.levels import Level
from ingot.projects.projects.tables import projects
from tests.client import Api, Make, User
from tests.conftest import ROOT_PASSWORD, Instance
from tests.factories import Project, make_project
from tests.git_history import History
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

HOSTILE = "a b#c?d%e\"'<script>ü"


@dataclass
class Desk:
    """Project, and a browser in which its developer is signed in."""

    api: Api
    browser: Browser
    developer: User
    project: Project
    first: str

    def __call__(self, rest: str) -> str:
        return f"/{self.project.path}/-/{rest}"

    def send(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Fill in a form."""
        return self.browser.submit(self(page), self(action), fields=fields)

    def content(self, path: str, ref: str = "work") -> bytes:
        """Return the current content of a file."""
        url = f"{self.project.url}/repository/files/{quote(path, safe='')}/raw"
        return self.api.get(url, self.developer, ref=ref).content


@pytest.fixture
def desk(browser: Browser, api: Api, instance: Instance, make: Make) -> Desk:
    """Return a project in which ``master`` is protected and ``work`` is not."""
    developer = make.user(password=PASSWORD)
    project = make_project(make, visibility="public", members={developer: Level.DEVELOPER})
    history = History()
    history.commit(files={"a.txt": "one\r\ntwo\r\n", "latin.txt": "café\n".encode("latin-1"), "dir/b": "b\n"})
    oid = history.fill(instance, project)[1]
    assert api.post(f"{project.url}/repository/branches", make.root, branch="work", ref="master").status_code == 201
    api.post(f"{project.url}/protected_branches", make.root, name="master")
    return Desk(api, browser.signed_in_as(developer), developer, project, oid)


def test_a_file_is_created_edited_renamed_and_deleted(desk: Desk) -> None:
    made = desk.send("new/work/dir", "new/work/dir", file_path=HOSTILE, content="hello\r\n", commit_message="Say")
    path = f"dir/{HOSTILE}"

    assert made.headers["location"] == desk(f"blob/work/{quote(path)}")
    assert desk.content(path) == b"hello\n"
    assert "<script>ü" not in desk.browser.get(made.headers["location"]).text
    edit = f"edit/work/{quote(path)}"
    moved = desk.send(edit, edit, content="hello you\r\n", file_path="dir/c")
    assert (moved.status_code, desk.content("dir/c")) == (302, b"hello you\n")
    gone = desk.send("delete/work/dir/c", "delete/work/dir/c")
    assert gone.headers["location"] == desk("tree/work/dir")
    assert desk.browser.get(desk("blob/work/dir/c")).status_code == 404


def test_line_endings_and_encoding_stay(desk: Desk) -> None:
    desk.send("edit/work/a.txt", "edit/work/a.txt", content="one\r\n2\r\n")
    desk.send("edit/work/latin.txt", "edit/work/latin.txt", content="cafés\r\n")

    assert desk.content("a.txt") == b"one\r\n2\r\n"
    assert desk.content("latin.txt") == "cafés\n".encode("latin-1")


def test_concurrent_edits_are_reported_without_data_loss(desk: Desk) -> None:
    form = desk.browser.form(desk("edit/work/a.txt"), desk("edit/work/a.txt")).fields
    desk.send("edit/work/a.txt", "edit/work/a.txt", content="theirs")

    mine = {**form, "content": "mine <b>", "commit_message": "My words"}
    refused = desk.browser.post(desk("edit/work/a.txt"), data=mine)

    assert refused.status_code == 422
    assert all(said in refused.text for said in ("has changed since", "mine &lt;b&gt;", "My words", "View the changes"))
    assert desk.content("a.txt") == b"theirs"
    again = desk.browser.post(desk("edit/work/a.txt"), data={**mine, "overwrite": "1"})
    assert (again.status_code, desk.content("a.txt")) == (302, b"mine <b>")


def test_a_protected_branch_suggests_a_merge_request(desk: Desk) -> None:
    page = desk.browser.get(desk("edit/master/a.txt")).text
    sent = desk.send("edit/master/a.txt", "edit/master/a.txt", content="new")

    proposed = f"{desk.developer.username}-patch-1"
    assert "is protected" in page
    assert sent.headers["location"].startswith(desk("merge_requests/new?"))
    assert proposed in sent.headers["location"]
    assert desk.content("a.txt", proposed) == b"new"
    refused = desk.send("edit/master/a.txt", "edit/master/a.txt", content="forced", branch="master")
    assert (refused.status_code, "forced" in refused.text) == (422, True)


def test_readers_are_offered_a_fork(desk: Desk, open_browser: Callable[[], Browser], person: User) -> None:
    reader = open_browser().signed_in_as(person)

    for address in ("edit/work/a.txt", "new/work", "upload/work", "new_dir/work", "delete/work/a.txt"):
        page = reader.get(desk(address))
        assert (page.status_code, "Fork the project" in page.text, "<textarea" in page.text) == (200, True, False), (
            address
        )
    token = reader.form(desk("new/work"), "/-/theme").fields["authenticity_token"]
    data = {"authenticity_token": token, "file_path": "x", "content": "x", "branch": "work"}
    assert reader.post(desk("new/work"), data=data).status_code == 422
    assert reader.get(desk("blob/work/x")).status_code == 404
    assert "only on a branch" in desk.browser.get(desk(f"edit/{desk.first}/a.txt")).text


def test_uploads_and_folders(desk: Desk) -> None:
    fields = desk.browser.form(desk("upload/work/dir"), desk("upload/work/dir")).fields
    fields.pop("file")
    upload = {"file": ("x\\y.bin", b"\0\1\2")}

    sent = desk.browser.post(desk("upload/work/dir"), data={**fields, "file_path": "up.bin"}, files=upload)
    twice = desk.browser.post(desk("upload/work/dir"), data={**fields, "file_path": "up.bin"}, files=upload)
    without = desk.browser.post(desk("upload/work/dir"), data=fields)
    folder = desk.send("new_dir/work", "new_dir/work", file_path="made/here")

    assert (sent.status_code, desk.content("dir/up.bin")) == (302, b"\0\1\2")
    assert (twice.status_code, without.status_code) == (422, 422)
    assert "up.bin" in twice.text
    assert folder.headers["location"] == desk("tree/work/made/here")
    assert desk.browser.get(folder.headers["location"]).status_code == 200


def test_the_first_file(desk: Desk, make: Make) -> None:
    project = make_project(make, members={desk.developer: Level.MASTER})
    address = f"/{project.path}/-/new/master"

    assert "Push your first commit" in desk.browser.get(f"/{project.path}").text
    assert desk.browser.get(f"/{project.path}/-/tree").headers["location"] == f"/{project.path}"
    sent = desk.browser.submit(address, address, fields={"file_path": "README.md", "content": "# Hi"})
    assert sent.headers["location"] == f"/{project.path}/-/blob/master/README.md"
    assert "Hi</h2>" in desk.browser.get(f"/{project.path}").text


def test_branches(desk: Desk) -> None:
    made = desk.send("branches/new?ref=work", "branches", branch="new/<b>branch")
    refused = desk.send("branches/new", "branches", branch="bad..name", ref="work")

    assert made.headers["location"] == desk("tree/new/%3Cb%3Ebranch")
    assert (refused.status_code, 'value="bad..name"' in refused.text) == (422, True)
    listed = desk.browser.get(desk("branches")).text
    assert ("new/&lt;b&gt;branch" in listed, "protected" in listed) == (True, True)
    address = desk(f"branches/{quote('new/<b>branch')}")
    token = desk.browser.form(desk("branches/new"), desk("branches")).fields["authenticity_token"]
    gone = desk.browser.post(address, data={"authenticity_token": token, "_method": "delete"})
    assert gone.headers["location"] == desk("branches")
    kept = desk.browser.post(desk("branches/master"), data={"authenticity_token": token, "_method": "delete"})
    assert kept.status_code == 422
    assert desk.browser.get(address).status_code == 404


def test_tags_and_releases(desk: Desk, open_browser: Callable[[], Browser], make: Make) -> None:
    tag = desk.send("tags/new", "tags", tag_name="v/1", ref="work", message="One <b>", release_description="*news*")
    told = desk.browser.post(
        desk("tags/v/1"), data={**desk.browser.form(desk("tags/new"), desk("tags")).fields, "description": "**more**"}
    )
    page = desk.browser.get(desk("tags/v/1")).text
    release = desk.send("releases/new", "releases", tag_name="v2", ref="work", name="Second <i>", description="x")
    edited = desk.send("releases/v2/edit", "releases/v2", name="Third", description="")
    twice = desk.send("tags/new", "tags", tag_name="v/1", ref="work", message="kept words")

    assert tag.headers["location"] == told.headers["location"] == desk("tags/v/1")
    assert all(said in page for said in ("One &lt;b&gt;", "<strong>more</strong>"))
    assert release.headers["location"] == edited.headers["location"] == desk("releases/v2")
    assert "Third" in desk.browser.get(desk("releases")).text
    assert (twice.status_code, "kept words" in twice.text) == (422, True)
    fields = desk.browser.form(desk("tags/new"), desk("tags")).fields | {"_method": "delete"}
    assert desk.browser.post(desk("releases/v2"), data=fields).headers["location"] == desk("releases")
    assert desk.browser.get(desk("tags/v2")).status_code == 200
    denied = desk.browser.post(desk("tags/v/1"), data=fields)
    assert (denied.status_code, 'role="alert"' in denied.text) == (422, True), "Developers delete no tags."
    assert 'value="delete"' not in desk.browser.get(desk("tags")).text
    master = open_browser()
    master.sign_in(make.root.username, ROOT_PASSWORD)
    fields["authenticity_token"] = master.form(desk("tags/new"), desk("tags")).fields["authenticity_token"]
    assert f'action="{desk("tags/v/1")}"' in master.get(desk("tags")).text
    assert master.post(desk("tags/v/1"), data=fields).headers["location"] == desk("tags")
    assert desk.browser.get(desk("tags/v/1")).status_code == 404


def test_a_release_link_points_to_another_host(desk: Desk, make: Make) -> None:
    desk.api.post(f"{desk.project.url}/releases", make.root, tag_name="v9", ref="work")
    link = {"name": "tool", "url": "https://example.org/tool.tgz", "filepath": "/bin/tool"}
    desk.api.post(f"{desk.project.url}/releases/v9/assets/links", make.root, **link)

    assert desk.browser.get(desk("releases/v9/downloads/bin/tool")).headers["location"] == link["url"]
    assert desk.browser.get(desk("releases/v9/downloads/bin/other")).status_code == 404
    assert desk.browser.get(desk("releases/permalink/latest")).headers["location"] == desk("releases/v9")


def test_comments_on_a_commit_and_its_lines(desk: Desk) -> None:
    commit = desk(f"commit/{desk.first}")
    page = desk.browser.get(commit).text
    name = page.split('href="?at=')[1].split('"')[0]
    fields = {"authenticity_token": page.split('name="authenticity_token" value="')[1].split('"')[0]}

    row = desk.browser.get(f"{commit}?at={name}", headers={"HX-Request": "true"}).text
    assert row.strip().startswith('<tr class="discussion">')
    assert 'name="line" value="1"' in desk.browser.get(f"{commit}?at={name}").text
    line = {"path": "a.txt", "line": "1", "line_type": "new", "note": "On **this**", "at": name}
    sent = desk.browser.post(f"{commit}/comments", data={**fields, **line})
    desk.browser.post(f"{commit}/comments", data={**fields, "note": "In general <script>alert(1)</script>"})
    empty = desk.browser.post(f"{commit}/comments", data={**fields, **line, "note": "  "})

    assert sent.headers["location"] == f"{commit}#{name}"
    assert (empty.status_code, 'name="line" value="1"' in empty.text) == (422, True), "The form is where it was."
    shown = desk.browser.get(commit).text
    assert "<strong>this</strong>" in shown.split('id="discussion"')[0], "Below its line."
    assert "In general" in shown.split('id="discussion"')[1]
    assert "<script>alert" not in shown
    other = desk.browser.get(f"{commit}?at={name.rpartition('_')[0]}_9_9").text
    assert 'name="line"' not in other, "Only a line that changed is written about."


def test_comments_on_a_commit_have_replies_and_edits(desk: Desk) -> None:
    commit = desk(f"commit/{desk.first}")
    fields = {"authenticity_token": desk.browser.token()}
    desk.browser.post(f"{commit}/notes", data=fields | {"note[body]": "Why *so*?"})
    line = {"path": "a.txt", "line": "2", "line_type": "new", "note": "Here"}
    desk.browser.post(f"{commit}/comments", data=fields | line)
    shown = desk.browser.get(f"{commit}?view=split").text
    assert "<em>so</em>" in shown.split('id="discussion"')[1]
    below = shown.split('id="discussion"')[0].rpartition('id="discussion_')[2]
    number, note = below.partition('"')[0], below.split('id="note_')[1].partition('"')[0]

    answered = desk.browser.post(
        f"{commit}/discussions/{number}/notes", data=fields | {"note[body]": "So", "back": f"{commit}?view=split"}
    )
    assert answered.headers["location"].startswith(f"{commit}?view=split#note_")
    desk.browser.post(
        f"{commit}/discussions/{number}/notes/{note}", data=fields | {"_method": "put", "note[body]": "There"}
    )
    above = desk.browser.get(commit).text.split('id="discussion"')[0]
    assert ("<p>There</p>" in above, "<p>So</p>" in above, "<p>Here</p>" in above) == (True, True, False)


def test_cherry_pick_and_revert(desk: Desk) -> None:
    desk.send("edit/work/a.txt", "edit/work/a.txt", content="picked")
    listed = f"{desk.project.url}/repository/commits"
    (newest,) = desk.api.get(listed, desk.developer, ref_name="work", per_page=1).json()
    page, pick = f"commit/{newest['id']}", f"commit/{newest['id']}/cherry_pick"

    refused = desk.send(page, pick, branch="master")
    picked = desk.send(page, pick, branch="master", new_branch="picked")
    again = desk.send(page, pick, branch="work", new_branch="empty-one")
    undone = desk.send(page, f"commit/{newest['id']}/revert", branch="work")

    assert refused.status_code == 422
    assert "source_branch%5D=picked" in picked.headers["location"]
    assert desk.content("a.txt", "picked") == b"picked"
    assert again.status_code == 422
    assert desk.browser.get(desk("branches/empty-one")).status_code == 404, "Nothing is left of what failed."
    assert (undone.status_code, desk.content("a.txt")) == (302, b"one\r\ntwo\r\n")


def test_stars_and_forks(desk: Desk) -> None:
    home = f"/{desk.project.path}"
    starred = desk.browser.submit(home, desk("star"))
    assert (starred.headers["location"], "Unstar" in desk.browser.get(home).text) == (home, True)
    desk.browser.submit(home, desk("unstar"))
    assert "Unstar" not in desk.browser.get(home).text

    fork = desk.send("forks/new", "forks", namespace=desk.developer.username, path="copy", name="Copy")
    assert fork.headers["location"] == f"/{desk.developer.username}/copy"
    assert f'href="{home}"' in desk.browser.get(fork.headers["location"]).text
    taken = desk.send("forks/new", "forks", namespace=desk.developer.username, path="copy", name="My copy")
    assert (taken.status_code, "My copy" in taken.text) == (422, True)
    assert "copy" in desk.browser.get(desk("forks")).text


def test_an_import_is_shown_until_it_has_finished(desk: Desk, instance: Instance, make: Make) -> None:
    project = make_project(make, members={desk.developer: Level.MASTER})
    home = f"/{project.path}"

    def is_at(status: str) -> tuple[str, httpx.Response]:
        state = {
            "import_status": status,
            "import_url": instance.app.database.vault.seal("https://example.org/project.git"),
            "import_progress": "Receiving <b>",
            "import_error": "No <i>",
        }
        instance.app.database.write(lambda db: db.update(projects, project.id, **state))
        part = desk.browser.get(f"{home}/-/import", headers={"HX-Request": "true"})
        return desk.browser.get(home).text, part

    page, part = is_at("started")
    assert ("Import in progress" in page, "Push your first commit" in page, "Receiving &lt;b&gt;" in page) == (
        True,
        False,
        True,
    )
    assert ("every 2s" in part.text, "hx-refresh" in part.headers) == (True, False)
    page, part = is_at("failed")
    assert ("Import failed" in page, "No &lt;i&gt;" in page, part.headers["hx-refresh"]) == (True, True, "true")
    page, part = is_at("finished")
    assert ("import" in page, "Push your first commit" in page, part.headers["hx-refresh"]) == (False, True, "true")
