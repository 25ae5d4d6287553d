"""Search: results of each scope in the instance, a group and a project, and hidden results."""

from functools import partial
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from tests.api.issues.factories import make_issue, make_milestone
from tests.api.merge_requests.factories import commit, make_merge_request
from tests.client import Api, Make, User
from tests.factories import Group, Project, add_members, ids, make_group, make_project, statements_of

WORD = "Quixotic"
HIDDEN_FROM = ["stranger", "external", "guest"]


class SearchSetup(NamedTuple):
    """Group with a public and a private project, in which every object contains the same word."""

    people: dict[str, User]
    group: Group
    public: Project
    private: Project
    made: dict[str, Any]


def _fill(make: Make, project: Project, author: User) -> dict[str, Any]:
    api, base = make.api, f"/projects/{project.id}"
    open_one = make_issue(make, project, author, title=f"an open {WORD} one")
    secret = make_issue(make, project, author, description=f"a secret {WORD} one", confidential=True)
    snippet = api.post(
        f"{base}/snippets", author, title=f"{WORD} code", file_name="a.py", code=f"{WORD}()", visibility="private"
    ).json()
    shown = api.post(
        f"{base}/snippets", author, title=f"{WORD} open", file_name="a.py", code=f"{WORD}()", visibility="public"
    ).json()
    notes = {
        "open": api.post(f"{base}/issues/{open_one['iid']}/notes", author, body=f"Say {WORD}").json(),
        "secret": api.post(f"{base}/issues/{secret['iid']}/notes", author, body=f"Whisper {WORD}").json(),
        "internal": api.post(f"{base}/issues/{open_one['iid']}/notes", author, body=WORD, internal=True).json(),
        "snippet": api.post(f"{base}/snippets/{snippet['id']}/notes", author, body=f"Code {WORD}").json(),
        "shown": api.post(f"{base}/snippets/{shown['id']}/notes", author, body=f"Code {WORD}").json(),
    }
    commit(make, project, "master", {"a": "a\n"})
    offered = make_merge_request(make, project, author, title="An offer", description=f"It is {WORD}")
    gone = make_merge_request(make, project, author, title=f"{WORD}, but gone")
    about = f"{base}/merge_requests/{offered['iid']}/notes"
    notes |= {
        "offer": api.post(about, author, body=f"Review {WORD}").json(),
        "inner": api.post(about, author, body=WORD, internal=True).json(),
    }
    assert api.post(f"{base}/merge_requests/{gone['iid']}/notes", author, body=WORD).status_code == 201
    assert api.delete(f"{base}/merge_requests/{gone['iid']}", make.root).status_code == 200
    milestone = make_milestone(make, project, title=f"{WORD} {project.id}")
    return {
        "issues": [secret["id"], open_one["id"]],
        "merge_request": offered["id"],
        "snippets": [shown["id"], snippet["id"]],
        "notes": {name: note["id"] for name, note in notes.items()},
        "milestone": milestone["id"],
    }


@pytest.fixture(scope="module")
def setup(make: Make) -> SearchSetup:
    """Return a group, created once; the tests only read."""
    people = {name: make.user(external=name == "external") for name in (*HIDDEN_FROM, "author", "reporter")}
    people["administrator"] = make.root
    group = make_group(make, visibility="public")
    levels = {people["author"]: Level.DEVELOPER, people["reporter"]: Level.REPORTER}
    public = make_project(
        make, group=group, visibility="public", name=f"{WORD} public", members={**levels, people["guest"]: Level.GUEST}
    )
    private = make_project(make, group=group, visibility="private", name=f"{WORD} private", members=levels)
    made = {"public": _fill(make, public, people["author"]), "private": _fill(make, private, people["author"])}
    return SearchSetup(people, group, public, private, made)


