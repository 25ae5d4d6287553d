"""Repository access levels: members only, or disabled, at every interface."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project
from tests.git_history import History
from tests.roles import UsersByRole, project_with
from tests.transport.conftest import Tree, over_http
from tests.transport.wire import advertised, auth_of, connected, key_of

NO_CODE = "You are not allowed to download code from this project."
NO_PUSH = "You are not allowed to push code to this project."
READERS = ("reporter", "developer", "administrator")
Give = Callable[..., dict[str, str]]

READS = [
    "repository/tree",
    "repository/commits",
    "repository/commits/master",
    "repository/commits/master/diff",
    "repository/commits/master/statuses",
    "repository/commits/master/comments",
    "repository/branches",
    "repository/branches/master",
    "repository/tags",
    "repository/files/a?ref=master",
    "repository/files/a/raw?ref=master",
    "repository/files/a/blame?ref=master",
    "repository/archive",
    "repository/archive.zip",
    "repository/compare?from=master&to=master",
    "repository/contributors",
    "languages",
    "releases",
    "merge_requests",
    "search?scope=blobs&search=a",
    "search?scope=commits&search=a",
]


@pytest.fixture(scope="module")
def roles(make: Make) -> UsersByRole:
    return UsersByRole(make)


@pytest.fixture(scope="module")
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    made = project_with(make, roles, visibility="public")
    history = History()
    history.commit(files={"a": "a\n"})
    history.commit("topic", files={"b": "b\n"})
    history.fill(instance, made)
    sent = {"source_branch": "topic", "target_branch": "master", "title": "Seldom seen"}
    assert make.api.post(f"{made.url}/merge_requests", roles.developer, **sent).status_code == 201
    return made


@pytest.fixture(params=["enabled", "private", "disabled"])
def level(request: pytest.FixtureRequest, api: Api, roles: UsersByRole, project: Project) -> str:
    chosen: str = request.param
    answer = api.put(project.url, roles.owner, repository_access_level=chosen)
    assert (answer.status_code, answer.json()["repository_access_level"]) == (200, chosen)
    return chosen


def _reads(level: str, role: str) -> bool:
    return level == "enabled" or (level == "private" and role in READERS)


@pytest.mark.parametrize("role", ["nobody", "stranger", "guest", *READERS])
def test_the_api_respects_it(api: Api, roles: UsersByRole, project: Project, level: str, role: str) -> None:
    """The visibility of the project itself does not change."""
    person = roles[role]
    assert api.get(project.url, person).status_code == 200
    for path in READS:
        status = api.get(f"{project.url}/{path}", person).status_code
        if person is None and status == 401:
            continue  # Denied to anonymous callers in any case, or no longer permitted.
        assert status == (200 if _reads(level, role) else 403), (path, status)
    if person is not None and level != "private":  # Guests may see jobs without the code.
        assert api.get(f"{project.url}/pipelines", person).status_code == (200 if level == "enabled" else 403)
    if person is None and level != "enabled":
        assert api.get(f"{project.url}/repository/tree").status_code in (401, 403)


@pytest.mark.parametrize("role", ["stranger", "reporter", "developer", "administrator"])
def test_lists_over_many_projects_respect_it(
    api: Api, roles: UsersByRole, project: Project, level: str, role: str
) -> None:
    person = roles[role]
    listed = api.get("/merge_requests", person, scope="all", search="Seldom", per_page=100).json()
    assert (project.id in {each["project_id"] for each in listed}) == _reads(level, role)
    found = api.get("/search", person, scope="merge_requests", search="Seldom").json()
    assert (project.id in {each["project_id"] for each in found}) == _reads(level, role)
    events = api.get(f"{project.url}/events", person).json()
    told = {each["target_title"] for each in events if each["target_type"] == "MergeRequest"}
    assert ("Seldom seen" in told) == _reads(level, role)


@pytest.mark.parametrize("role", ["nobody", "stranger", "guest", *READERS])
def test_git_over_http_respects_it(
    instance: Instance, roles: UsersByRole, project: Project, level: str, role: str
) -> None:
    person, reads = roles[role], _reads(level, role)
    writes = reads and role in ("developer", "administrator")
    for service, may, sentence in (("upload", reads, NO_CODE), ("receive", writes, NO_PUSH)):
        answer = advertised(instance, f"{project.path}.git", service, auth_of(person))
        # Anonymous callers are asked for credentials, because they may be members.
        assert answer.status_code == (200 if may else 401 if person is None else 403), service
        assert may or person is None or answer.text.startswith(sentence)
        # The wiki has its own setting.
        if service == "upload":
            assert advertised(instance, f"{project.path}.wiki.git", service, auth_of(person)).status_code == 200


def test_git_over_ssh_respects_it(
    instance: Instance, roles: UsersByRole, project: Project, level: str, ssh_key: Give, tmp_path: Path
) -> None:
    for role in ("stranger", "developer"):
        with connected(instance, key_of(ssh_key(getattr(roles, role))), tmp_path) as connection:
            for service in ("git-upload-pack", "git-upload-archive"):
                said = connection.run(f"{service} '{project.path}'", b"0000")
                refused = said.err.strip() == NO_CODE
                assert refused != _reads(level, role), (role, service, said)
            said = connection.run(f"git-receive-pack '{project.path}'", b"0000")
            assert (said.err.strip() == NO_PUSH) == (role == "stranger" or level == "disabled")
            said = connection.run(f"git-lfs-authenticate '{project.path}' download")
            assert (said.status == 0) == _reads(level, role)


def test_writes_by_the_api_respect_it(api: Api, make: Make, roles: UsersByRole, project: Project, level: str) -> None:
    on = level != "disabled"
    actions = [{"action": "create", "file_path": make.name("f"), "content": "x"}]
    calls: list[tuple[str, dict[str, Any], User]] = [
        ("repository/commits", {"branch": "topic", "commit_message": "m", "actions": actions}, roles.developer),
        ("repository/branches", {"branch": make.name("b"), "ref": "master"}, roles.developer),
        ("repository/tags", {"tag_name": make.name("t"), "ref": "master"}, roles.developer),
        ("statuses/master", {"state": "success", "name": make.name("s")}, roles.developer),
        ("merge_requests", {"source_branch": make.name("x"), "target_branch": "master", "title": "t"}, roles.stranger),
        ("fork", {"path": make.name("fork")}, make.user()),
    ]
    for path, sent, person in calls:
        status = api.post(f"{project.url}/{path}", person, **sent).status_code
        if path in ("merge_requests", "fork"):
            assert (status == 403) == (level != "enabled" or path == "merge_requests"), (path, status)
        else:
            assert status == (201 if on else 403), (path, status)


def test_a_fork_does_not_reveal_restricted_code(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    api.put(project.url, roles.owner, repository_access_level="private")
    fork = api.post(f"{project.url}/fork", roles.reporter, path=make.name("fork")).json()
    assert fork["repository_access_level"] == "private"
    assert api.get(f"/projects/{fork['id']}/repository/tree", roles.stranger).status_code == 403


def test_access_ends_at_once(
    instance: Instance, api: Api, roles: UsersByRole, project: Project, tree: Tree, tmp_path: Path
) -> None:
    """An existing clone cannot fetch."""
    api.put(project.url, roles.owner, repository_access_level="enabled")
    url = over_http(instance, project, roles.stranger)
    tree.git("fetch", "-q", url, "master")
    api.put(project.url, roles.owner, repository_access_level="private")
    assert NO_CODE in tree.git("fetch", "-q", url, "master", fails=True)
    api.put(project.url, roles.owner, repository_access_level="enabled")
    tree.git("fetch", "-q", url, "master")
