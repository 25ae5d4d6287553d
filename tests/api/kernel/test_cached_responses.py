"""Responses that are cached until the next commit: each is the one that a new read would give."""

import re
import sys
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from ingot.accounts.users.tables import users
from ingot.core.access.levels import Level
from ingot.server.registry import all_endpoints
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import changed_settings, day, later, make_project
from tests.git_history import History, repository_of
from tests.sample_data.records import SampleData, open_sample_data
from tests.sample_data.texts import SampleTexts
from tests.statements import cold_reads, recorded_statements

CACHED = [endpoint.path for endpoint in all_endpoints() if endpoint.cached]
OF_A_REPOSITORY = [endpoint.path for endpoint in all_endpoints() if endpoint.state is not None]
QUERIES = {
    "/projects/:id/repository/compare": "from=master&to=topic",
    "/projects/:id/repository/merge_base": "refs[]=master&refs[]=topic",
    "/projects/:id/repository/files/:file_path": "ref=master",
}
"""Required parameters."""
NOT_CACHED = {
    "/merge_requests": "compares the branches of open ones",
    "/groups/:id/merge_requests": "compares the branches of open ones",
    "/projects/:id/repository/commits/:sha/discussions": "looks the commit up",
    "/projects/:id/repository/commits/:sha/discussions/:discussion_id": "looks the commit up",
}
"""Routes that are declared together with cached ones, but read a repository."""


@pytest.fixture(scope="module")
def samples(instance: Instance, make: Make) -> Iterator[SampleData]:
    """Yield objects of every kind."""
    with open_sample_data(instance, make, SampleTexts(hostile=False)) as samples:
        yield samples


class _FileAudit:
    """Collector of the files and folders that this process opens; a hook of the interpreter cannot be removed."""

    def __init__(self) -> None:
        self.opened: list[str] | None = None
        sys.addaudithook(self._note)

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        if self.opened is not None and event in ("open", "os.listdir", "os.scandir", "subprocess.Popen"):
            self.opened.append(f"{event} {args[0]}")


@pytest.fixture(scope="module")
def audit() -> _FileAudit:
    """Return the hook, which collects nothing yet."""
    return _FileAudit()


@pytest.fixture
def opened(audit: _FileAudit) -> Iterator[list[str]]:
    """Yield the list of what was opened since it was cleared."""
    audit.opened = []
    yield audit.opened
    audit.opened = None


def _address(samples: SampleData, route: str) -> str:
    """Return the address of an existing object."""
    named = samples.named
    subject = next((word for word in ("commit", "issue", "merge_request", "snippet") if f"/{word}" in route), "")
    subject = "offer" if subject == "merge_request" else subject
    blob = samples.make.api.get(f"{samples.project.url}/repository/tree", samples.owner).json()
    words = {
        "id": next(
            str(number)
            for prefix, number in (
                ("/projects", samples.project.id),
                ("/groups", samples.group.id),
                ("/", samples.owner.id),
            )
            if route.startswith(prefix)
        ),
        "user_id": str(samples.owner.id),
        "branch": "topic",
        "sha": next(each["id"] for each in blob if each["type"] == "blob") if "/blobs/" in route else named[":sha"],
        "pipeline_id": named["pipeline"],
        "file_path": next(each["path"] for each in blob if each["type"] == "blob"),
        "issue_iid": "1",
        "merge_request_iid": "1",
        "snippet_id": named["snippet"],
        "note_id": named.get(f"{subject} note", ""),
        "discussion_id": named.get(f"{subject} discussion", ""),
    }
    path = re.sub(r":(\w+)", lambda match: words[match[1]], route)
    return f"{path}?{QUERIES[route]}" if route in QUERIES else path


@pytest.mark.parametrize("route", CACHED)
def test_the_second_read_executes_no_statement(api: Api, instance: Instance, samples: SampleData, route: str) -> None:
    """It only looks whether something was committed."""
    path = _address(samples, route)
    api.get(path, samples.owner)  # It may store what it has computed, such as whether a branch can be merged.
    first = api.get(path, samples.owner)
    assert first.status_code == 200, first.text
    executed = []
    for _ in range(5):  # Meanwhile another thread may commit, or settings of rate limits be due to be read again.
        with recorded_statements(instance.app.database) as statements:
            second = api.get(path, samples.owner)
            executed.append(len(statements))
    assert min(executed) == 0 or route in NOT_CACHED
    assert second.content == first.content
    of_this_request = {"x-request-id", "date"}
    lines = [
        [each for each in read.headers.multi_items() if each[0] not in of_this_request] for read in (first, second)
    ]
    assert lines[0] == lines[1]
    assert len(second.headers.get_list("x-request-id")) == 1


@pytest.mark.parametrize("route", sorted({*CACHED} - {*OF_A_REPOSITORY}))
def test_a_route_without_a_repository_opens_no_file(
    api: Api, samples: SampleData, route: str, opened: list[str]
) -> None:
    """A file changes without a commit."""
    path = _address(samples, route)
    with cold_reads():
        api.get(path, samples.owner)
        counts = []
        for _ in range(3):  # Other threads may open files meanwhile.
            opened.clear()
            assert api.get(path, samples.owner).status_code == 200
            counts.append(len(opened))
    assert min(counts) == 0 or route in NOT_CACHED


def test_a_response_that_depends_on_the_time_of_day_is_read_again(api: Api, make: Make, instance: Instance) -> None:
    locked = make.user()
    path = f"/users/{locked.id}"
    with changed_settings(make, max_login_attempts=3, failed_login_attempts_unlock_period_in_minutes=30):
        instance.app.database.write(lambda db: db.update(users, locked.id, failed_attempts=3, locked_at=db.now))
        for _ in range(2):
            assert api.get(path, make.root).json()["locked"] is True
            with later(instance, minutes=31):
                assert api.get(path, make.root).json()["locked"] is False


