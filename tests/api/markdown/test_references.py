"""References in texts, and the readers for whom they are links."""

import re
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Project, make_group, make_project
from tests.statements import cold_reads, executed


class ReferenceSetup(NamedTuple):
    """Private project in a group with one object of each kind, and a second project."""

    member: User
    guest: User
    stranger: User
    project: Project
    beside: Project
    ids: dict[str, Any]


@pytest.fixture(scope="module")
def setup(api: Api, make: Make) -> ReferenceSetup:
    """Return a project, created once, because these tests only read."""
    member, guest, stranger = make.user(), make.user(), make.user()
    group = make_group(make, visibility="private")
    project = make_project(make, group=group, visibility="private", members={member: Level.MASTER, guest: Level.GUEST})
    beside = make_project(make, group=group, visibility="private", members={member: Level.MASTER})

    def post(path: str, **sent: Any) -> Any:
        made = api.post(f"{project.url}{path}", member, **sent)
        assert made.status_code == 201, made.text
        return made.json()

    ids: dict[str, Any] = {"issue": post("/issues", title="A <b>first</b> one")["id"]}
    ids["secret"] = post("/issues", title="The secret plan", confidential=True)["id"]
    ids["label"] = post("/labels", name="bug", color="#ff0000")["id"]
    ids["spaced"] = post("/labels", name="two words", color="#00ff00")["id"]
    ids["group_label"] = api.post(f"/groups/{group.id}/labels", make.root, name="around", color="#0000ff").json()["id"]
    ids["milestone"] = post("/milestones", title="a b")["id"]
    ids["plain"] = post("/milestones", title="v1.0")["id"]
    ids["snippet"] = post("/snippets", title="Snip", file_name="a.rb", code="1", visibility="private")["id"]
    sent = {"branch": "master", "commit_message": "Begin", "content": "a"}
    for name in ("one", "two"):
        assert api.post(f"{project.url}/repository/files/{name}", member, **sent).status_code == 201
    newest, first = (one["id"] for one in api.get(f"{project.url}/repository/commits", member).json())
    ids |= {"newest": newest, "first": first}
    action = {"action": "create", "file_path": "three", "content": "a"}
    post("/repository/commits", branch="side", start_branch="master", commit_message="Add", actions=[action])
    offered = post("/merge_requests", source_branch="side", target_branch="master", title="An <i>offer</i>")
    ids["merge_request"] = offered["id"]
    assert api.post(f"{beside.url}/issues", member, title="Beside").status_code == 201
    return ReferenceSetup(member, guest, stranger, project, beside, ids)


def rendered(api: Api, reader: User, text: str, project: Project | None = None) -> str:
    """Return the text rendered for a reader."""
    sent = {"project": project.path} if project else {}
    answer = api.post("/markdown", reader, text=text, gfm=True, **sent)
    assert answer.status_code == 201, answer.text
    html: str = answer.json()["html"]
    return html


REFERENCES = [
    ("#1", "issues/1", 'data-issue="{issue}"'),
    ("#2", "issues/2", 'data-issue="{secret}"'),
    ("!1", "merge_requests/1", 'data-merge-request="{merge_request}"'),
    ("~bug", "issues?label_name=bug", 'data-label="{label}"'),
    ('~"two words"', "issues?label_name=two+words", 'data-label="{spaced}"'),
    ("~{label}", "issues?label_name=bug", 'data-label="{label}"'),
    ("~around", "issues?label_name=around", 'data-label="{group_label}"'),
    ('%"a b"', "milestones/1", 'data-milestone="{milestone}"'),
    ("%1", "milestones/1", 'data-milestone="{milestone}"'),
    ("%v1.0", "milestones/2", 'data-milestone="{plain}"'),
    ("${snippet}", "snippets/{snippet}", 'data-snippet="{snippet}"'),
    ("{newest}", "commit/{newest}", 'data-commit="{newest}"'),
    ("{newest:.7}", "commit/{newest}", 'data-commit="{newest}"'),
    ("{first}...{newest}", "compare/{first}...{newest}", "gfm-commit_range"),
]


