"""Repository pages: files, folders, commits and diffs."""

import html
import io
import re
import zipfile
from collections.abc import Callable
from urllib.parse import quote

import pytest

from ingot.git.trees import file_names
from ingot.web.code import file_finder, tree_rows
from tests.api.repository.sample_repository import FILES, NAMES, as_shown
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project
from tests.git_history import History
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD
from tests.web.hostile import HOSTILE, is_safe

LONG = "".join(f"value_{number} = {number}\n" for number in range(1, 1001))
WHOLE = LONG.replace("value", "item")
"""Another file, because a file that was shown in full once is cached, and then always shown in full."""
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 5\n"

UNUSUAL_NAME = "wild/\"'<img/src=x>#%25&+ü"


class CodePages:
    """Public project with files of every kind, and the paths of its pages."""

    def __init__(self, instance: Instance, make: Make) -> None:
        self.project: Project = make_project(make, visibility="public", description="About <b>it</b>")
        history = History()
        files = {**FILES, "lib/long.py": LONG, "lib/README.md": "# Library\n\n[up](../README.md)\n", "big.lfs": POINTER}
        files |= {"lib/whole.py": WHOLE, f"odd/{HOSTILE}": "x\n", "huge.txt": "y" * (2**20 + 1), "LICENSE": "Free\n"}
        first = history.commit(files=files, message=f"Begin {HOSTILE}\n\nBecause <script>alert(1)</script>")
        second = history.commit(files={"README.md": "# Hello\n\nline 2\n"}, message="Change\n\nWhy")
        side = history.commit("feature/with/slash", {"only.here": "here\n"}, parents=(first,), message="Side")
        merge = history.commit(files={"only.here": "here\n"}, parents=(second, side), message="Merge side")
        history.commit(UNUSUAL_NAME, {"here.txt": "x\n"}, parents=(merge,), message="Wild")
        history.tag("v1", first)
        history.tag("v/2", merge, f"A tag {HOSTILE}")
        made = history.fill(instance, self.project)
        self.first, self.second, self.merge = made[first], made[second], made[merge]

    def __call__(self, rest: str = "") -> str:
        return f"/{self.project.path}{'/-/' if rest else ''}{rest}"


@pytest.fixture(scope="module")
def code(instance: Instance, make: Make) -> CodePages:
    """Return a shared project, which tests of this module only read."""
    return CodePages(instance, make)


def test_project_page_shows_its_code(browser: Browser, code: CodePages) -> None:
    home = browser.get(code())

    assert home.status_code == 200
    for said in ("Merge side", "4 commits", "LICENSE", "Python", "commits in the last year", "<h1", "with space.txt"):
        assert said in home.text
    assert f'href="{code("blob/master/hash%23and%3Fquery.txt")}"' in home.text
    assert is_safe(home.text)


def test_each_entry_shows_its_last_commit(
    browser: Browser, instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_rows, "_SHORT_SECONDS", 60.0)
    project = make_project(make, visibility="public")
    history = History()
    first = history.commit(files={"old/a": "x", "old/b": "x", "new": "x"}, message=f"First {HOSTILE}")
    last = history.commit(files={"new": "y", "old/b": "y"}, message="Second")
    made = history.fill(instance, project)
    home, part = f"/{project.path}", f"/{project.path}/-/tree/master?last=1"

    fresh = browser.get(home).text
    assert ("Second</a></td>" in fresh, f'hx-get="{part}&amp;most=500"' in fresh) == (False, True)
    rows = browser.get(f"{part}&most=500", headers={"HX-Request": "true"}).text
    assert ("<html" in rows, rows.count("<tr>"), rows.count(f"/-/commit/{made[last]}")) == (False, 2, 2)
    again = browser.get(home).text
    assert rows.strip() in again, "Cached commits are shown at once."
    assert 'hx-trigger="load" hx-swap="outerHTML"' not in again
    folder = browser.get(f"/{project.path}/-/tree/master/old").text
    assert [folder.count(f'commit"><a href="{home}/-/commit/{made[mark]}"') for mark in (first, last)] == [1, 1]
    assert is_safe(folder)
    assert browser.get(f"{part}&most=1&page=2").text.count("<time datetime") >= 1