def test_users_find_visible_objects_only(api: Api, setup: SearchSetup) -> None:
    """Attack: find confidential issues, private projects or private snippets."""
    public, private = setup.made["public"], setup.made["private"]
    whole, group = {"search": WORD.upper()}, f"/groups/{setup.group.id}/search"
    for name in ("author", "reporter", "administrator"):
        caller = setup.people[name]
        assert ids(api.get("/search", caller, scope="projects", **whole)) == [setup.private.id, setup.public.id]
        assert ids(api.get(group, caller, scope="projects", **whole)) == [setup.private.id, setup.public.id]
        both = private["issues"] + public["issues"]
        assert ids(api.get("/search", caller, scope="issues", **whole)) == both
        assert ids(api.get(group, caller, scope="issues", **whole)) == both
        both = [private["merge_request"], public["merge_request"]]
        assert ids(api.get("/search", caller, scope="merge_requests", **whole)) == both
        assert ids(api.get(group, caller, scope="merge_requests", **whole)) == both
        both = [private["milestone"], public["milestone"]]
        assert ids(api.get("/search", caller, scope="milestones", **whole)) == both
        assert ids(api.get(group, caller, scope="milestones", **whole)) == both
        for scope in ("snippet_titles", "snippet_blobs"):
            every = private["snippets"] + public["snippets"]
            seen = [private["snippets"][0], public["snippets"][0]] if name == "reporter" else every
            assert ids(api.get("/search", caller, scope=scope, **whole)) == seen, name
    for name in HIDDEN_FROM:
        caller = setup.people[name]
        assert ids(api.get("/search", caller, scope="projects", **whole)) == [setup.public.id]
        assert ids(api.get(group, caller, scope="projects", **whole)) == [setup.public.id]
        assert ids(api.get("/search", caller, scope="issues", **whole)) == public["issues"][1:]
        assert ids(api.get(group, caller, scope="issues", **whole)) == public["issues"][1:]
        assert ids(api.get("/search", caller, scope="merge_requests", **whole)) == [public["merge_request"]]
        assert ids(api.get(group, caller, scope="merge_requests", **whole)) == [public["merge_request"]]
        assert ids(api.get("/search", caller, scope="milestones", **whole)) == [public["milestone"]]
        assert ids(api.get(group, caller, scope="milestones", **whole)) == [public["milestone"]]
        for scope in ("snippet_titles", "snippet_blobs"):
            assert ids(api.get("/search", caller, scope=scope, **whole)) == public["snippets"][:1], (name, scope)


def test_search_in_a_project(api: Api, setup: SearchSetup) -> None:
    """By both spellings of the path; private projects get 404 for other users."""
    made = setup.made["public"]
    notes = made["notes"]
    everything = [notes[name] for name in ("inner", "offer", "shown", "snippet", "internal", "secret", "open")]
    seen = {
        "author": everything,
        "reporter": [note for note in everything if note != notes["snippet"]],
        "administrator": everything,
        "guest": [notes[name] for name in ("offer", "shown", "open")],
        "stranger": [notes["offer"], notes["shown"], notes["open"]],
        "external": [notes["offer"], notes["shown"], notes["open"]],
    }
    for name, caller in setup.people.items():
        for path in (f"/projects/{setup.public.id}/search", f"/projects/{setup.public.id}/-/search"):
            issues = made["issues"][1:] if name in HIDDEN_FROM else made["issues"]
            assert ids(api.get(path, caller, scope="issues", search=WORD)) == issues, name
            assert ids(api.get(path, caller, scope="milestones", search="quixOTIC")) == [made["milestone"]]
            assert ids(api.get(path, caller, scope="notes", search=WORD)) == seen[name], name
            assert ids(api.get(path, caller, scope="merge_requests", search=WORD)) == [made["merge_request"]]
        hidden = api.get(f"/projects/{setup.private.id}/search", caller, scope="issues", search=WORD)
        assert hidden.status_code == (404 if name in HIDDEN_FROM else 200), name
    found = api.get(f"/projects/{setup.public.id}/search", setup.people["stranger"], scope="notes", search="say qu")
    assert [(note["noteable_type"], note["noteable_iid"], note["body"]) for note in found.json()] == [
        ("Issue", 1, f"Say {WORD}")
    ]
    found = api.get(f"/projects/{setup.public.id}/search", setup.people["stranger"], scope="notes", search="review")
    assert [(note["noteable_type"], note["noteable_iid"]) for note in found.json()] == [("MergeRequest", 1)]
    short = api.get(f"/projects/{setup.public.id}/search", setup.people["reporter"], scope="notes", search="ay")
    assert ids(short) == [notes["open"]]