@pytest.mark.parametrize(("sign", "path", "mark"), REFERENCES)
def test_references_are_links_for_members_only(
    api: Api, setup: ReferenceSetup, sign: str, path: str, mark: str
) -> None:
    sign, path, mark = (part.format(**setup.ids) for part in (sign, path, mark))
    at = "@" if re.match("[0-9a-f]{7}", sign) else ""
    elsewhere = f"see {setup.project.path}{at}{sign} there"

    here = rendered(api, setup.member, f"see {sign} there", setup.project)
    from_afar = rendered(api, setup.member, elsewhere)
    hidden = rendered(api, setup.stranger, elsewhere)

    for html in (here, from_afar):
        assert f'href="{api.url.rstrip("/")}/{setup.project.path}/{path}"' in html
        assert mark in html
    assert "<a" not in hidden
    assert hidden.count("see") == hidden.count("there") == 1


def test_projects_of_the_same_namespace_are_referenced_by_name(api: Api, setup: ReferenceSetup) -> None:
    name = setup.beside.path.rpartition("/")[2]

    html = rendered(api, setup.member, f"{name}#1", setup.project)
    for_guest = rendered(api, setup.guest, f"{name}#1", setup.project)

    assert f'/{setup.beside.path}/issues/1"' in html
    assert "<a" not in for_guest
    assert "Beside" not in for_guest


def test_urls_become_references_for_readers_who_can_see_the_target(api: Api, setup: ReferenceSetup) -> None:
    for path, sign in (("issues/1", "#1"), ("merge_requests/1", "!1")):
        url = f"{api.url.rstrip('/')}/{setup.project.path}/{path}"
        assert f">{sign}</a>" in rendered(api, setup.member, url, setup.project)
        assert f">{setup.project.path}{sign}</a>" in rendered(api, setup.member, url)
        hidden = rendered(api, setup.stranger, url)
        assert f">{url}</a>" in hidden
        assert "first" not in hidden
        assert "offer" not in hidden


def test_confidential_issues_and_code_are_hidden_from_guests(api: Api, setup: ReferenceSetup) -> None:
    """Attack: learn the title or the existence of an object from a reference."""
    text = f"#1 #2 #77 !1 {setup.ids['newest']} {setup.ids['first']}...{setup.ids['newest']}"

    html = rendered(api, setup.guest, text, setup.project)

    assert html.count("<a") == 1
    assert "secret" not in html
    assert "offer" not in html
    assert "#2 #77 !1" in html


def test_titles_are_escaped(api: Api, setup: ReferenceSetup) -> None:
    html = rendered(api, setup.member, "#1", setup.project)

    assert "<b>" not in html
    assert 'title="A &lt;b&gt;first&lt;/b&gt; one"' in html


def test_unresolvable_references_stay_text(api: Api, setup: ReferenceSetup) -> None:
    text = "#99 !99 ~nope %nope $99999 0123456789 no/such#1 0123456...89abcde #99999999999"

    assert rendered(api, setup.member, text, setup.project).strip().endswith(f">{text}</p>")


def test_many_references_take_constant_statements(api: Api, make: Make, setup: ReferenceSetup) -> None:
    def cost(text: str) -> int:
        costs = []
        for _ in range(3):
            before = executed(make.database)
            rendered(api, setup.member, text, setup.project)
            costs.append(executed(make.database) - before)
        return min(costs)

    one = f"#1 #2 !1 ~bug %1 $1 {setup.beside.path}#1"  # The second issue is confidential.
    many = " ".join(f"#{n} !{n} ~bug{n} %{n} ${n} {setup.beside.path}#{n}" for n in range(1, 180))
    with cold_reads():
        assert cost(f"{one} {many}") <= cost(one) + 2, "The other project is looked up too."


def test_disabled_and_deleted_merge_requests_are_not_linked(api: Api, make: Make) -> None:
    owner = make.user()
    project = filled_project(make, owner)
    first, second = make_merge_request(make, project, owner), make_merge_request(make, project, owner)
    assert api.delete(f"{project.url}/merge_requests/{first['iid']}", owner).status_code == 200

    html = rendered(api, owner, "!1 !2", project)
    assert (html.count("<a"), html.count(second["title"])) == (1, 1)
    assert api.put(project.url, owner, name=project.name, merge_requests_enabled=False).status_code == 200
    assert "<a" not in rendered(api, owner, "!1 !2", project)