@pytest.mark.parametrize("name", NAMES)
def test_every_file_name_works_and_is_escaped(browser: Browser, code: CodePages, name: str) -> None:
    path = quote(as_shown(name))
    pages = {word: browser.get(code(f"{word}/master/{path}")) for word in ("blob", "raw", "blame", "commits")}

    assert [page.status_code for page in pages.values()] == [200] * 4
    assert f"This is {name!r}" in pages["raw"].text
    assert "This is" in pages["blob"].text
    folder = path.rpartition("/")[0]
    tree = browser.get(code("tree/master" + (f"/{folder}" if folder else ""))).text
    assert f'href="{html.escape(code(f"blob/master/{path}"))}"' in tree
    assert "X-Evil" not in pages["raw"].headers


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tree/feature/with/slash", "only.here"),
        ("tree/v1/lib", "long.py"),
        ("tree/master/lib", ">Library<"),
        ("blob/feature/with/slash/only.here", "here"),
        ("blob/master/module", "Submodule at commit"),
        ("blob/master/link", "Symbolic link to"),
        ("blob/master/empty", "This file is empty."),
        ("blob/master/binary.bin", "This is a binary file."),
        ("blob/master/huge.txt", "too large to display"),
        ("blob/master/big.lfs", "stored in Git LFS"),
        ("blob/master/latin.txt", "naïve café"),
        ("blob/master/run.sh", "executable"),
        ("blob/master/README.md", "line 2"),
        ("blob/master/README.md?plain=1", "# Hello"),
        ("blob/master/lib/long.py", "Show all 1000 lines"),
        ("blob/master/lib/whole.py?all=1", 'id="L1000"'),
        ("blame/master/lib/long.py", 'id="L1000"'),
        ("commits/master/README.md", "History: README.md"),
        ("commits/master?author=Nobody", "No commits"),
        ("commits/master?search=merge", "Merge side"),
        ("compare/v1...master", "Merge side"),
        ("compare/master...v1", "No differences"),
        ("compare/v1..feature/with/slash?view=split", "only.here"),
        ("branches", "feature/with/slash"),
        ("branches?search=nothing", "No branches found"),
        ("tags", "v/2"),
        ("tags/v/2", "Release notes"),
        ("releases", "No releases yet"),
        ("pipelines", "No pipelines yet"),
        ("graphs", "Ada Writer"),
        ("graphs/feature/with/slash", "Ada Writer"),
        ("refs?search=v", "v/2"),
        ("forks", "No forks"),
        ("compare", "Enter two branches"),
        ("find_file", "long.py"),
        ("find_file/feature/with/slash?search=ONLY", "only.here"),
        ("find_file/v1?search=nowhere", "No files found"),
        (f"find_file/master?search={quote(HOSTILE)}", "odd/"),
    ],
)
def test_pages_for_anonymous_visitors(browser: Browser, code: CodePages, address: str, said: str) -> None:
    page = browser.get(code(address))

    assert page.status_code == 200, page.text
    assert said in page.text
    assert is_safe(page.text)
    assert re.search(r"<main[^>]*>\s*(<div[^>]*>)?\s*<h1", page.text), "Each page has a title."
    assert 'style="' not in page.text


def test_urls_without_the_separator_work(browser: Browser, code: CodePages) -> None:
    commit = f"commit/{code.second}"
    for rest in ("tree/master/lib", "blob/v1/link", "raw/master/empty", "commits/master", commit, "branches", "tags"):
        assert browser.get(f"/{code.project.path}/{rest}").status_code == 200, rest


