"""Environments."""

import re
from functools import partial
from typing import Any

import pytest

from ingot.ci.pipelines.due_environments import enqueue_environment_stops
from ingot.core.db.times import add_duration
from ingot.projects.environments.jobs import enqueue_environment_deletion
from ingot.projects.environments.tables import environments
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, ids, make_project, statements_of
from tests.roles import UsersByRole, project_with

CALLERS = [
    # reads, creates and stops, changes and deletes
    ("administrator", 200, 200, 200),
    ("owner", 200, 200, 200),
    ("master", 200, 200, 200),
    ("developer", 200, 200, 403),
    ("reporter", 200, 403, 403),
    ("guest", 403, 403, 403),
    ("stranger", 404, 404, 404),
    ("nobody", 401, 401, 401),
]


@pytest.mark.parametrize(("role", "read", "deploy", "change"), CALLERS)
def test_permissions(api: Api, make: Make, roles: UsersByRole, role: str, read: int, deploy: int, change: int) -> None:
    project, caller = project_with(make, roles), roles[role]
    made = api.post(f"/projects/{project.id}/environments", caller, name="by-caller")
    assert made.status_code == (201 if deploy == 200 else deploy)
    environment_id = api.post(f"/projects/{project.id}/environments", make.root, name="live").json()["id"]

    assert api.get(f"/projects/{project.id}/environments", caller).status_code == read
    assert api.get(f"/projects/{project.id}/environments/{environment_id}", caller).status_code == read
    edited = api.put(f"/projects/{project.id}/environments/{environment_id}", caller, name="x")
    assert edited.status_code == change
    stopped = api.post(f"/projects/{project.id}/environments/{environment_id}/stop", caller)
    assert stopped.status_code == deploy
    now = api.get(f"/projects/{project.id}/environments/{environment_id}", make.root).json()
    assert now["name"] == ("x" if change == 200 else "live")
    assert now["state"] == ("stopped" if deploy == 200 else "available")
    deleted = api.delete(f"/projects/{project.id}/environments/{environment_id}", caller)
    assert (deleted.status_code, deleted.json().get("id")) == (change, environment_id if change == 200 else None)
    assert (environment_id in ids(api.get(f"/projects/{project.id}/environments", make.root))) == (change != 200)


@pytest.mark.parametrize("visibility", ["internal", "public"])
def test_project_visibility_is_not_enough(api: Api, make: Make, roles: UsersByRole, visibility: str) -> None:
    project = make_project(make, roles.owner, visibility=visibility)
    assert api.get(f"/projects/{project.id}/environments", roles.stranger).status_code == 403
    assert api.get(f"/projects/{project.id}/environments", roles.owner).status_code == 200


