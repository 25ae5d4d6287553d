"""Pipelines of reported statuses: lists, reading and the derived status."""

import pytest

from ingot.core.events.bus import Subscriptions, collect_subscribers
from ingot.pipelines.events import PipelineChanged
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, ids
from tests.git_history import History
from tests.roles import UsersByRole, project_with


@pytest.fixture
def project(instance: Instance, make: Make, roles: UsersByRole) -> Project:
    """Return a private project with two branches and a tag."""
    project = project_with(make, roles)
    history = History()
    first = history.commit(files={"a": "1\n"})
    history.commit("develop", files={"b": "1\n"}, parents=(first,))
    history.tag("v1", first)
    history.fill(instance, project)
    make.api.delete(f"{project.url}/protected_branches/master", make.root)
    return project


def post(api: Api, roles: UsersByRole, project: Project, commit: str, state: str, **sent: object) -> int:
    """Report a status of a commit and return the id of its pipeline."""
    answer = api.post(f"/projects/{project.id}/statuses/{commit}", roles.developer, state=state, **sent)
    assert answer.status_code == 201, answer.text
    number: int = answer.json()["pipeline_id"]
    return number


READERS = [
    ("administrator", 200, 200),
    ("owner", 200, 200),
    ("reporter", 200, 200),
    ("guest", 200, 403),  # With public and with private jobs.
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]


@pytest.mark.parametrize(("role", "shown", "hidden"), READERS)
def test_permission_to_read(
    api: Api, make: Make, roles: UsersByRole, project: Project, role: str, shown: int, hidden: int
) -> None:
    pipeline = post(api, roles, project, "master", "success", ref="master")
    for jobs, expected in ((True, shown), (False, hidden)):
        assert api.put(f"/projects/{project.id}", make.root, public_jobs=jobs).status_code == 200
        assert api.get(f"/projects/{project.id}/pipelines", roles[role]).status_code == expected
        assert api.get(f"/projects/{project.id}/pipelines/{pipeline}", roles[role]).status_code == expected
        assert api.get(f"/projects/{project.id}/pipelines/latest", roles[role]).status_code == expected