def test_results_follow_changes_at_once(api: Api, make: Make) -> None:
    """After edits, deletions and lost access."""
    owner, member = make.user(), make.user()
    project = make_project(make, owner, visibility="private", members={member: Level.REPORTER})
    path = f"/projects/{project.id}/search"
    issue = make_issue(make, project, owner)
    base = f"/projects/{project.id}/issues/{issue['iid']}/notes"
    note = api.post(base, owner, body="the first wording").json()["id"]
    assert ids(api.get(path, member, scope="notes", search="FIRST word")) == [note]
    api.put(f"{base}/{note}", owner, body="the Ünd wording")
    assert ids(api.get(path, member, scope="notes", search="first word")) == []
    assert ids(api.get(path, member, scope="notes", search="ünd WORD")) == [note]
    api.delete(f"/projects/{project.id}/issues/{issue['iid']}", owner)
    assert ids(api.get(path, member, scope="notes", search="wording")) == []
    api.delete(f"/projects/{project.id}/members/{member.id}", owner)
    assert api.get(path, member, scope="notes", search="wording").status_code == 404
    code = make.name("list")
    made = api.post("/snippets", owner, title="my Own", file_name="b.sh", code=code, visibility="private").json()["id"]
    for scope, text in (("snippet_titles", "y own"), ("snippet_titles", "B.SH"), ("snippet_blobs", code.upper())):
        assert ids(api.get("/search", owner, scope=scope, search=text)) == [made], text
        assert made not in ids(api.get("/search", member, scope=scope, search=text))
    api.put(f"/snippets/{made}", owner, visibility="internal", code="rm")
    assert ids(api.get("/search", member, scope="snippet_titles", search="my own")) == [made]
    assert ids(api.get("/search", member, scope="snippet_blobs", search="my own")) == []
    api.delete(f"/snippets/{made}", owner)
    assert ids(api.get("/search", owner, scope="snippet_titles", search="my own")) == []


def test_disabled_features(api: Api, make: Make) -> None:
    """Their scope is rejected in the project, and not searched elsewhere."""
    owner = make.user()
    project = make_project(make, owner, visibility="private")
    issue = make_issue(make, project, owner, title="switched off word")
    api.post(f"/projects/{project.id}/issues/{issue['iid']}/notes", owner, body="switched off word")
    commit(make, project, "master", {"a": "a\n"})
    offered = make_merge_request(make, project, owner, title="switched off word")
    api.post(f"/projects/{project.id}/merge_requests/{offered['iid']}/notes", owner, body="switched off word")
    guest = make.user()
    add_members(make, project, {guest: Level.GUEST})
    path = f"/projects/{project.id}/search"
    # Guests of a private project may not read its code, and so not its merge requests.
    assert api.get(path, guest, scope="merge_requests", search="word").status_code == 403
    assert {note["noteable_type"] for note in api.get(path, guest, scope="notes", search="word").json()} == {"Issue"}
    off = {"issues_enabled": False, "wiki_enabled": False, "merge_requests_enabled": False, "snippets_enabled": False}
    assert api.put(project.url, owner, **off).status_code == 200
    for scope in ("issues", "merge_requests", "milestones", "wiki_blobs"):
        assert api.get(path, owner, scope=scope, search="word").status_code == 403, scope
    assert api.get(path, owner, scope="notes", search="switched").json() == []
    for scope in ("issues", "merge_requests"):
        assert api.get("/search", owner, scope=scope, search="switched off").json() == []


def test_search_users(api: Api, make: Make, setup: SearchSetup) -> None:
    """All users in the instance; members in a group or project."""
    caller, sought = setup.people["stranger"], setup.people["author"]
    assert ids(api.get("/search", caller, scope="users", search=sought.username)) == [sought.id]
    in_project = api.get(f"/projects/{setup.public.id}/-/search", caller, scope="users", search=sought.username)
    assert ids(in_project) == [sought.id]
    assert "email" not in in_project.json()[0]
    assert api.get(f"/groups/{setup.group.id}/-/search", caller, scope="users", search=sought.username).json() == []
    root = make.root.username
    assert ids(api.get(f"/groups/{setup.group.id}/search", caller, scope="users", search=root)) == [make.root.id]


def test_optional_parameters(api: Api, setup: SearchSetup) -> None:
    """State, confidentiality, order and pages."""
    caller, made = setup.people["author"], setup.made["public"]
    path, issues = f"/projects/{setup.public.id}/search", {"scope": "issues", "search": WORD}
    assert ids(api.get(path, caller, **issues, confidential=True)) == made["issues"][:1]
    assert ids(api.get(path, caller, **issues, confidential=False)) == made["issues"][1:]
    assert ids(api.get(path, caller, **issues, state="closed")) == []
    assert ids(api.get(path, caller, **issues, state="merged")) == []
    assert ids(api.get(path, caller, **issues, sort="asc", order_by="created_at")) == made["issues"][::-1]
    first = api.get(path, caller, **issues, per_page=1)
    assert (ids(first), first.headers["X-Total"], first.headers["X-Next-Page"]) == (made["issues"][:1], "2", "2")
    assert ids(api.get(path, caller, scope="notes", search=WORD, per_page=2, page=2)) == [
        made["notes"]["shown"],
        made["notes"]["snippet"],
    ]
    offers = {"scope": "merge_requests", "search": WORD}
    assert ids(api.get(path, caller, **offers, state="opened")) == [made["merge_request"]]
    assert ids(api.get(path, caller, **offers, state="merged")) == []


