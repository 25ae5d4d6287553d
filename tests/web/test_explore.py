"""Pages of users, search, snippets and wikis."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make, User
from tests.factories import Project, add_members, make_project
from tests.web.browser import Browser
from tests.web.hostile import is_safe

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
HOSTILE = "\"><img src=x onerror=alert(1)><script>alert('x')</script>"


@pytest.fixture
def project(make: Make, person: User, api: Api) -> Project:
    """Return a public project with a file."""
    made = make_project(make, person, visibility="public")
    sent = {"branch": "master", "commit_message": "Add the log", "content": "the lantern is lit\n"}
    assert api.post(f"{made.url}/repository/files/log.txt", person, **sent).status_code == 201
    return made


def test_user_page_shows_public_data(browser: Browser, make: Make, person: User, project: Project) -> None:
    hidden = make_project(make, person, visibility="private")

    page = browser.get(f"/{person.username}")

    assert page.status_code == 200
    assert f"@{person.username}" in page.text
    assert project.path in page.text
    assert hidden.path not in page.text
    assert "1 contribution" in page.text.replace("2 contributions", "1 contribution")
    assert browser.get("/nobody-of-this-name").status_code == 404


def test_texts_of_a_profile_are_escaped(browser: Browser, make: Make) -> None:
    person = make.user(name=HOSTILE[:100], bio=HOSTILE)

    assert is_safe(browser.get(f"/{person.username}").text)


def test_search(browser: Browser, person: User, project: Project, api: Api) -> None:
    browser.signed_in_as(person)
    api.post(f"{project.url}/issues", person, title="Mend the lantern " + HOSTILE)

    everywhere = browser.get("/search", params={"search": "lantern", "scope": "issues"})
    code = browser.get(f"/{project.path}/-/search", params={"search": "lantern"})

    assert "Mend the lantern" in everywhere.text
    assert is_safe(everywhere.text)
    assert "the <mark>lantern</mark> is lit" in code.text
    assert f'action="/{project.path}/-/search"' in browser.get(f"/{project.path}/-/issues").text
    assert 'href="/search?search=lantern"' in code.text
    snippet = api.post(
        f"{project.url}/snippets", person, title="x", file_name="x", code="x", visibility="public"
    ).json()
    for subject in ("issues/1", f"snippets/{snippet['id']}"):
        said = api.post(f"{project.url}/{subject}/notes", person, body=f"A wick for {subject}").json()
        notes = browser.get(f"/{project.path}/-/search", params={"search": f"wick for {subject}", "scope": "notes"})
        link = f"/{project.path}/-/{subject}#note_{said['id']}"
        assert f'href="{link}"' in notes.text
        assert f'id="note_{said["id"]}"' in browser.get(link).text
    for odd in ({"search": "a" * 10_000}, {"search[]": "x"}, {"search": "x", "scope": "nonsense"}, {}, {"page": "-1"}):
        assert browser.get("/search", params=odd).status_code == 200
    assert f'href="/{project.path}"' not in browser.get("/search", params={"search": "no such thing"}).text


def test_anonymous_visitors_search_projects_only(browser: Browser, project: Project) -> None:
    page = browser.get("/search", params={"search": project.name, "scope": "users"})

    assert f'href="/{project.path}"' in page.text


@pytest.mark.parametrize("shared", [False, True])
def test_life_cycle_of_a_snippet(browser: Browser, person: User, project: Project, shared: bool) -> None:
    browser.signed_in_as(person)
    shelf = f"/{project.path}/-/snippets" if shared else "/-/snippets"
    sent = {"snippet[title]": HOSTILE, "snippet[content]": HOSTILE, "snippet[file_name]": "a b.txt"}

    refused = browser.submit(
        f"{shelf}/new", shelf, fields={**sent, "snippet[title]": "", "snippet[visibility]": "public"}
    )
    made = browser.submit(f"{shelf}/new", shelf, fields={**sent, "snippet[visibility]": "public"})

    assert refused.status_code == 422
    assert "a b.txt" in refused.text, "The input stays in the form."
    assert made.status_code == 302, made.text
    there = made.headers["location"]
    assert is_safe(browser.get(there).text)
    assert browser.get(there.replace("/-/", "/")).status_code == 200
    raw = browser.get(f"{there}/raw")
    assert (raw.text, raw.headers["content-type"]) == (HOSTILE, "text/plain; charset=utf-8")
    assert ("Start discussion" in browser.get(there).text) is shared, "Personal snippets have no discussions."
    if shared:
        browser.submit(there, f"{there}/notes", fields={"note[body]": f"Nice {HOSTILE}"})
        assert browser.get(there).text.count('class="note"') == 1
    changed = {**sent, "_method": "put", "snippet[title]": "Calm", "snippet[visibility]": "private"}
    assert browser.submit(f"{there}/edit", there, fields=changed).status_code == 302
    assert "Calm" in browser.get(shelf).text
    with Browser(browser.url) as stranger:
        assert stranger.get(there).status_code == 404
        assert stranger.get(f"{there}/raw").status_code == 404
    removed = {
        "_method": "delete",
        "authenticity_token": browser.form(f"{there}/edit", there).fields["authenticity_token"],
    }
    assert browser.post(there, data=removed).status_code == 302
    assert browser.get(there).status_code == 404


def test_projects_are_filtered_by_topic_and_sorted(browser: Browser, make: Make, api: Api, person: User) -> None:
    topic = make.name("tides")
    named = [make_project(make, person, visibility="public") for _ in range(2)]
    api.put(named[0].url, person, topics=[topic])

    home = browser.get(f"/{named[0].path}").text
    assert f'href="/explore?topic={topic}"' in home
    found = browser.get("/explore", params={"topic": topic, "order_by": "star_count"}).text
    assert named[0].path in found
    assert named[1].path not in found
    assert is_safe(browser.get("/explore", params={"topic": HOSTILE, "order_by": HOSTILE}).text)


def test_activity_of_a_project(browser: Browser, make: Make, api: Api, person: User) -> None:
    project = make_project(make, person, visibility="public")
    api.post(f"{project.url}/issues", person, title=HOSTILE)
    api.post(f"{project.url}/issues", person, title="Hushed", confidential=True)

    page = browser.get(f"/{project.path}/-/activity")

    assert f"/{project.path}/-/issues/1" in page.text
    assert is_safe(page.text)
    assert "Hushed" not in page.text
    assert "Hushed" in browser.signed_in_as(person).get(f"/{project.path}/-/activity").text
    hidden = make_project(make, visibility="private")
    assert browser.get(f"/{hidden.path}/-/activity").status_code == 404


def test_a_snippet_comment_in_the_activity_links_to_it(
    browser: Browser, api: Api, make: Make, person: User, project: Project
) -> None:
    for visibility in ("public", "private"):
        sent = {"title": f"A {visibility} one", "file_name": "x", "code": "x", "visibility": visibility}
        snippet = api.post(f"{project.url}/snippets", person, **sent).json()
        api.post(f"{project.url}/snippets/{snippet['id']}/notes", person, body="Good")
    named = rf'href="(/{project.path}/-/snippets/\d+#note_\d+)">commented on snippet A (\w+) one<'

    shown = re.findall(named, browser.get(f"/{project.path}/-/activity").text)

    assert [visibility for _, visibility in shown] == ["public"]
    assert f'id="{shown[0][0].partition("#")[2]}"' in browser.get(shown[0][0]).text
    browser.signed_in_as(person)
    assert len(re.findall(named, browser.get(f"/{project.path}/-/activity").text)) == 2
    told = api.get(f"{project.url}/events", person, action="commented").json()
    assert [event["target_title"] for event in told] == ["A private one", "A public one"]
    assert [event["note"]["noteable_type"] for event in told] == ["Snippet", "Snippet"]
    member = make.user()
    add_members(make, project, {member: Level.DEVELOPER})
    assert len(api.get(f"{project.url}/events", member, action="commented").json()) == 1
    assert len(api.get(f"{project.url}/events", make.root, action="commented").json()) == 2
    assert api.put(project.url, person, snippets_enabled=False).status_code == 200
    assert api.get(f"{project.url}/events", person, action="commented").json() == []


def test_a_commit_comment_in_the_activity_links_to_it(
    browser: Browser, api: Api, person: User, project: Project
) -> None:
    oid = api.get(f"{project.url}/repository/commits", person).json()[0]["id"]
    api.post(f"{project.url}/repository/commits/{oid}/comments", person, note="Good")

    shown = browser.get(f"/{project.path}/-/activity").text

    (link,) = re.findall(rf'href="(/{project.path}/-/commit/{oid}#note_\d+)">commented on commit {oid[:8]}<', shown)
    assert f'id="{link.partition("#")[2]}"' in browser.get(link).text


@pytest.mark.parametrize("path", ["/dashboard", "/explore/projects"])
def test_urls_known_from_gitlab_redirect(browser: Browser, path: str) -> None:
    assert browser.get(path).headers["location"] in ("/", "/explore")


def test_public_snippets_are_listed(browser: Browser, person: User, api: Api) -> None:
    sent = {"file_name": "a.txt", "content": "x"}
    for visibility in ("public", "internal", "private"):
        api.post("/snippets", person, title=f"A {visibility} thing of {person.username}", visibility=visibility, **sent)

    page = browser.get("/explore/snippets").text

    assert f"A public thing of {person.username}" in page
    assert f"A internal thing of {person.username}" not in page
    assert f"A private thing of {person.username}" not in page


def test_discussion_of_a_project_snippet(browser: Browser, person: User, project: Project, api: Api) -> None:
    sent = {"title": "Lamp", "file_name": "lamp.py", "content": "lit = True  # <b>", "visibility": "public"}
    made = api.post(f"{project.url}/snippets", person, **sent).json()
    there = f"/{project.path}/-/snippets/{made['id']}"
    api.post(f"{project.url}/snippets/{made['id']}/notes", person, body=f"It *glows* {HOSTILE}")

    read = browser.get(there)
    assert "<em>glows</em>" in read.text
    assert is_safe(read.text)
    assert '<span class="kc">True</span>' in read.text
    assert "Sign in" in read.text
    browser.signed_in_as(person)
    assert browser.submit(there, f"{there}/notes", fields={"note[body]": "Still"}).status_code == 302
    assert "Still" in browser.get(there).text


def test_all_files_of_a_snippet_are_edited(browser: Browser, person: User, api: Api) -> None:
    files = [{"file_path": name, "content": f"{name} & <i>"} for name in ("a.txt", "b.txt")]
    made = api.post("/snippets", person, title="Pair", visibility="private", files=files).json()
    there = f"/-/snippets/{made['id']}"
    browser.signed_in_as(person)
    page = browser.get(f"{there}/edit").text
    assert "a.txt &amp; &lt;i&gt;" in page
    assert "b.txt &amp; &lt;i&gt;" in page
    token = browser.form(f"{there}/edit", there).fields["authenticity_token"]
    sent: dict[str, Any] = {"authenticity_token": token, "_method": "put", "snippet[visibility]": "private"}
    sent |= {"snippet[files][][path]": ["a.txt", "b.txt"], "snippet[files][][content]": ["one", "two"]}

    refused = browser.post(there, content=_in_turn({**sent, "snippet[title]": ""}), headers=FORM)
    saved = browser.post(there, content=_in_turn({**sent, "snippet[title]": "Both"}), headers=FORM)

    assert refused.status_code == 422
    assert ">two</textarea>" in refused.text, "The input stays in the form."
    assert saved.status_code == 302, saved.text
    raw = [api.get(f"/snippets/{made['id']}/files/main/{name}.txt/raw", person).text for name in "ab"]
    assert raw == ["one", "two"]
    assert api.get(f"/snippets/{made['id']}", person).json()["title"] == "Both"


def _in_turn(sent: dict[str, Any]) -> str:
    """Return the fields as a browser sends them: name and content of each file in turn."""
    lists = [[(name, value) for value in values] for name, values in sent.items() if isinstance(values, list)]
    plain = [(name, value) for name, value in sent.items() if not isinstance(value, list)]
    return urlencode([*plain, *(pair for pairs in zip(*lists, strict=True) for pair in pairs)])


def test_life_cycle_of_a_wiki(browser: Browser, person: User, project: Project) -> None:
    browser.signed_in_as(person)
    wiki = f"/{project.path}/-/wikis"
    assert "The wiki has no pages yet" in browser.get(wiki).text
    sent: dict[str, Any] = {"wiki[title]": "home", "wiki[content]": f"**Welcome** to [tides](tides)\n\n{HOSTILE}"}

    refused = browser.submit(f"{wiki}/new", wiki, fields={**sent, "wiki[title]": ""})
    made = browser.submit(f"{wiki}/new", wiki, fields=sent)

    assert refused.status_code == 422
    assert "Welcome" in refused.text
    assert made.headers["location"] == f"{wiki}/home"
    page = browser.get(wiki).text
    assert "<strong>Welcome</strong>" in page
    assert is_safe(page)
    browser.submit(f"{wiki}/home/edit", f"{wiki}/home", fields={**sent, "_method": "put", "wiki[content]": "Later"})
    assert "Later" in browser.get(f"/{project.path}/wikis/home").text
    assert browser.get(f"{wiki}/nothing").status_code == 404
    browser.submit(wiki, f"{wiki}/home", fields={"_method": "delete"})
    assert "The wiki has no pages yet" in browser.get(wiki).text