def test_a_project_may_be_named_like_a_page(browser: Browser, make: Make) -> None:
    inner = make_group(make, parent=make_group(make, visibility="public"), visibility="public")
    project = make_project(make, group=inner, name="tags", visibility="public")

    assert project.path == f"{inner.path}/tags"
    assert "Push your first commit" in browser.get(f"/{project.path}").text
    assert browser.get(f"/{project.path}/-/branches").status_code == 200
    assert browser.get(f"/{inner.path}/branches").status_code == 404


def test_every_branch_name_works_and_is_escaped(browser: Browser, code: CodePages) -> None:
    ref = quote(UNUSUAL_NAME)
    for rest in (f"tree/{ref}", f"blob/{ref}/here.txt", f"commits/{ref}", f"compare/master...{ref}", f"graphs/{ref}"):
        page = browser.get(code(rest))
        assert (page.status_code, is_safe(page.text)) == (200, True), rest
        for link in re.findall(r'href="([^"]+)"', page.text):
            assert "<" not in link
    listed = browser.get(code("branches")).text
    assert f'href="{html.escape(code(f"tree/{ref}"))}"' in listed
    assert is_safe(listed)
    assert browser.get(code(f"raw/{ref}/here.txt")).text == "x\n"


@pytest.mark.parametrize(
    ("address", "to"),
    [
        ("tree/master/README.md", "blob/master/README.md"),
        ("blob/master/lib", "tree/master/lib"),
        ("branches/feature/with/slash", "tree/feature/with/slash"),
        ("compare?from=v1&to=feature/with/slash", "compare/v1...feature/with/slash"),
        ("compare?from=v1&to=master&straight=true", "compare/v1..master"),
    ],
)
def test_urls_redirect_to_the_canonical_page(browser: Browser, code: CodePages, address: str, to: str) -> None:
    assert browser.get(code(address)).headers["location"] == code(to)


@pytest.mark.parametrize(
    "address",
    [
        "tree/nothing",
        "tree/master/nothing",
        "blob/master/../../etc/passwd",
        "blob/master/%2e%2e/x",
        "raw/master",
        "raw/master/lib",
        "raw/master/module",
        "blame/master/lib",
        "commit/nothing",
        "commit/--output=x",
        "archive/master",
        "archive/nothing.zip",
        "repository/archive.exe",
        "tags/nothing",
        "branches/nothing",
        "releases/nothing",
        "pipelines/0",
        "pipelines/x",
        "compare/nothing...master",
        "tree/" + "a/" * 500,
        "graphs/nothing",
        "find_file/nothing",
        "find_file/nothing?list=1",
    ],
)
def test_missing_pages(browser: Browser, code: CodePages, address: str) -> None:
    assert browser.get(code(address)).status_code == 404


@pytest.mark.parametrize(
    ("path", "kind", "disposition"),
    [
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("picture.svg", "text/plain; charset=utf-8", "inline"),
        ("binary.bin", "application/octet-stream", "attachment"),
        ("latin.txt", "text/plain; charset=iso-8859-1", "inline"),
        ("huge.txt", "text/plain; charset=utf-8", "inline"),
        ("page.html?inline=false", "application/octet-stream", "attachment"),
    ],
)
def test_a_raw_file_runs_nothing(browser: Browser, code: CodePages, path: str, kind: str, disposition: str) -> None:
    """Attack: a file of a repository is opened in the browser of a signed-in user."""
    raw = browser.get(code(f"raw/master/{path}"))

    assert (raw.status_code, raw.headers["content-type"]) == (200, kind)
    assert raw.headers["content-disposition"].startswith(disposition)
    assert raw.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in raw.headers["content-security-policy"]