def test_an_environment_has_all_fields(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    sent = {"name": "production", "external_url": "https://live.example.com/ü"}
    made = api.post(f"/projects/{project.id}/environments", roles.owner, **sent)
    environment_id = made.json()["id"]
    brief = made.json()["project"]
    assert (made.status_code, made.json()) == (
        201,
        {
            "id": environment_id,
            "name": "production",
            "slug": "production",
            "external_url": "https://live.example.com/ü",
            "created_at": made.json()["created_at"],
            "updated_at": made.json()["created_at"],
            "state": "available",
            "tier": "production",
            "auto_stop_at": None,
            "auto_delete_at": None,
            "project": brief,
        },
    )
    assert (brief["id"], brief["path_with_namespace"]) == (project.id, project.path)
    one = api.get(f"/projects/{project.id}/environments/{environment_id}", roles.owner).json()
    assert one == {**made.json(), "last_deployment": None}
    where = f"/projects/{project.id}/environments/{environment_id}"
    # Only schemes that browsers execute are refused; pages link to http and https only.
    for url in ("ftp://example.com", "example.com"):
        assert api.put(where, roles.owner, external_url=url).json()["external_url"] == url
    edited = api.put(where, roles.owner, name="live site", external_url="", tier="other").json()
    assert (edited["name"], edited["slug"], edited["external_url"], edited["tier"]) == (
        "live site",
        "production",
        None,
        "other",
    )


SLUGS = [
    ("staging", "staging"),
    ("Staging", "staging-[a-z0-9]{6}"),
    ("review/feature_1", "review-feature-1-[a-z0-9]{6}"),
    ("1st", "env-1st-[a-z0-9]{6}"),
    ("--", "env-[a-z0-9]{6}"),
    ("a" * 24, "a" * 24),
    ("a" * 25, "a{17}-[a-z0-9]{6}"),
    ("abcdefghijklmnop-qrstuvwxyz", "abcdefghijklmnop-[a-z0-9]{6}"),
    ("$" + "{x} .", "env-x-[a-z0-9]{6}"),
]


@pytest.mark.parametrize(("name", "slug"), SLUGS)
def test_the_slug_is_derived_from_the_name(api: Api, make: Make, roles: UsersByRole, name: str, slug: str) -> None:
    project = project_with(make, roles)
    made = api.post(f"/projects/{project.id}/environments", roles.owner, name=name)
    assert made.status_code == 201, made.text
    assert re.fullmatch(slug, made.json()["slug"])
    assert len(made.json()["slug"]) <= 24


def test_a_slug_is_unique(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    slug = api.post(f"/projects/{project.id}/environments", roles.owner, name="Upper").json()["slug"]
    other = api.post(f"/projects/{project.id}/environments", roles.owner, name=slug)
    assert other.status_code == 201
    assert other.json()["slug"] != slug


REFUSED: list[tuple[dict[str, Any], object]] = [
    ({}, '400 (Bad request) "name" not given'),
    ({"name": " "}, {"name": ["can't be blank"]}),
    ({"name": "n" * 256}, {"name": ["is too long (maximum is 255 characters)"]}),
    (
        {"name": "größe"},
        {"name": ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.' and spaces"]},
    ),
    ({"name": "taken"}, {"name": ["has already been taken"]}),
    ({"name": "x", "external_url": "https://taken.example.com"}, {"external_url": ["has already been taken"]}),
    ({"name": "x", "external_url": "javascript:alert(1)"}, {"external_url": ["must be a valid URL"]}),
    ({"name": "x", "external_url": " Java\tScript:alert(1)"}, {"external_url": ["must be a valid URL"]}),
    ({"name": "x", "external_url": "data:text/html,x"}, {"external_url": ["must be a valid URL"]}),
    (
        {"name": "x", "external_url": "https://example.com/" + "x" * 255},
        {"external_url": ["is too long (maximum is 255 characters)"]},
    ),
    ({"name": "x", "slug": "x"}, {"slug": ["is derived from the name and cannot be set"]}),
    ({"name": "x", "tier": "best"}, {"tier": ["is invalid"]}),
    ({"name": ["x"]}, {"name": ["is invalid"]}),
]


@pytest.mark.parametrize(("sent", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_invalid_environments_are_rejected(
    api: Api, make: Make, roles: UsersByRole, sent: dict[str, Any], message: object
) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/environments"
    api.post(where, roles.owner, name="taken", external_url="https://taken.example.com")
    answer = api.post(where, roles.owner, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    held = api.post(where, roles.owner, name="held").json()
    if sent:
        edited = api.put(f"{where}/{held['id']}", roles.owner, **sent)
        assert (edited.status_code, edited.json()["message"]) == (400, message)
    same = api.put(f"{where}/{held['id']}", roles.owner, name="held")
    assert same.status_code == 200, "its own name is not another's"


def test_list_is_filtered_and_paginated_with_constant_statements(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/environments"
    names = ("production", "review/one", "Review/two")
    made = [api.post(where, roles.owner, name=name).json()["id"] for name in names]
    environment_id = made[0]
    for _ in range(2):
        stopped = api.post(f"/projects/{project.id}/environments/{environment_id}/stop", roles.developer, force=True)
        assert (stopped.status_code, stopped.json()["state"]) == (200, "stopped")
    assert ids(api.get(where, roles.reporter)) == made
    assert ids(api.get(where, roles.reporter, name="production")) == made[:1]
    assert ids(api.get(where, roles.reporter, name="Production")) == []
    assert ids(api.get(where, roles.reporter, search="REVIEW/")) == made[1:]
    assert ids(api.get(where, roles.reporter, search="e%_")) == []
    assert ids(api.get(where, roles.reporter, states="available")) == made[1:]
    assert ids(api.get(where, roles.reporter, states="stopped")) == made[:1]
    assert ids(api.get(where, roles.reporter, states="stopping")) == []
    assert api.get(where, roles.reporter, states="gone").status_code == 400
    assert api.get(where, roles.reporter, search="re").status_code == 400
    assert api.get(where, roles.reporter, search="review", name="production").status_code == 400
    page = api.get(where, roles.reporter, per_page=2, page=2)
    assert (ids(page), page.headers["x-total"]) == (made[2:], "3")
    few, many = (statements_of(make, partial(api.get, where, roles.reporter, per_page=n)) for n in (1, 100))
    assert many <= few


def test_an_environment_is_found_only_in_its_project(api: Api, make: Make, roles: UsersByRole) -> None:
    project, other = project_with(make, roles), make_project(make, roles.stranger)
    environment_id = api.post(f"/projects/{project.id}/environments", roles.owner, name="live").json()["id"]
    where = f"/projects/{other.id}/environments/{environment_id}"
    assert api.get(where, roles.stranger).status_code == 404
    assert api.put(where, roles.stranger, name="x").status_code == 404
    assert api.post(f"{where}/stop", roles.stranger).status_code == 404
    for _ in range(2):
        gone = api.delete(where, roles.stranger)
        assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"/projects/{other.id}/environments/x", roles.stranger).status_code == 400
    assert api.get(f"/projects/{project.id}/environments/{environment_id}", roles.owner).status_code == 200


@pytest.mark.parametrize(("edit", "read", "write"), [("archive", 200, 403), ("jobs", 403, 403)])
def test_archived_projects_are_read_only_and_disabled_jobs_hide_environments(
    api: Api, make: Make, roles: UsersByRole, edit: str, read: int, write: int
) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/environments"
    environment_id = api.post(where, roles.owner, name="live").json()["id"]
    if edit == "archive":
        api.post(f"/projects/{project.id}/archive", roles.owner)
    else:
        api.put(f"/projects/{project.id}", roles.owner, jobs_enabled=False)
    deployment = {"environment": "live", "sha": "a" * 40, "ref": "main", "tag": False, "status": "success"}
    for caller in (roles.owner, make.root):
        assert api.get(where, caller).status_code == read
        assert api.get(f"{where}/{environment_id}", caller).status_code == read
        assert api.get(f"/projects/{project.id}/deployments", caller).status_code == read
        assert api.post(where, caller, name="new").status_code == write
        assert api.put(f"{where}/{environment_id}", caller, name="x").status_code == write
        assert api.post(f"{where}/{environment_id}/stop", caller).status_code == write
        assert api.delete(f"{where}/{environment_id}", caller).status_code == write
        assert api.post(f"/projects/{project.id}/deployments", caller, **deployment).status_code == write


def _backdate(make: Make, environment_id: int, **times: str) -> None:
    make.database.write(lambda db: db.update(environments, environment_id, **times))


def _protect(api: Api, project: Project, owner: User, name: str) -> None:
    sent = {"name": name, "deploy_access_levels": [{"access_level": 60}]}
    assert api.post(f"{project.url}/protected_environments", owner, **sent).status_code == 201


OLD, RECENT = "2020-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z"


def test_stale_environments_are_stopped(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/environments"
    stale, deployed, changed, protected = (
        api.post(where, roles.owner, name=name).json()["id"] for name in ("stale", "deployed", "changed", "protected")
    )
    _protect(api, project, roles.owner, "protected")
    deployment = {"environment": "deployed", "sha": "a" * 40, "ref": "main", "tag": False, "status": "success"}
    assert api.post(f"/projects/{project.id}/deployments", roles.owner, **deployment).status_code == 201
    for number in (stale, deployed, protected):
        _backdate(make, number, updated_at=OLD)
    week_ago = add_duration(make.database.read(lambda db: db.now), days=-8)
    for role, status in (("stranger", 404), ("reporter", 403), ("nobody", 401), ("developer", 200)):
        answer = api.post(f"{where}/stop_stale", roles[role], before=week_ago)
        assert answer.status_code == status, role
    assert answer.json() == {"message": "Successfully requested stop for all stale environments"}
    make.database.write(enqueue_environment_stops)
    instance.work()
    assert ids(api.get(where, roles.owner, states="stopped")) == [stale]
    assert ids(api.get(where, roles.owner, states="available")) == [deployed, changed, protected]


@pytest.mark.parametrize("before", ["2999-01-01", "2001-01-01", "yesterday", "", None])
def test_stale_environments_need_a_date_of_the_last_ten_years(
    api: Api, make: Make, roles: UsersByRole, before: str | None
) -> None:
    where = f"/projects/{project_with(make, roles).id}/environments/stop_stale"
    assert api.post(where, roles.owner, **({} if before is None else {"before": before})).status_code == 400


def test_stopped_review_apps_are_deleted_in_a_week(
    api: Api, make: Make, roles: UsersByRole, instance: Instance
) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/environments"
    old, revived, fresh, running, other, protected = (
        api.post(where, roles.owner, name=name).json()["id"]
        for name in ("review/old", "review/revived", "review/fresh", "review/running", "reviewed/other", "review/kept")
    )
    for number in (old, revived, running, other, protected):
        _backdate(make, number, created_at=OLD)
    for number in (old, revived, fresh, other, protected):
        api.post(f"{where}/{number}/stop", roles.owner)
    _protect(api, project, roles.owner, "review/kept")
    path = f"{where}/review_apps"
    for role, status in (("stranger", 404), ("developer", 403), ("nobody", 401)):
        assert api.delete(path, roles[role]).status_code == status, role
    for query in ("?limit=0", "?limit=x", "?before=x", "?dry_run=x", "?before=2010-01-01"):
        assert api.delete(f"{path}{query}", roles.owner).status_code == 400, query
    listed = api.delete(path, roles.owner).json()
    assert ([each["id"] for each in listed["scheduled_entries"]], listed["unprocessable_entries"]) == (
        [old, revived],
        [],
    )
    assert set(listed["scheduled_entries"][0]) == {"id", "name", "slug", "external_url", "created_at", "updated_at"}
    assert api.get(f"{where}/{old}", roles.owner).json()["auto_delete_at"] is None, "It was a dry run."
    assert [each["id"] for each in api.delete(f"{path}?limit=1", roles.owner).json()["scheduled_entries"]] == [old]
    assert api.delete(f"{path}?dry_run=false", roles.owner).status_code == 200
    planned = api.get(f"{where}/{old}", roles.owner).json()
    assert planned["auto_delete_at"] > planned["updated_at"]
    assert api.delete(path, roles.owner).status_code == 400, "Those that are scheduled are not found again."
    deployment = {"environment": "review/revived", "sha": "a" * 40, "ref": "main", "tag": False, "status": "success"}
    assert api.post(f"/projects/{project.id}/deployments", roles.owner, **deployment).status_code == 201
    assert api.get(f"{where}/{revived}", roles.owner).json()["auto_delete_at"] is None

    def search() -> None:
        make.database.write(enqueue_environment_deletion)
        instance.work()

    search()
    assert api.get(f"{where}/{old}", roles.owner).status_code == 200
    _backdate(make, old, auto_delete_at=RECENT)
    _backdate(make, running, auto_delete_at=RECENT)
    search()
    assert ids(api.get(where, roles.owner)) == [revived, fresh, running, other, protected]