def test_a_streamed_file_is_read_again(api: Api, make: Make, instance: Instance) -> None:
    """Its response can be sent once."""
    project = make_project(make)
    history = History()
    content = b"0123456789abcdef" * 2**16 * 3
    history.commit(files={"large.bin": content})
    history.fill(instance, project)
    for _ in range(3):
        found = api.get(f"{project.url}/repository/files/large.bin", make.root, ref="master").json()
        assert b64decode(found["content"]) == content


def test_conditions_and_methods_of_requests_are_their_own(api: Api, make: Make) -> None:
    project = make_project(make)
    path = f"{project.url}/issues"
    first = api.get(path, make.root)
    unchanged = api.request("GET", path, make.root, headers={"If-None-Match": first.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    other = api.request("GET", path, make.root, headers={"If-None-Match": 'W/"other"'})
    assert (other.status_code, other.json()) == (200, [])
    assert api.request("HEAD", path, make.root).content == b""
    assert api.get(path, make.root).headers["x-total"] == "0"
    api.post(path, make.root, title="New")
    changed = api.request("GET", path, make.root, headers={"If-None-Match": first.headers["etag"]})
    assert (changed.status_code, changed.headers["x-total"]) == (200, "1")


def test_a_token_that_may_not_read_gets_no_cached_response(api: Api, make: Make) -> None:
    """Nor one that was revoked, nor the response of another identity of the same user."""
    person = make.user()
    reader, other = (person.with_token(make.token(person.id, scope)) for scope in ("read_api", "read_user"))
    project = make_project(make, person)
    api.post(f"{project.url}/issues", person, title="Known")
    for _ in range(2):
        assert api.get(f"{project.url}/issues", reader).status_code == 200
        assert api.get(f"{project.url}/issues", other).status_code == 403
        assert "private_token" not in api.get("/user", other).json()
        acting = api.request("GET", "/user", make.root, headers={"Sudo": person.username}).json()
        assert acting["id"] == person.id
        assert api.get("/user", make.root).json()["id"] != person.id
    token_id = api.get("/personal_access_tokens/self", reader).json()["id"]
    assert api.delete(f"/personal_access_tokens/{token_id}", make.root).status_code == 200
    assert api.get(f"{project.url}/issues", reader).status_code == 401
    assert api.post(f"/users/{person.id}/block", make.root).status_code == 201
    assert api.get(f"{project.url}/issues", person).status_code in (401, 403)


def test_settings_take_effect_at_once(api: Api, make: Make) -> None:
    person = make.user()
    project = make_project(make, person)
    for enabled in ("disabled", "enabled"):
        api.get(f"{project.url}/issues", person)
        assert api.put(project.url, person, issues_access_level=enabled).status_code == 200
        assert api.get(f"{project.url}/issues", person).status_code == (200 if enabled == "enabled" else 403)


def test_each_caller_has_another_response(api: Api, make: Make) -> None:
    member, other = make.user(), make.user()
    project = make_project(make, visibility="private", members={member: Level.REPORTER})
    path = f"{project.url}/issues"
    api.post(path, make.root, title="Secret", confidential=True)
    api.post(path, make.root, title="Known")
    for _ in range(2):
        assert [each["title"] for each in api.get(path, make.root).json()] == ["Known", "Secret"]
        assert len(api.get(path, member).json()) == 2
        assert api.get(path, other).status_code == 404
        assert api.get(path).status_code == 401
    assert api.get(project.url, member).json()["permissions"]["project_access"]["access_level"] == Level.REPORTER
    api.delete(f"{project.url}/members/{member.id}", make.root)
    assert api.get(path, member).status_code == 404
    assert api.get(project.url, member).status_code == 404


def test_a_membership_ends_at_midnight(api: Api, make: Make, instance: Instance) -> None:
    member = make.user()
    project = make_project(make, visibility="private")
    sent = {"user_id": member.id, "access_level": 30, "expires_at": "2100-01-02"}
    assert api.post(f"{project.url}/members", make.root, **sent).status_code == 201
    for path in (f"{project.url}/issues", project.url):
        with day(instance, "2100-01-01"):
            assert api.get(path, member).status_code == 200
        with day(instance, "2100-01-02"):
            assert api.get(path, member).status_code == 404


def test_links_have_the_host_of_the_request(api: Api, make: Make) -> None:
    project = make_project(make)
    api.post(f"{project.url}/issues", make.root, title="Linked")
    for host in ("one.example", "two.example"):
        issue = api.request("GET", f"{project.url}/issues/1", make.root, headers={"Host": host}).json()
        assert issue["web_url"].startswith(f"http://{host}/")


def test_changes_of_branches_are_seen(api: Api, make: Make, instance: Instance) -> None:
    """Also those that no call has made, such as the update of a branch by a program on the server."""
    project = make_project(make)
    history = History()
    history.commit(files={"a.txt": "one\n"})
    history.fill(instance, project)
    path = f"{project.url}/repository"

    def content() -> str:
        commits = api.get(f"{path}/commits", make.root).json()
        branch = api.get(f"{path}/branches/master", make.root).json()
        assert branch["commit"]["id"] == commits[0]["id"]
        return str(api.get(f"{path}/files/a.txt", make.root, ref="master").json()["content_sha256"])

    first = content()
    sent = {"branch": "master", "content": "two\n", "commit_message": "Change"}
    assert api.put(f"{path}/files/a.txt", make.root, **sent).status_code == 200
    second = content()
    more = History()
    more.commit(files={"a.txt": "three\n"}, parents=("refs/heads/master^0",))
    more.into(repository_of(instance, project))
    assert len({first, second, content()}) == 3