def test_archive_download(browser: Browser, code: CodePages) -> None:
    answers = [
        browser.get(code(address))
        for address in ("archive/v1/x.zip", "archive/feature/with/slash.zip", "repository/archive.zip?ref=v1")
    ]

    assert [answer.status_code for answer in answers] == [200] * 3
    assert [answer.headers["content-disposition"].partition(";")[0] for answer in answers] == ["attachment"] * 3
    names = [zipfile.ZipFile(io.BytesIO(answer.content)).namelist() for answer in answers]
    assert [any(name.endswith("/only.here") for name in each) for each in names] == [False, True, False]
    part = browser.get(code("archive/master/x.zip?path=lib"))
    assert not any(name.endswith("/empty") for name in zipfile.ZipFile(io.BytesIO(part.content)).namelist())


def test_tag_pages_download_the_tag(browser: Browser, instance: Instance, make: Make) -> None:
    """A branch with the name of the tag does not replace it."""
    project, history = make_project(make, visibility="public"), History()
    tagged = history.commit(files={"README.md": "hello\n"})
    history.commit("v/1", files={"README.md": "evil\n"}, parents=(tagged,))
    history.tag("v/1", tagged)
    history.fill(instance, project)
    for page in ("tags", "tags/v%2F1"):
        archive = re.search(r'href="([^"]+\.tar)"', browser.get(f"/{project.path}/-/{page}").text)
        assert archive is not None, page
        packed = browser.get(archive[1])
        assert b"hello" in packed.content and b"evil" not in packed.content, page


def test_the_rest_of_a_long_file_is_loaded_on_request(browser: Browser, code: CodePages) -> None:
    address = code("blob/feature/with/slash/lib/whole.py")
    page = browser.get(address).text
    rest = browser.get(f"{address}?rest=1", headers={"HX-Request": "true"}).text

    assert 'id="L1000"' in rest
    assert "<html" not in rest
    assert page.count('id="L1"') == 1
    assert browser.get(address).text.count('id="L') == 1000, "Cached data is shown at once."


def test_a_commit_is_shown_with_its_diff(browser: Browser, code: CodePages) -> None:
    page = browser.get(code(f"commit/{code.second}"))

    assert page.status_code == 200
    assert all(said in page.text for said in ("Ada Writer", code.second, "README.md", "Why", "1 changed file"))
    first = browser.get(code(f"commit/{code.first}?view=split")).text
    assert is_safe(first)
    assert "Begin &#34;&gt;&lt;img" in first
    refs = browser.get(code(f"commit/{code.merge}/refs"), headers={"HX-Request": "true"}).text
    assert ("v/2" in refs, "feature/with/slash" in refs) == (True, False)
    assert "<line" in browser.get(code("commits")).text, "A merge has lines in the graph."


def test_the_graph_shows_commits_below_their_children(browser: Browser, instance: Instance, make: Make) -> None:
    """Commits of the same second may be listed in any order."""
    project = make_project(make, visibility="public")
    history = History()
    marks = [history.commit(files={"a": "0"}, at=1_500_000_000)]
    marks += [history.commit(files={"a": str(number)}, at=1_500_000_000) for number in range(1, 4)]
    side = history.commit("side", {"b": "x"}, parents=(marks[-1],), at=1_500_000_000)
    history.commit(files={"b": "x"}, parents=(marks[-1], side), message="Merge", at=1_500_000_000)
    history.fill(instance, project)

    pictures = re.findall(r'<svg class="graph.*?</svg>', browser.get(f"/{project.path}/-/commits").text)
    assert len(pictures) == 6
    assert "100%" not in pictures[-1], "The line of the graph ends at the root commit."


def test_a_part_of_a_diff_is_an_html_fragment(browser: Browser, code: CodePages) -> None:
    whole = browser.get(code(f"commit/{code.first}?only=1"))
    part = browser.get(code(f"commit/{code.first}?only=1"), headers={"HX-Request": "true"})

    assert whole.text.count('class="diff-file"') == part.text.count('class="diff-file"') == 1
    assert ("<html" in whole.text, "<html" in part.text) == (True, False)


