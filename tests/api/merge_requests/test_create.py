"""Creation of merge requests."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, fork, make_merge_request
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of
from tests.roles import UsersByRole, project_with


@pytest.fixture(scope="module")
def project(make: Make) -> Project:
    """Return a project with a branch to be merged."""
    project = filled_project(make, make.user(), visibility="public")
    commit(make, project, "ready", {"ready": "x\n"}, start="master")
    return project


def test_a_merge_request_has_the_documented_fields(api: Api, make: Make) -> None:
    owner, helper = make.user(), make.user()
    project = filled_project(make, owner, members={helper: Level.DEVELOPER})
    head = commit(make, project, "ready", {"ready": "x\n"}, owner, start="master")
    milestone = api.post(f"/projects/{project.id}/milestones", owner, title="1.0").json()

    made = api.post(
        f"/projects/{project.id}/merge_requests",
        owner,
        source_branch="ready",
        target_branch="master",
        title="WIP: All of it",
        description="More of it",
        labels="ui,bug",
        milestone_id=milestone["id"],
        assignee_id=helper.id,
        reviewer_ids=[helper.id],
        remove_source_branch=True,
        squash=True,
    )

    assert made.status_code == 201, made.text
    shown = made.json()
    expected: dict[str, Any] = {
        "iid": 1,
        "project_id": project.id,
        "source_project_id": project.id,
        "target_project_id": project.id,
        "title": "WIP: All of it",
        "description": "More of it",
        "state": "opened",
        "target_branch": "master",
        "source_branch": "ready",
        "upvotes": 0,
        "downvotes": 0,
        "labels": ["bug", "ui"],
        "work_in_progress": True,
        "draft": True,
        "merge_when_pipeline_succeeds": False,
        "sha": head,
        "merge_commit_sha": None,
        "user_notes_count": 0,
        "should_remove_source_branch": None,
        "force_remove_source_branch": True,
        "squash": True,
        "subscribed": True,
        "changes_count": "1",
        "merge_error": None,
        "blocking_discussions_resolved": True,
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["author"]["id"] == owner.id
    assert shown["assignee"]["id"] == helper.id
    assert [person["id"] for person in shown["assignees"]] == [helper.id]
    assert [person["id"] for person in shown["reviewers"]] == [helper.id]
    assert shown["milestone"]["id"] == milestone["id"]
    assert shown["web_url"].endswith(f"/{project.path}/merge_requests/1")
    assert shown["references"] == {"short": "!1", "relative": "!1", "full": f"{project.path}!1"}
    assert shown["diff_refs"]["head_sha"] == head
    assert shown["diff_refs"]["base_sha"] == shown["diff_refs"]["start_sha"]
    assert shown["merge_status"] in ("unchecked", "can_be_merged")
    assert api.get(f"/projects/{project.id}/merge_requests/1", owner).json()["id"] == shown["id"]


def test_a_merge_request_has_a_fetchable_ref(instance: Instance, make: Make) -> None:
    project = filled_project(make)
    made = make_merge_request(make, project)
    assert repository_of(instance, project).tip("refs/merge-requests/1/head") == made["sha"]


INVALID: list[tuple[dict[str, Any], int]] = [
    ({"title": ""}, 400),
    ({"title": "   "}, 400),
    ({"title": "x" * 256}, 400),
    ({"title": ["x"]}, 400),
    ({"source_branch": ""}, 400),
    ({"target_branch": None}, 400),
    ({"source_branch": "none such"}, 400),
    ({"target_branch": "none such"}, 400),
    ({"source_branch": "../../x"}, 400),
    ({"source_branch": "ready\0"}, 400),
    ({"source_branch": "refs/heads/ready"}, 400),
    ({"source_branch": "master"}, 422),
    ({"target_project_id": "x"}, 400),
    ({"target_project_id": 2**62}, 404),
    ({"target_project_id": 2**64}, 400),
    ({"milestone_id": 2**40}, 400),
    ({"labels": "a" * 256}, 400),
    ({"description": "x" * 1_000_001}, 400),
]


@pytest.mark.parametrize(("wrong", "status"), INVALID)
def test_invalid_merge_requests_are_rejected(
    api: Api, make: Make, project: Project, wrong: dict[str, Any], status: int
) -> None:
    sent = {"source_branch": "ready", "target_branch": "master", "title": "x", **wrong}
    answer = api.post(f"/projects/{project.id}/merge_requests", make.root, **sent)
    assert answer.status_code == status, answer.text
    assert api.get(f"/projects/{project.id}/merge_requests", make.root).json() == []


def test_missing_parameters_are_reported_first(api: Api, make: Make, project: Project) -> None:
    url = f"/projects/{project.id}/merge_requests"
    sent = {"source_branch": "ready", "target_branch": "master", "title": "x"}
    for name in sent:
        rest = {key: value for key, value in sent.items() if key != name}
        for person in (make.root, make.user()):
            answer = api.post(url, person, **rest)
            assert answer.status_code == 400
            assert answer.json() == {"message": f'400 (Bad request) "{name}" not given'}


def test_a_duplicate_is_rejected(api: Api, make: Make) -> None:
    project = filled_project(make)
    made = make_merge_request(make, project, branch="once")
    sent = {"source_branch": "once", "target_branch": "master", "title": "Again"}
    again = api.post(f"/projects/{project.id}/merge_requests", make.root, **sent)
    assert again.status_code == 409
    assert again.json() == {
        "message": [f"Another open merge request already exists for this source branch: !{made['iid']}"]
    }


def test_concurrent_creation_opens_one(api: Api, make: Make) -> None:
    project = filled_project(make)
    commit(make, project, "once", {"once": "x\n"}, start="master")
    sent = {"source_branch": "once", "target_branch": "master", "title": "At once"}

    def create(_: int) -> int:
        return api.post(f"/projects/{project.id}/merge_requests", make.root, **sent).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(create, range(8)))
    assert answers == [201] + [409] * 7


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


@pytest.fixture(scope="module")
def roles(make: Make) -> tuple[UsersByRole, Project]:
    """Return a user of each role, and a private project with a first commit."""
    roles = UsersByRole(make)
    project = project_with(make, roles)
    commit(make, project, "master", {"README": "x\n"}, roles.owner)
    return roles, project


@pytest.mark.parametrize(("role", "status"), CALLERS)
def test_developers_open_merge_requests(
    api: Api, make: Make, roles: tuple[UsersByRole, Project], role: str, status: int
) -> None:
    people, project = roles
    branch = f"of-{role}"
    commit(make, project, branch, {branch: "x\n"}, people.owner, start="master")
    sent = {"source_branch": branch, "target_branch": "master", "title": "x"}
    assert api.post(f"/projects/{project.id}/merge_requests", people[role], **sent).status_code == status


def test_a_fork_opens_merge_requests_to_its_parent(api: Api, instance: Instance, make: Make) -> None:
    project = filled_project(make, visibility="public")
    person = make.user()
    copy = fork(make, project, person)
    head = commit(make, copy, "mine", {"mine": "x\n"}, person, start="master")

    sent = {
        "source_branch": "mine",
        "target_branch": "master",
        "title": "Mine",
        "labels": "x",
        "assignee_id": person.id,
    }
    made = api.post(f"/projects/{copy.id}/merge_requests", person, target_project_id=project.id, **sent)

    assert made.status_code == 201, made.text
    shown = made.json()
    assert (shown["project_id"], shown["source_project_id"], shown["sha"]) == (project.id, copy.id, head)
    assert (shown["labels"], shown["assignee"]) == ([], None), "Only developers label and assign."
    assert repository_of(instance, project).tip("refs/merge-requests/1/head") == head
    assert api.get(f"/projects/{copy.id}/merge_requests", person).json() == []
    assert [one["id"] for one in api.get(f"/projects/{project.id}/merge_requests", person).json()] == [shown["id"]]
    second = api.post(
        f"/projects/{copy.id}/merge_requests", person, source_branch="mine", target_branch="master", title="Within"
    )
    assert second.status_code == 201


def test_unrelated_projects_are_rejected_as_target(api: Api, make: Make) -> None:
    project, other = filled_project(make, visibility="public"), filled_project(make, visibility="public")
    closed = filled_project(make, visibility="public", merge_requests_enabled=False)
    secret = filled_project(make, visibility="private")
    person = make.user()
    copy = fork(make, project, person)
    commit(make, copy, "mine", {"mine": "x\n"}, person, start="master")
    of_closed = fork(make, closed, person)
    commit(make, of_closed, "mine", {"mine": "x\n"}, person, start="master")

    def create(source: Project, target: Project) -> int:
        sent = {"source_branch": "mine", "target_branch": "master", "title": "x", "target_project_id": target.id}
        return api.post(f"/projects/{source.id}/merge_requests", person, **sent).status_code

    assert create(copy, other) == 422
    assert create(copy, secret) == 404
    assert create(of_closed, closed) == 422
    archived = make_project(make, person)
    api.post(f"/projects/{archived.id}/archive", person)
    assert create(archived, archived) == 403
