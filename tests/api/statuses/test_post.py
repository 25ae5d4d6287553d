"""Creation of commit statuses: permissions, refs, transitions and validation."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project
from tests.git_history import History, repository_of, run
from tests.roles import UsersByRole, project_with

STATES = ["pending", "running", "success", "failed", "canceled"]
CALLERS = [
    ("administrator", 201),
    ("owner", 201),
    ("master", 201),
    ("developer", 201),
    ("reporter", 403),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a private project with two branches at one commit."""
    project = project_with(make, roles)
    history = History()
    first = history.commit(files={"a": "1\n"})
    history.commit("develop", files={"b": "1\n"}, parents=(first,))
    history.tag("v1", first)
    history.fill(instance, project)
    make.api.delete(f"{project.url}/protected_branches/master", make.root)
    return project


def tip(api: Api, make: Make, project: Project, name: str = "master") -> str:
    """Return the commit at the head of a branch."""
    oid: str = api.get(f"/projects/{project.id}/repository/commits/{name}", make.root).json()["id"]
    return oid


@pytest.mark.parametrize(("role", "status"), CALLERS)
def test_developers_post(api: Api, make: Make, roles: UsersByRole, project: Project, role: str, status: int) -> None:
    sha = tip(api, make, project)
    answer = api.post(f"/projects/{project.id}/statuses/{sha}", roles[role], state="success")
    assert answer.status_code == status, answer.text
    there = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", make.root).json()
    assert len(there) == (1 if status == 201 else 0)


def test_protected_refs_accept_statuses_of_those_who_update_them(
    api: Api, make: Make, roles: UsersByRole, project: Project
) -> None:
    """A status decides whether a merge request may be merged, so posting one needs the rights of the branch."""
    sha, url = tip(api, make, project), f"/projects/{project.id}"
    develop = tip(api, make, project, "develop")

    def post(user: User, commit: str = sha, **fields: Any) -> int:
        return api.post(f"{url}/statuses/{commit}", user, state="success", **fields).status_code

    assert post(roles.developer, ref="master") == 201
    api.post(f"{url}/protected_branches", make.root, name="master", push_access_level=40, merge_access_level=40)
    api.post(f"{url}/protected_tags", make.root, name="v*", create_access_level=40)
    (pipeline,) = api.get(f"{url}/pipelines", make.root).json()
    assert [post(roles.developer, ref="master"), post(roles.master, ref="master")] == [403, 201]
    assert [post(roles.developer, pipeline_id=pipeline["id"]), post(roles.master, pipeline_id=pipeline["id"])] == [
        403,
        201,
    ]
    assert [post(roles.developer, ref="v1"), post(roles.master, ref="v1")] == [403, 201]
    assert post(roles.developer, develop, ref="develop") == 201
    api.delete(f"{url}/protected_branches/master", make.root)
    api.post(f"{url}/protected_branches", make.root, name="master", push_access_level=0, merge_access_level=30)
    assert post(roles.developer, ref="master") == 201


def test_archived_projects_accept_no_statuses(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    sha = tip(api, make, project)
    api.post(f"/projects/{project.id}/archive", make.root)
    assert api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state="success").status_code == 403
    assert api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.reporter).json() == []


@pytest.mark.parametrize("state", STATES)
def test_only_the_state_is_required(api: Api, make: Make, roles: UsersByRole, project: Project, state: str) -> None:
    sha = tip(api, make, project)
    answer = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state=state)
    assert answer.status_code == 201, answer.text
    posted = answer.json()
    moment = posted["created_at"]
    assert posted == {
        "id": posted["id"],
        "sha": sha,
        "ref": "develop",  # The first branch by name that contains it.
        "status": state,
        "name": "default",
        "target_url": None,
        "description": None,
        "created_at": moment,
        "started_at": moment if state == "running" else None,
        "finished_at": moment if state in ("success", "failed", "canceled") else None,
        "allow_failure": False,
        "coverage": None,
        "pipeline_id": posted["pipeline_id"],
        "author": posted["author"],
    }
    assert posted["author"]["username"] == roles.developer.username
    assert set(posted["author"]) == {"id", "username", "name", "state", "avatar_url", "web_url"}


def test_all_parameters(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    sha = tip(api, make, project)
    sent: dict[str, Any] = {
        "state": "running",
        "context": "ci/übung",
        "ref": "master",
        "description": "läuft",
        "coverage": "80.5",
        "target_url": "https://ci.example.org/1?a=b#c",
    }
    posted = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, **sent).json()
    assert {name: posted[name] for name in ("ref", "description", "target_url")} == {
        name: sent[name] for name in ("ref", "description", "target_url")
    }
    assert (posted["name"], posted["coverage"]) == ("ci/übung", 80.5)
    # Unsent values stay; the name takes precedence over the context.
    again = {"state": "success", "name": "ci/übung", "context": "x", "ref": "master", "coverage": 0, "description": ""}
    changed = api.post(f"/projects/{project.id}/statuses/{sha}", roles.master, **again).json()
    assert changed["id"] == posted["id"]
    assert (changed["status"], changed["coverage"]) == ("success", 0.0)
    assert (changed["description"], changed["target_url"]) == ("läuft", sent["target_url"])
    assert changed["author"]["username"] == roles.master.username
    assert changed["started_at"] == posted["started_at"] <= changed["finished_at"]
    # Query and form parameters work alike.
    by_query = api.request("POST", f"/projects/{project.id}/statuses/{sha}?state=failed&name=q", roles.developer)
    assert (by_query.status_code, by_query.json()["status"]) == (201, "failed")