def test_branches_show_ahead_and_behind_counts(browser: Browser, code: CodePages) -> None:
    fresh = browser.get(code("branches")).text
    assert ('hx-get="?counted=1"' in fresh, " behind, " in fresh) == (True, False)
    counted = browser.get(code("branches?counted=1"), headers={"HX-Request": "true"}).text

    side = next(row for row in counted.split("<li>") if ">feature/with/slash</a>" in row)
    assert ("2 behind, 0 ahead" in side, ">merged</span>" in side) == (True, True)
    assert counted.count("0 behind, 1 ahead") == 1
    assert ("<html" in counted, is_safe(counted), "Delete" in counted) == (False, True, False)
    again = browser.get(code("branches")).text
    assert (again.count(" behind, "), "hx-trigger" in again.split("<main")[1]) == (2, False)
    archive = code("archive/feature/with/slash/") + f"{code.project.path.rpartition('/')[2]}-feature-with-slash.tar.gz"
    assert f'href="{archive}"' in again
    assert browser.get(archive).status_code == 200


def test_a_file_is_found_by_a_part_of_its_path(
    browser: Browser, code: CodePages, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = browser.get(code("find_file/master?search=readme")).text
    links = re.findall(r'<li><a href="([^"]+)"', found)
    listed = browser.get(code("find_file/master?list=1")).json()

    assert links[:2] == [code("blob/master/README.md"), code("blob/master/lib/README.md")]
    assert {*map(as_shown, NAMES), "module", "link"} <= {*listed}
    assert f'href="{code("find_file/master")}" data-key="t"' in browser.get(code("tree/master/lib")).text
    monkeypatch.setattr(file_finder, "_MAX_IN_BROWSER", 2)
    monkeypatch.setattr(file_names, "MAX_FILES", 5)
    assert browser.get(code("find_file/master?list=1")).json() == listed[:2]
    assert "Only the first 5 files" in browser.get(code("find_file/master")).text
    monkeypatch.setattr(file_names, "MAX_FILES", 100_000)
    assert "cover the first 2 files" in browser.get(code("find_file/master")).text


def test_every_url_of_the_api_is_valid(browser: Browser, api: Api, make: Make, instance: Instance) -> None:
    code = CodePages(instance, make)
    url = code.project.url
    api.post(f"{url}/statuses/{code.second}", make.root, state="failed", name="<b>", ref="master")
    made = api.post(f"{url}/releases", make.root, tag_name="v/2", description="**New**").json()
    links = [api.get(f"{url}/repository/commits", make.root).json()[0]["web_url"], made["_links"]["self"]]
    links += [branch["web_url"] for branch in api.get(f"{url}/repository/branches", make.root).json()]
    links += [api.get(f"{url}/pipelines", make.root).json()[0]["web_url"]]
    compared = {"from": "v1", "to": "master"}
    links += [api.request("GET", f"{url}/repository/compare", make.root, params=compared).json()["web_url"]]
    links += [f"{browser.url}{made[name]}" for name in ("commit_path", "tag_path")]

    assert [browser.get(link.removeprefix(browser.url)).status_code for link in links] == [200] * len(links)
    release = browser.get(made["_links"]["self"].removeprefix(browser.url)).text
    assert "<strong>New</strong>" in release
    assert "<h2>Assets</h2>" in release and "&lt;h2&gt;" not in release
    archive = re.search(r'href="([^"]+\.zip)"', release)
    assert archive is not None
    assert browser.get(archive[1]).status_code == 200
    assert "&lt;b&gt;" in browser.get(links[-4].removeprefix(browser.url)).text
    badge = f'<a class="state failed" href="{links[-4].removeprefix(browser.url)}"><svg'
    for page in (f"commit/{code.second}", "commits/master", "commits/master/README.md", "compare/v1...master"):
        assert browser.get(code(page)).text.count(badge) == 1, page


PRIVATE = ["", "tree/master", "blob/master/a.txt", "raw/master/a.txt", "commits/master", "branches", "tags", "releases"]
PRIVATE += [
    "tree/master?last=1",
    "archive/master.zip",
    "compare/master...master",
    "pipelines",
    "graphs",
    "refs",
    "blame/master/a.txt",
]


def test_private_projects_are_not_found(
    open_browser: Callable[[], Browser], instance: Instance, make: Make, person: User
) -> None:
    guest = make.user(password=PASSWORD)
    project = make_project(make, members={guest: 10})
    history = History()
    oid = history.fill(instance, project)[1] if history.commit(files={"a.txt": "secret\n"}) else ""
    nobody, stranger, member = open_browser(), open_browser().signed_in_as(person), open_browser().signed_in_as(guest)

    for rest in [*PRIVATE, f"commit/{oid}"]:
        address = f"/{project.path}{'/-/' if rest else ''}{rest}"
        assert stranger.get(address).status_code == nobody.get(address).status_code == 404, rest
        seen = member.get(address)
        # A guest sees the project and its job reports, but none of its code.
        assert seen.status_code == (200 if rest in ("", "pipelines") else 404), rest
        assert "a.txt" not in seen.text


TOKEN_PAGES = {
    "raw/master/README.md",
    "archive/v1/{name}-v1.zip",
    "repository/archive.zip?ref=v1",
    "commits/master?format=atom",
}
OTHER_PAGES = {"blob/master/README.md", "tree/master", "commits/master", "settings", ""}


def test_access_tokens_open_raw_files_and_archives_only(instance: Instance, make: Make) -> None:
    """In any form that the API accepts; scopes count, and all other pages need a session."""
    owner = make.user()
    project = make_project(make, owner, visibility="private")
    history = History()
    history.tag("v1", history.commit(files={"README.md": "Hello\n"}))
    history.fill(instance, project)
    name = project.path.rpartition("/")[2]
    tokens = {scope: make.token(owner.id, scope) for scope in ("api", "read_api", "read_repository", "read_user")}

    def status(page: str, token: str, form: str = "PRIVATE-TOKEN") -> int:
        with Browser(instance.url) as reader:
            path = f"/{project.path}" + (f"/-/{page.format(name=name)}" if page else "")
            if form == "private_token":
                return reader.get(f"{path}{'&' if '?' in path else '?'}private_token={token}").status_code
            headers = {form: f"Bearer {token}" if form == "Authorization" else token}
            return reader.get(path, headers=headers).status_code

    for page in TOKEN_PAGES:
        for form in ("PRIVATE-TOKEN", "Authorization", "private_token"):
            assert status(page, tokens["api"], form) == 200, (page, form)
        assert status(page, tokens["read_api"]) == 200
        assert status(page, tokens["read_repository"]) == (200 if page.startswith("raw/") else 403), page
        assert (status(page, tokens["read_user"]), status(page, "ingotp-wrong")) == (403, 401), page
        assert status(page, make.token(make.user().id, "api")) == 404, page
    for page in OTHER_PAGES:
        assert status(page, tokens["api"]) in (302, 404), page


def test_archives_have_the_name_in_their_url(instance: Instance, make: Make, browser: Browser, code: CodePages) -> None:
    name = code.project.path.rpartition("/")[2]
    for address, file in (
        (f"archive/v1/{name}-v1.zip", f"{name}-v1"),
        (f"archive/refs/tags/v1/{name}-v1.zip", f"{name}-v1"),
        (f"archive/feature/with/slash/{name}-feature-with-slash.zip", f"{name}-feature-with-slash"),
        ("archive/v1/other.zip", f"{name}-v1-{code.first}"),
    ):
        answer = browser.get(code(address))
        assert answer.headers["content-disposition"] == f'attachment; filename="{file}.zip"'
        assert all(entry.startswith(f"{file}/") for entry in zipfile.ZipFile(io.BytesIO(answer.content)).namelist())