UNSUPPORTED_SCOPES = [
    ("/search", ("blobs", "commits", "wiki_blobs", "notes", "nonsense", "")),
    ("/groups/{group}/search", ("blobs", "commits", "wiki_blobs", "notes", "snippet_titles")),
    ("/projects/{project}/search", ("projects", "snippet_titles", "snippet_blobs")),
]


def test_invalid_requests_are_rejected(api: Api, setup: SearchSetup) -> None:
    """A missing text, an unknown scope, and unsupported scopes."""
    caller = setup.people["author"]
    for path, scopes in UNSUPPORTED_SCOPES:
        address = path.format(group=setup.group.id, project=setup.public.id)
        for scope in scopes:
            answer = api.get(address, caller, scope=scope, search="x")
            expected = {"scope": ["is invalid"]} if scope else '400 (Bad request) "scope" not given'
            assert (answer.status_code, answer.json()) == (400, {"message": expected}), scope
        for sent in ({}, {"search": ""}, {"search": " \n"}):
            answer = api.get(address, caller, scope="issues", **sent)
            assert answer.json() == {"message": '400 (Bad request) "search" not given'}, sent
        assert api.get(address, None, scope="issues", search="x").status_code == 401
    assert api.get("/groups/999999999/search", caller, scope="issues", search="x").status_code == 404


HOSTILE = [
    "x" * 8000,
    "Ünïcödé 中文字 👩‍🚀",
    ".*",
    "[a-z]+(",
    "--output=/tmp/x",
    "-e",
    "'; --",
    '"a" OR b',
    "%",
    "_",
    "\\",
]
SCOPES = {
    "/search": ("projects", "issues", "milestones", "snippet_titles", "snippet_blobs", "users"),
    "/groups/{group}/search": ("projects", "issues", "milestones", "users"),
    "/projects/{project}/search": ("issues", "milestones", "notes", "wiki_blobs", "commits", "blobs", "users"),
}


def _contains(found: Any, text: str) -> bool:
    if isinstance(found, dict):
        return any(_contains(value, text) for value in found.values())
    return isinstance(found, str) and text.casefold() in found.casefold()


@pytest.mark.parametrize("path", SCOPES)
def test_hostile_texts(api: Api, setup: SearchSetup, path: str) -> None:
    """Special characters are literal in every scope; NUL and a megabyte are rejected."""
    caller = setup.people["author"]
    address = path.format(group=setup.group.id, project=setup.public.id)
    for scope in SCOPES[path]:
        for text in HOSTILE:
            answer = api.get(address, caller, scope=scope, search=text)
            assert answer.status_code == 200, (scope, text)
            # Users, projects and snippets of other tests may match.
            results = answer.json()
            if scope == "snippet_blobs":
                results = [api.get(f"/snippets/{found['id']}/raw", caller).text for found in results]
            assert all(_contains(found, text) for found in results), (scope, text)
        for text in ("a\0b", "x" * 8001):
            assert api.get(address, caller, scope=scope, search=text).status_code == 400, (scope, text)
    long = api.request("GET", address, caller, json={"scope": "issues", "search": "x" * 2**20})
    assert long.status_code == 400


def test_statements_do_not_grow_with_the_page(api: Api, make: Make, setup: SearchSetup) -> None:
    caller = setup.people["author"]
    for path, scopes in SCOPES.items():
        address = path.format(group=setup.group.id, project=setup.public.id)
        for scope in set(scopes) - {"commits", "blobs", "wiki_blobs", "users"}:
            costs = [
                statements_of(make, partial(api.get, address, caller, scope=scope, search=WORD, per_page=size))
                for size in (1, 50)
            ]
            assert costs[1] <= costs[0] + 1, (path, scope)


def test_a_long_query_is_matched_completely_and_does_not_block(api: Api, make: Make) -> None:
    """Attack: a query of one repeated letter has very many matches in a trigram index."""
    owner = make.user()
    project = make_project(make, owner)
    long = "Ahoi " + "y" * 100 + " there"
    for description in ("y" * 1_000_000, long, "y" * 60):
        assert api.post(f"{project.url}/issues", owner, title="Long", description=description).status_code == 201

    def found(text: str) -> list[int]:
        return sorted(issue["iid"] for issue in api.get(f"{project.url}/issues", owner, search=text).json())

    assert found("y" * 8000) == [1]
    assert found("y" * 100) == [1, 2]
    assert found(long.upper()) == [2]
    assert found("y" * 99 + "n") == []