ALLOWED = [
    ("pending", "running", True),
    ("pending", "success", True),
    ("pending", "failed", True),
    ("pending", "canceled", True),
    ("running", "success", True),
    ("running", "failed", True),
    ("running", "canceled", True),
    ("success", "success", False),
    ("success", "pending", False),
    ("failed", "running", False),
    ("canceled", "failed", False),
]


@pytest.mark.parametrize(("before", "after", "same"), ALLOWED)
def test_allowed_transitions(
    api: Api, make: Make, roles: UsersByRole, project: Project, before: str, after: str, same: bool
) -> None:
    sha = tip(api, make, project)
    first = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state=before).json()
    second = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state=after)
    assert (second.status_code, second.json()["status"]) == (201, after)
    assert (second.json()["id"] == first["id"]) is same
    where = f"/projects/{project.id}/repository/commits/{sha}/statuses"
    assert [each["status"] for each in api.get(where, roles.developer).json()] == [after]
    everything = [each["status"] for each in api.get(where, roles.developer, all="1").json()]
    assert everything == ([after] if same else [before, after])


REFUSED = [("pending", "pending", "enqueue"), ("running", "running", "run"), ("running", "pending", "enqueue")]


@pytest.mark.parametrize(("before", "after", "event"), REFUSED)
def test_forbidden_transitions(
    api: Api, make: Make, roles: UsersByRole, project: Project, before: str, after: str, event: str
) -> None:
    sha = tip(api, make, project)
    api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state=before)
    answer = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state=after)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(f"Cannot transition status via :{event} from :{before}")
    told = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state=after, description="still")
    assert told.status_code == (201 if before == after else 400)
    (kept,) = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.developer).json()
    assert (kept["status"], kept["description"]) == (before, "still" if before == after else None)


INVALID: list[tuple[dict[str, Any], str, str]] = [
    ({"state": "invalid"}, "state", "is invalid"),
    ({"state": "skipped"}, "state", "is invalid"),
    ({"state": 5}, "state", "is invalid"),
    ({"target_url": "invalid url"}, "target_url", "must be a valid URL"),
    ({"target_url": "javascript:alert(1)"}, "target_url", "must be a valid URL"),
    ({"target_url": "ftp://example.org"}, "target_url", "must be a valid URL"),
    ({"target_url": "http://"}, "target_url", "must be a valid URL"),
    ({"target_url": "http://[x"}, "target_url", "must be a valid URL"),
    ({"target_url": "http://example.org/" + "a" * 237}, "target_url", "is too long (maximum is 255 characters)"),
    ({"description": "ü" * 256}, "description", "is too long (maximum is 255 characters)"),
    ({"name": "n" * 256}, "name", "is too long (maximum is 255 characters)"),
    ({"context": "n" * 100_000}, "name", "is too long (maximum is 255 characters)"),
    ({"name": " "}, "name", "can't be blank"),
    ({"name": "a\0b"}, "name", "is invalid"),
    ({"ref": "r" * 1001}, "ref", "is too long (maximum is 1000 characters)"),
    ({"coverage": "much"}, "coverage", "is invalid"),
    ({"coverage": "nan"}, "coverage", "is invalid"),
    ({"pipeline_id": "x"}, "pipeline_id", "is invalid"),
    ({"pipeline_id": 2**64}, "pipeline_id", "is invalid"),
]


@pytest.mark.parametrize(("sent", "field", "reason"), INVALID, ids=lambda value: str(value)[:40])
def test_invalid_values_are_reported(
    api: Api, make: Make, roles: UsersByRole, project: Project, sent: dict[str, Any], field: str, reason: str
) -> None:
    sha = tip(api, make, project)
    answer = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, **{"state": "pending", **sent})
    assert (answer.status_code, answer.json()) == (400, {"message": {field: [reason]}})
    assert api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.developer).json() == []


def test_the_longest_values_are_stored(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    sha = tip(api, make, project)
    sent = {"name": "ü" * 255, "description": "d" * 255, "target_url": "http://e.org/" + "a" * 242, "coverage": -1e300}
    posted = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state="pending", **sent).json()
    assert {name: posted[name] for name in sent} == sent