def test_wiki_pages_contain_references(api: Api, setup: ReferenceSetup) -> None:
    sent = {"title": "Home", "content": "See #1 and #2 and `#1`."}
    assert api.post(f"{setup.project.url}/wikis", setup.member, **sent).status_code == 201

    page = f"{setup.project.url}/wikis/Home"
    for reader, links in ((setup.member, 2), (setup.guest, 1)):
        html = api.get(page, reader, render_html=True).json()["content"]
        assert html.count("<a") == links


def test_a_branch_named_like_a_commit_is_not_linked(api: Api, setup: ReferenceSetup) -> None:
    sent = {"branch": setup.ids["newest"][:9], "ref": setup.ids["first"]}
    assert api.post(f"{setup.project.url}/repository/branches", setup.member, **sent).status_code == 201

    html = rendered(api, setup.member, setup.ids["newest"][:9], setup.project)

    assert f'data-commit="{setup.ids["newest"]}"' in html


def test_the_number_of_references_is_limited(api: Api, make: Make, setup: ReferenceSetup) -> None:
    """Attack: a text with very many references; the first thousand are resolved."""
    before = executed(make.database)
    html = rendered(api, setup.member, "#1 " * 100_000, setup.project)

    assert html.count("data-issue") == 1000
    assert executed(make.database) - before < 40


def test_the_number_of_mentions_is_limited(api: Api, make: Make, setup: ReferenceSetup) -> None:
    """Attack: a note with ten thousand mentions and @all; it is stored with the work of a few."""
    names = " ".join(["@all", *(f"@nobody-{number}" for number in range(10_000)), f"@{setup.guest.username}"])

    def cost(body: str) -> int:
        before = executed(make.database)
        assert api.post(f"{setup.project.url}/issues/1/notes", setup.member, body=body).status_code == 201
        return executed(make.database) - before

    assert cost(names) <= cost(f"@all @{setup.guest.username}") + 10


def test_hostile_names_are_escaped(api: Api, make: Make) -> None:
    """Attack: object names that contain scripts."""
    owner = make.user()
    project = make_project(make, owner)
    title = "'\"><img src=x onerror=alert(1)>"
    for path, sent in {
        "issues": {"title": title},
        "labels": {"name": "red", "color": "#ff0000", "description": title},
        "milestones": {"title": title},
        "snippets": {"title": title, "file_name": "a", "code": "a", "visibility": "private"},
        "repository/files/a": {"branch": "master", "content": "a", "commit_message": title},
    }.items():
        assert api.post(f"{project.url}/{path}", owner, **sent).status_code == 201, path
    snippet = api.get(f"{project.url}/snippets", owner).json()[0]["id"]
    commit = api.get(f"{project.url}/repository/commits", owner).json()[0]["id"]

    html = rendered(api, owner, f"#1 ~red %1 ${snippet} {commit}", project)

    assert html.count("<a ") == 5
    assert "<img" not in html
    assert set(re.findall(r"<(\w+)", html)) == {"p", "a"}


def test_removed_members_see_no_links(api: Api, make: Make) -> None:
    """Attack: after access is withdrawn, the next request shows no reference, URL title or mention."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="private", members={other: Level.REPORTER})
    open_one = make_project(make, owner, visibility="public")
    for where, title in ((open_one, "seen"), (project, f"hidden {open_one.path}#1")):
        assert api.post(f"{where.url}/issues", owner, title=title).status_code == 201
    text = f"{project.path}#1 {api.url.rstrip('/')}/{project.path}/issues/1"
    notes = f"{open_one.url}/issues/1/notes"

    assert rendered(api, other, text).count("hidden") == 2
    assert len(api.get(notes, other).json()) == 1
    assert api.delete(f"{project.url}/members/{other.id}", owner).status_code == 200
    assert "hidden" not in rendered(api, other, text)
    assert api.get(notes, other).json() == []
