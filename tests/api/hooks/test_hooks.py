"""Webhooks through the API: stored settings, secrets, permissions."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ingot.core.access.levels import Level
from ingot.core.errors import Invalid
from ingot.core.outgoing.guard import SsrfGuard
from ingot.webhooks import service
from ingot.webhooks.params import WriteHook
from ingot.webhooks.queries import HookOwner
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_group, make_project, statements_of

URL = "https://example.com/hook?x=1"
FLAGS = [
    "push_events", "tag_push_events", "issues_events", "confidential_issues_events", "merge_requests_events",
    "note_events", "confidential_note_events", "job_events", "pipeline_events", "wiki_page_events", "releases_events",
]  # fmt: skip
OWNERS = ["projects", "groups", "system"]


def hooks_path(make: Make, owner: str) -> str:
    """Return the path of the hooks of a new project or group, or of the instance."""
    if owner == "system":
        return "/hooks"
    return (make_project(make) if owner == "projects" else make_group(make)).url + "/hooks"


@pytest.fixture(scope="module")
def project(make: Make) -> Project:
    """Return a new project."""
    return make_project(make)


def test_life_cycle_of_a_project_hook(api: Api, make: Make) -> None:
    """The five endpoints of the specification."""
    project = make_project(make)
    sent = {"url": URL, "issues_events": "true", "wiki_events": True, "push_events": False, "token": "s3cret token"}
    older = {"build_events": True}
    made = api.post(f"/projects/{project.id}/hooks", make.root, **sent, **older)
    assert made.status_code == 201, made.text
    hook = made.json()
    wanted = dict.fromkeys(FLAGS, False) | {"issues_events": True, "wiki_page_events": True, "job_events": True}
    assert {name: hook[name] for name in FLAGS} == wanted
    assert (hook["url"], hook["project_id"], hook["enable_ssl_verification"]) == (URL, project.id, True)
    assert (hook["alert_status"], hook["disabled_until"]) == ("executable", None)

    assert api.get(f"/projects/{project.id}/hooks/{hook['id']}", make.root).json() == hook
    listed = api.get(f"/projects/{project.id}/hooks", make.root)
    assert listed.json() == [hook]
    assert listed.headers["x-total"] == "1"

    changes = {"url": URL, "wiki_page_events": False, "enable_ssl_verification": False, "job_events": False}
    edited = api.put(f"/projects/{project.id}/hooks/{hook['id']}", make.root, **changes)
    assert edited.status_code == 200
    assert edited.json() == hook | changes

    # A wildcard stays a wildcard, whichever part of the filter is sent.
    branches = api.put(f"/projects/{project.id}/hooks/{hook['id']}", make.root, url=URL, push_events_branch_filter="*(")
    assert (branches.status_code, branches.json()["push_events_branch_filter"]) == (200, "*(")
    strategy = api.put(f"/projects/{project.id}/hooks/{hook['id']}", make.root, url=URL, branch_filter_strategy="regex")
    assert strategy.status_code == 400
    gone = api.delete(f"/projects/{project.id}/hooks/{hook['id']}", make.root)
    assert (gone.status_code, gone.json()) == (200, branches.json())
    again = api.delete(f"/projects/{project.id}/hooks/{hook['id']}", make.root)
    assert (again.status_code, again.content) == (200, b"")
    assert api.get(f"/projects/{project.id}/hooks/{hook['id']}", make.root).status_code == 404
    assert api.put(f"/projects/{project.id}/hooks/{hook['id']}", make.root, url=URL).status_code == 404


def test_default_events(api: Api, make: Make) -> None:
    """Pushes for projects and groups; repository updates for the instance."""
    for owner, at_first in (
        ("projects", "push_events"),
        ("groups", "push_events"),
        ("system", "repository_update_events"),
    ):
        place = hooks_path(make, owner)
        hook = api.post(place, make.root, url=URL).json()
        flags = [name for name in (*FLAGS, "repository_update_events") if hook[name]]
        assert flags == [at_first]
        api.delete(f"{place}/{hook['id']}", make.root)


@pytest.mark.parametrize("owner", OWNERS)
def test_secrets_are_never_shown(api: Api, make: Make, owner: str) -> None:
    """Neither on reading nor on creating, editing or deleting; this includes the password in a URL."""
    place = hooks_path(make, owner)
    sent = {
        "url": "https://ada:pass-word@example.com/hook",
        "token": "token-of-the-hook",
        "signing_token": "signing-token",
        "custom_headers": [{"key": "X-Key", "value": "value-of-header"}],
    }
    made = api.post(place, make.root, **sent)
    assert made.status_code == 201, made.text
    one = f"{place}/{made.json()['id']}"
    answers = [made, api.get(one, make.root), api.get(place, make.root), api.put(one, make.root, **sent)]
    answers.append(api.delete(one, make.root))
    for answer in answers:
        for secret in ("pass-word", "ada", "token-of-the-hook", "signing-token", "value-of-header"):
            assert secret not in answer.text
    assert made.json()["url"] == "https://*****:*****@example.com/hook"
    assert made.json()["custom_headers"] == [{"key": "X-Key"}]


@pytest.mark.parametrize("owner", OWNERS)
def test_group_hooks_and_system_hooks(api: Api, make: Make, owner: str) -> None:
    """With the same endpoints."""
    place = hooks_path(make, owner)
    hook = api.post(place, make.root, url=URL, tag_push_events=True).json()
    assert api.get(f"{place}/{hook['id']}", make.root).json() == hook
    edited = api.put(f"{place}/{hook['id']}", make.root, url=URL, name="Bot", description="Builds", push_events=True)
    assert edited.json() == hook | {"name": "Bot", "description": "Builds", "push_events": True}
    assert hook["id"] in [each["id"] for each in api.get(place, make.root).json()]
    assert api.delete(f"{place}/{hook['id']}", make.root).json() == edited.json()
    assert api.delete(f"{place}/{hook['id']}", make.root).content == b""
    assert api.get(f"{place}/{hook['id']}", make.root).status_code == 404
    # The same paths, written out so that a search finds them.
    assert api.get("/hooks/0", make.root).status_code == 404
    assert api.put("/hooks/0", make.root, url=URL).status_code == 404
    assert api.post("/hooks/0", make.root).status_code == 404
    assert api.delete("/hooks/0", make.root).status_code == 200
    assert api.get("/hooks/0/events", make.root).status_code == 404
    assert api.post("/hooks/0/events/0/resend", make.root).status_code == 404
    group = make_group(make).id
    assert api.get(f"/groups/{group}/hooks/0", make.root).status_code == 404
    assert api.put(f"/groups/{group}/hooks/0", make.root, url=URL).status_code == 404
    assert api.delete(f"/groups/{group}/hooks/0", make.root).status_code == 200
    assert api.get(f"/groups/{group}/hooks/0/events", make.root).status_code == 404
    assert api.post(f"/groups/{group}/hooks/0/events/0/resend", make.root).status_code == 404
    assert api.post(f"/groups/{group}/hooks/0/test/push_events", make.root).status_code == 404


CALLERS = [
    (Level.NONE, "private", 404),
    (Level.NONE, "public", 403),
    (Level.GUEST, "private", 403),
    (Level.DEVELOPER, "private", 403),
    (Level.MASTER, "private", 200),
]


@pytest.mark.parametrize(("level", "visibility", "status"), CALLERS)
def test_masters_manage_project_hooks(api: Api, make: Make, level: Level, visibility: str, status: int) -> None:
    """Other users cannot list them."""
    user = make.user()
    project = make_project(make, visibility=visibility, members={user: level})
    hook = api.post(f"/projects/{project.id}/hooks", make.root, url=URL).json()["id"]
    one = f"/projects/{project.id}/hooks/{hook}"
    assert api.get(f"/projects/{project.id}/hooks", user).status_code == status
    assert api.get(one, user).status_code == status
    assert api.get(f"{one}/events", user).status_code == status
    assert api.put(one, user, url=URL).status_code == status
    # Permission is checked before the existence of the hook.
    assert api.post(f"{one}/test/push_events", user).status_code == (422 if status == 200 else status)
    assert api.delete(one, user).status_code == status
    assert api.post(f"/projects/{project.id}/hooks", user, url=URL).status_code == (201 if status == 200 else status)


def test_owners_manage_group_hooks_and_administrators_system_hooks(api: Api, make: Make) -> None:
    """Masters and other users may not."""
    owner, master = make.user(), make.user()
    group = make_group(make, owner, members={master: Level.MASTER})
    for person, status in ((owner, 200), (master, 403), (make.user(), 404)):
        assert api.get(f"/groups/{group.id}/hooks", person).status_code == status
        assert api.get("/hooks", person).status_code == 403
    assert api.get("/hooks", make.root).status_code == 200
    assert api.get("/hooks").status_code == 401


def test_a_hook_is_found_only_under_its_owner(api: Api, make: Make, project: Project) -> None:
    """Attack: use the id of a hook of another project."""
    mine = make_project(make)
    hook = api.post(f"/projects/{project.id}/hooks", make.root, url=URL).json()["id"]
    for place in (f"/projects/{mine.id}/hooks/{hook}", f"/hooks/{hook}", f"{make_group(make).url}/hooks/{hook}"):
        assert api.get(place, make.root).status_code == 404
        assert api.put(place, make.root, url=URL).status_code == 404
        assert api.delete(place, make.root).content == b""
    assert api.get(f"/projects/{project.id}/hooks/{hook}", make.root).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"url": None},
        {"url": ["x"]},
        {"url": URL, "push_events": "perhaps"},
        {"url": URL, "token": "two\nlines"},
        {"url": URL, "token": "x" * 1025},
        {"url": URL, "signing_token": "whsec_not base64"},
        {"url": URL, "name": "x" * 256},
        {"url": URL, "branch_filter_strategy": "other"},
        {"url": URL, "branch_filter_strategy": "regex", "push_events_branch_filter": "(a"},
        {"url": URL, "branch_filter_strategy": "regex", "push_events_branch_filter": "(?=a)"},
        {"url": URL, "custom_headers": [{"key": "Host", "value": "x"}]},
        {"url": URL, "custom_headers": [{"key": "X Y", "value": "x"}]},
        {"url": URL, "custom_headers": [{"key": "X", "value": "a\r\nB: c"}]},
        {"url": URL, "custom_headers": [{"key": "X", "value": "1"}, {"key": "x", "value": "2"}]},
        {"url": URL, "custom_headers": [{"key": "X"}]},
    ],
)
def test_invalid_hooks_are_rejected(api: Api, make: Make, project: Project, wrong: dict[str, Any]) -> None:
    """With errors in the format of the API."""
    answer = api.post(f"/projects/{project.id}/hooks", make.root, **wrong)
    assert answer.status_code == 400, answer.text
    assert answer.json()["message"]


BYPASSES = [
    "http://127.0.0.1", "http://127.0.0.1:8080/x", "https://127.1.2.3", "http://0.0.0.0", "http://0", "http://00",
    "http://0177.1", "http://0177.0.0.01", "http://0x7f.1", "http://0x7f000001", "http://2130706433",
    "http://017700000001", "http://127.1", "http://127.0.1", "http://127.0.0.01", "http://127.0.0.1.",
    "http://localhost", "http://LOCALHOST:80", "http://localhost.", "http://x.localhost", "http://localhost.localdomain",
    "http://ip6-localhost", "http://[::1]", "http://[::]", "http://[0:0:0:0:0:0:0:1]", "http://[::ffff:127.0.0.1]",
    "http://[::ffff:7f00:1]", "http://[::127.0.0.1]", "http://[64:ff9b::7f00:1]", "http://[2002:7f00:1::]",
    "http://[fe80::1]", "http://[fe80::1%25eth0]", "http://[fc00::1]", "http://[fd00:ec2::254]", "http://[ff02::1]",
    "http://10.0.0.1", "http://172.16.0.1", "http://192.168.0.1", "http://100.64.0.1", "http://100.100.100.200",
    "http://169.254.169.254/latest/meta-data", "http://168.63.129.16", "http://192.0.0.192", "http://224.0.0.1",
    "http://255.255.255.255", "http://metadata.google.internal/", "http://example.com@127.0.0.1/",
    "http://a:b@127.0.0.1/", "http://a@b@127.0.0.1/", "http://example.com\\@127.0.0.1/", "http://127.0.0.1\\@example.com",
    "http://１２７.0.0.1", "http://ⓛocalhost", "http://127。0。0。1", "http://%31%32%37.0.0.1", "http://example.com:0",
    "http://example.com:99999", "http://exa mple.com", "http://example.com\r\nHost: x", "http:///x", "http:example.com",
    "//example.com", "example.com", "", "ftp://example.com", "file:///etc/passwd", "gopher://example.com:70/_x",
    "unix:/var/run/docker.sock", "dict://example.com", "javascript:alert(1)", "data:text/plain,x",
    "http://" + "a" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("url", BYPASSES)
def test_local_urls_are_rejected(api: Api, make: Make, project: Project, url: str) -> None:
    """Attack: every spelling of a local address. Nothing is resolved."""
    for path in (f"/projects/{project.id}/hooks",):
        answer = api.post(path, make.root, url=url)
        assert answer.status_code == 422, answer.text
        assert list(answer.json()["message"]) == ["url"]
    assert api.post("/hooks", make.root, url=url).status_code == 400


def test_saving_a_hook_resolves_no_name(api: Api, make: Make, project: Project) -> None:
    """The name may not exist yet, and the caller must not learn names of the internal network."""
    made = api.post(f"/projects/{project.id}/hooks", make.root, url="http://no-such-host.invalid/x")
    assert made.status_code == 201


def test_the_number_of_hooks_is_limited(api: Api, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every push is delivered to each hook."""
    monkeypatch.setattr(service, "MAX_HOOKS", 5)
    project = make_project(make)
    for _ in range(5):
        assert api.post(f"/projects/{project.id}/hooks", make.root, url=URL).status_code == 201
    assert api.post(f"/projects/{project.id}/hooks", make.root, url=URL).status_code == 400
    short = statements_of(make, lambda: api.get(f"/projects/{project.id}/hooks", make.root, per_page=1))
    long = statements_of(make, lambda: api.get(f"/projects/{project.id}/hooks", make.root, per_page=100))
    assert long <= short


def test_concurrent_creation_respects_the_limit(
    api: Api, make: Make, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MAX_HOOKS", 2)
    project, group = make_project(make), make_group(make)
    guard = SsrfGuard()
    for owner in (HookOwner("project", project.id), HookOwner("group", group.id)):
        line = threading.Barrier(6, timeout=30)

        def add(_: int, owner: HookOwner = owner, line: threading.Barrier = line) -> bool:
            line.wait()
            try:
                instance.app.database.write(lambda db: service.create_hook(db, owner, WriteHook(url=URL), guard))
            except Invalid:
                return False
            return True

        with ThreadPoolExecutor(6) as threads:
            assert sum(threads.map(add, range(6))) == 2
        assert len(api.get(f"/{owner.kind}s/{owner.id}/hooks", make.root).json()) == 2


def test_removed_members_lose_access_to_hooks(api: Api, make: Make) -> None:
    """Immediately."""
    user: User = make.user()
    project = make_project(make, members={user: Level.MASTER})
    assert api.get(f"/projects/{project.id}/hooks", user).status_code == 200
    api.delete(f"/projects/{project.id}/members/{user.id}", make.root)
    assert api.get(f"/projects/{project.id}/hooks", user).status_code == 404