def test_a_state_is_required(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    answer = api.post(f"/projects/{project.id}/statuses/{tip(api, make, project)}", roles.developer)
    assert (answer.status_code, answer.json()["message"]) == (400, '400 (Bad request) "state" not given')


@pytest.mark.parametrize(
    "sha", ["invalid_sha", "0" * 40, "abcd1234", "a..b", "--output=x", "a%2F..%2Fb", "%EF%BF%BD", "x" * 5000]
)
def test_an_unknown_commit_is_not_found(api: Api, roles: UsersByRole, project: Project, sha: str) -> None:
    answer = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state="running")
    assert (answer.status_code, answer.json()["message"]) == (404, "404 Commit Not Found")
    listed = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.developer)
    assert (listed.status_code, listed.json()["message"]) == (404, "404 Commit Not Found")


def test_an_empty_repository_has_no_commit(api: Api, make: Make, roles: UsersByRole) -> None:
    empty = project_with(make, roles)
    answer = api.post(f"/projects/{empty.id}/statuses/master", roles.developer, state="running")
    assert answer.status_code == 404


def test_short_ids_and_tags(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    sha = tip(api, make, project)
    short = api.post(f"/projects/{project.id}/statuses/{sha[:8]}", roles.developer, state="success", name="a").json()
    by_tag = api.post(f"/projects/{project.id}/statuses/v1", roles.developer, state="success", ref="v1").json()
    assert short["sha"] == by_tag["sha"] == sha
    pipeline = api.get(f"/projects/{project.id}/pipelines/{by_tag['pipeline_id']}", roles.developer).json()
    assert (pipeline["tag"], pipeline["ref"]) == (True, "v1")
    listed = api.get(f"/projects/{project.id}/repository/commits/{sha[:10]}/statuses", roles.developer).json()
    assert {each["ref"] for each in listed} == {"develop", "v1"}


def test_a_pipeline_can_be_selected(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    sha, other = tip(api, make, project), tip(api, make, project, "develop")
    where = f"/projects/{project.id}/statuses"
    first = api.post(f"{where}/{sha}", roles.developer, state="success", ref="master").json()
    sent = {"state": "failed", "name": "b", "pipeline_id": first["pipeline_id"]}
    second = api.post(f"{where}/{sha}", roles.developer, **sent).json()
    assert (second["pipeline_id"], second["ref"]) == (first["pipeline_id"], "master")
    elsewhere = project_with(make, roles)
    for answer in (
        api.post(f"{where}/{other}", roles.developer, **sent),
        api.post(f"{where}/{sha}", roles.developer, **sent, ref="develop"),
        api.post(f"{where}/{sha}", roles.developer, **{**sent, "pipeline_id": 2**60}),
        api.get(f"/projects/{elsewhere.id}/pipelines/{first['pipeline_id']}", roles.developer),
    ):
        assert (answer.status_code, answer.json()["message"]) == (404, "404 Pipeline Not Found")


def test_concurrent_reports_create_one_status(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    """Many runners report at once: there is one pipeline with one status."""
    sha = tip(api, make, project)

    def post(number: int) -> int:
        name = f"job-{number % 2}"
        with Api(api.url) as mine:
            return mine.post(
                f"/projects/{project.id}/statuses/{sha}", roles.developer, state="pending", name=name
            ).status_code

    with ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(post, range(8)))
    assert sorted(codes) == [201] * 2 + [400] * 6
    everything = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", make.root, all=True).json()
    assert sorted(each["name"] for each in everything) == ["job-0", "job-1"]
    assert len(api.get(f"/projects/{project.id}/pipelines", make.root).json()) == 1


def test_a_status_keeps_its_commit(
    instance: Instance, api: Api, make: Make, roles: UsersByRole, project: Project
) -> None:
    """After a force push and garbage collection, statuses of the old commit are kept."""
    sha = tip(api, make, project, "develop")
    api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state="failed")
    repository = repository_of(instance, project)
    run(repository.path, "update-ref", "-d", "refs/heads/develop")
    run(repository.path, "gc", "--prune=now", "--quiet")
    (kept,) = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.reporter).json()
    assert (kept["sha"], kept["ref"]) == (sha, "develop")
    advertised = run(repository.path, "ls-remote", ".")
    assert "refs/keep" not in advertised
    # The commit is on no branch, so the ref is required; a tag does not count.
    run(repository.path, "tag", "only-a-tag", sha)
    refused = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state="success")
    assert (refused.status_code, refused.json()["message"]) == (404, "404 References for commit Not Found")
    again = api.post(f"/projects/{project.id}/statuses/{sha}", roles.developer, state="success", ref="master")
    assert (again.status_code, again.json()["ref"]) == (201, "master")


def test_statuses_of_a_deleted_user_stay(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    leaver = make.user()
    api.post(f"/projects/{project.id}/members", make.root, user_id=leaver.id, access_level=30)
    sha = tip(api, make, project)
    posted = api.post(f"/projects/{project.id}/statuses/{sha}", leaver, state="success").json()
    assert api.delete(f"/users/{leaver.id}", make.root).status_code in (200, 204)
    (kept,) = api.get(f"/projects/{project.id}/repository/commits/{sha}/statuses", roles.reporter).json()
    pipeline = api.get(f"/projects/{project.id}/pipelines/{posted['pipeline_id']}", roles.reporter).json()
    assert kept["author"]["username"] == pipeline["user"]["username"] != leaver.username