def test_all_fields(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    number = post(api, roles, project, "master", "running", ref="master", coverage=90, name="a")
    post(api, roles, project, "master", "success", ref="master", coverage=80.5, name="b")
    sha = api.get(f"/projects/{project.id}/repository/commits/master", make.root).json()["id"]
    url = api.get(f"/projects/{project.id}", make.root).json()["web_url"]
    got = api.get(f"/projects/{project.id}/pipelines/{number}", roles.reporter).json()
    brief = {
        "id": number,
        "iid": 1,
        "project_id": project.id,
        "sha": sha,
        "ref": "master",
        "status": "running",
        "source": "external",
        "created_at": got["created_at"],
        "updated_at": got["updated_at"],
        "web_url": f"{url}/-/pipelines/{number}",
    }
    assert got == {
        **brief,
        "before_sha": "0" * 40,
        "tag": False,
        "yaml_errors": None,
        "user": got["user"],
        "started_at": got["created_at"],
        "finished_at": None,
        "committed_at": None,
        "duration": None,
        "coverage": "85.25",
        "name": None,
        "queued_duration": 0,
        "merge_request_event_type": None,
        "detailed_status": {
            "icon": "status_running",
            "text": "Running",
            "label": "running",
            "group": "running",
            "tooltip": "running",
            "has_details": True,
            "details_path": f"/{project.path}/-/pipelines/{number}",
            "illustration": None,
            "favicon": "/favicon.ico",
        },
    }
    assert got["user"]["username"] == roles.developer.username
    assert api.get(f"/projects/{project.id}/pipelines", roles.reporter).json() == [brief]
    post(api, roles, project, "master", "failed", ref="master", name="a")
    done = api.get(f"/projects/{project.id}/pipelines/{number}", roles.reporter).json()
    assert (done["status"], done["duration"]) == ("failed", 0)
    assert done["finished_at"] == done["updated_at"] >= got["updated_at"]
    # After a retry it is unfinished again.
    post(api, roles, project, "master", "running", ref="master", name="a")
    again = api.get(f"/projects/{project.id}/pipelines/{number}", roles.reporter).json()
    assert (again["status"], again["finished_at"], again["started_at"]) == ("running", None, got["started_at"])


SEQUENCES = [
    (["a pending"], "pending"),
    (["a pending", "b pending"], "pending"),
    (["a running"], "running"),
    (["a pending", "b success"], "running"),
    (["a success", "b running"], "running"),
    (["a failed", "b running"], "running"),
    (["a success", "b success"], "success"),
    (["a success", "b failed"], "failed"),
    (["a success", "b canceled"], "canceled"),
    (["a failed", "b canceled"], "failed"),
    (["a failed", "a success"], "success"),
    (["a success", "a pending"], "pending"),
]


@pytest.mark.parametrize(("said", "status"), SEQUENCES, ids=str)
def test_the_status_of_a_pipeline_is_derived(
    api: Api, roles: UsersByRole, project: Project, said: list[str], status: str
) -> None:
    for name, state in (each.split() for each in said):
        post(api, roles, project, "master", state, ref="master", name=name)
    (pipeline,) = api.get(f"/projects/{project.id}/pipelines", roles.reporter).json()
    assert pipeline["status"] == status


@pytest.fixture
def several(api: Api, roles: UsersByRole, project: Project) -> dict[str, int]:
    """Return pipelines by ref."""
    return {
        "old": post(api, roles, project, "v1", "failed", ref="develop"),
        "develop": post(api, roles, project, "develop", "pending", ref="develop"),
        "master": post(api, roles, project, "master", "running", ref="master"),
        "gone": post(api, roles, project, "master", "success", ref="gone"),
        "tag": post(api, roles, project, "v1", "canceled", ref="v1"),
    }


def test_filters(api: Api, make: Make, roles: UsersByRole, project: Project, several: dict[str, int]) -> None:
    names = {number: name for name, number in several.items()}

    def listed(**params: object) -> list[str]:
        return [names[each] for each in ids(api.get(f"/projects/{project.id}/pipelines", roles.reporter, **params))]

    sha = api.get(f"/projects/{project.id}/repository/commits/develop", make.root).json()["id"]
    assert listed() == ["tag", "gone", "master", "develop", "old"]
    assert listed(sort="asc") == ["old", "develop", "master", "gone", "tag"]
    assert listed(order_by="ref", sort="asc") == ["old", "develop", "gone", "master", "tag"]
    assert listed(order_by="status", sort="asc") == ["tag", "old", "develop", "master", "gone"]
    assert listed(order_by="user_id") == listed()
    assert listed(scope="running") == listed(status="running") == ["master"]
    assert listed(scope="pending") == ["develop"]
    assert listed(scope="finished") == ["tag", "gone", "old"]
    assert listed(scope="branches") == ["master", "develop"]
    assert listed(scope="tags") == ["tag"]
    assert listed(status="skipped") == listed(source="push") == listed(username="nobody-has-this") == []
    assert listed(source="external", username=roles.developer.username.upper()) == listed()
    assert listed(name=roles.developer.username) == listed()
    assert listed(ref="develop") == ["develop", "old"]
    assert listed(sha=sha.upper()) == ["develop"]
    assert listed(yaml_errors="true") == []
    assert listed(yaml_errors="false") == listed()
    assert listed(updated_after="2000-01-01", updated_before="2100-01-01T00:00:00Z") == listed()
    assert listed(updated_before="2000-01-01") == listed(created_after="2100-01-01") == []
    assert listed(per_page=2, page=2) == ["master", "develop"]
    keyset = api.get(
        f"/projects/{project.id}/pipelines", roles.reporter, pagination="keyset", order_by="id", per_page=4
    )
    assert [names[each] for each in ids(keyset)] == ["tag", "gone", "master", "develop"]
    for wrong in (
        {"scope": "x"},
        {"status": "x"},
        {"order_by": "lock_version"},
        {"sort": "up"},
        {"yaml_errors": "x"},
        {"updated_after": "yesterday"},
    ):
        assert api.get(f"/projects/{project.id}/pipelines", roles.reporter, **wrong).status_code == 400


def test_the_latest_pipeline_is_that_of_the_branch_head(
    api: Api, roles: UsersByRole, project: Project, several: dict[str, int]
) -> None:
    def latest(**params: object) -> tuple[int, int | None]:
        answer = api.get(f"/projects/{project.id}/pipelines/latest", roles.reporter, **params)
        return answer.status_code, answer.json().get("id")

    assert latest() == (200, several["master"])
    assert latest(ref="develop") == (200, several["develop"])
    assert latest(ref="v1") == (200, several["tag"])
    assert latest(ref="gone") == latest(ref="../x") == latest(ref="x" * 5000) == (404, None)


def test_missing_pipelines(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    missing = api.get(f"/projects/{project.id}/pipelines/{2**62}", roles.reporter)
    assert (missing.status_code, missing.json()["message"]) == (404, "404 Pipeline Not Found")
    assert api.get(f"/projects/{project.id}/pipelines/x", roles.reporter).status_code == 400
    empty = project_with(make, roles)
    assert api.get(f"/projects/{empty.id}/pipelines/latest", roles.reporter).status_code == 404
    assert api.get(f"/projects/{empty.id}/pipelines", roles.reporter, scope="branches").json() == []


def test_a_change_emits_one_event(instance: Instance, api: Api, roles: UsersByRole, project: Project) -> None:
    heard: list[PipelineChanged] = []
    mine = Subscriptions()
    mine.on(PipelineChanged)(lambda _, event: heard.append(event))
    database = instance.app.database
    before = database.subscribers
    database.subscribers = collect_subscribers([mine])
    try:
        number = post(api, roles, project, "master", "pending", ref="master")
        post(api, roles, project, "master", "pending", ref="master", description="more")
        post(api, roles, project, "master", "running", ref="master")
        post(api, roles, project, "master", "running", ref="master", name="other")
        post(api, roles, project, "master", "success", ref="master")
        post(api, roles, project, "master", "success", ref="master", name="other")
    finally:
        database.subscribers = before
    assert [(event.pipeline_id, event.status) for event in heard] == [
        (number, "pending"),
        (number, "running"),
        (number, "success"),
    ]
    assert {(event.project_id, event.ref) for event in heard} == {(project.id, "master")}


def test_pipelines_are_deleted_with_their_project(
    instance: Instance, api: Api, make: Make, roles: UsersByRole, project: Project
) -> None:
    post(api, roles, project, "master", "success")
    assert api.delete(f"/projects/{project.id}", make.root).status_code in (200, 202)
    instance.work()
    assert api.get(f"/projects/{project.id}/pipelines", make.root).status_code == 404
