"""Counts of the instance, of its queue and of a user, locations and snapshots of repositories, and public keys."""

import io
import subprocess
import tarfile
from pathlib import Path

import httpx

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.git_history import History
from tests.roles import UsersByRole, project_with
from tests.ssh_public_keys import ed25519_line


def test_counts_of_the_instance(api: Api, make: Make) -> None:
    before = api.get("/application/statistics", make.root).json()
    make_project(make)
    after = api.get("/application/statistics", make.root).json()
    assert int(after["projects"]) == int(before["projects"]) + 1
    assert all(value.isdigit() for value in after.values())
    assert api.get("/application/statistics", make.user()).status_code == 403


def test_metrics_of_the_queue(api: Api, make: Make) -> None:
    queues = api.get("/sidekiq/queue_metrics", make.root).json()
    processes = api.get("/sidekiq/process_metrics", make.root).json()
    jobs = api.get("/sidekiq/job_stats", make.root).json()
    assert queues["queues"]["default"] == {"backlog": 0, "latency": 0}
    assert processes["processes"][0]["concurrency"] >= 1
    assert jobs["jobs"].keys() == {"processed", "failed", "enqueued"}
    compound = api.get("/sidekiq/compound_metrics", make.root).json()
    assert compound.keys() == {"queues", "processes", "jobs"}
    assert api.get("/sidekiq/compound_metrics", make.user()).status_code == 403


def test_counts_of_associations(api: Api, make: Make) -> None:
    """The user and administrators see what belongs to the user."""
    user = make.user()
    project = make_project(make, user, group=make_group(make, user))
    assert api.post(f"{project.url}/issues", user, title="x").status_code == 201
    url, other = f"/users/{user.id}/associations_count", make.user()
    counts = {"groups_count": 1, "projects_count": 0, "issues_count": 1, "merge_requests_count": 0}
    for caller, status in ((user, 200), (make.root, 200), (other, 403), (None, 401)):
        answer = api.get(url, caller)
        assert answer.status_code == status
        assert status != 200 or answer.json() == counts
    assert api.get("/users/99999999/associations_count", make.root).status_code == 404


def test_counts_of_a_user(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    helper = make.user()
    api.post(f"{project.url}/members", roles.owner, user_id=helper.id, access_level=30)
    for assignee in (helper, helper, roles.developer):
        api.post(f"{project.url}/issues", roles.owner, title="x", assignee_ids=[assignee.id])
    assert api.get("/user_counts", helper).json() == {
        "merge_requests": 0,
        "assigned_issues": 2,
        "assigned_merge_requests": 0,
        "review_requested_merge_requests": 0,
        "todos": 2,
    }
    assert api.get("/user_counts").status_code == 401


def test_storage_and_snapshot(api: Api, make: Make, roles: UsersByRole, instance: Instance, tmp_path: Path) -> None:
    project = project_with(make, roles)
    history = History()
    history.commit(files={"a": "a\n"})
    history.fill(instance, project)
    head = api.get(f"{project.url}/repository/branches/master", make.root).json()["commit"]["id"]
    stored = api.get(f"/projects/{project.id}/storage", make.root).json()
    assert (stored["project_id"], stored["repository_storage"]) == (project.id, "default")
    answer = api.get(f"/projects/{project.id}/snapshot", make.root)
    assert answer.headers["content-type"] == "application/x-tar"
    with tarfile.open(fileobj=io.BytesIO(answer.content)) as archive:
        assert "config" not in archive.getnames()
        archive.extractall(tmp_path, filter="data")
    for name in ("objects", "refs"):
        (tmp_path / name).mkdir(exist_ok=True)
    shown = subprocess.run(
        ["git", "--git-dir", str(tmp_path), "rev-parse", "refs/heads/master"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == head
    assert api.get(f"/projects/{project.id}/snapshot", make.root, wiki=True).status_code == 404
    for caller, status in ((roles.owner, 403), (None, 401)):
        assert api.get(f"/projects/{project.id}/storage", caller).status_code == status
        assert api.get(f"/projects/{project.id}/snapshot", caller).status_code == status


def test_public_deploy_keys(api: Api, make: Make, roles: UsersByRole) -> None:
    project, line = project_with(make, roles), ed25519_line()
    assert api.post("/deploy_keys", roles.owner, title="all", key=line).status_code == 403
    key = api.post("/deploy_keys", make.root, title="all", key=line).json()
    assert key["id"] in [each["id"] for each in api.get("/deploy_keys", make.root, public=True, per_page=100).json()]
    assert api.post("/deploy_keys", make.root, title="again", key=line).status_code == 400
    assert api.post("/deploy_keys", make.root, title="bad", key="none").status_code == 400
    # Maintainers of any project can enable it, by its id or by its text, and it remains when no project has it.
    enabled = f"{project.url}/deploy_keys/{key['id']}"
    assert api.post(f"{enabled}/enable", roles.developer).status_code == 403
    assert api.post(f"{enabled}/enable", roles.master).status_code == 201
    api.delete(enabled, roles.master)
    assert api.post(f"{project.url}/deploy_keys", roles.master, title="text", key=line).json()["id"] == key["id"]
    api.delete(enabled, roles.master)
    assert key["id"] in [each["id"] for each in api.get("/deploy_keys", make.root, per_page=100).json()]
    private = api.post(f"{project.url}/deploy_keys", roles.master, title="own", key=ed25519_line()).json()
    public = [each["id"] for each in api.get("/deploy_keys", make.root, public=True, per_page=100).json()]
    assert private["id"] not in public


def test_public_keys_of_users(api: Api, make: Make, instance: Instance) -> None:
    person, line = make.user(), ed25519_line()
    api.post("/user/keys", person, title="k", key=" ".join([*line.split()[:2], "secret@laptop"]))
    api.post("/user/keys", person, title="old", key=ed25519_line(), expires_at="2001-01-01")
    with httpx.Client(base_url=instance.url) as client:
        shown = client.get(f"/{person.username}.keys")
        assert (shown.status_code, shown.headers["content-type"]) == (200, "text/plain; charset=utf-8")
        kind, key = line.split()[:2]
        name = api.get(f"/users/{person.id}", person).json()["name"]
        assert shown.text == f"{kind} {key} {name} ({httpx.URL(instance.url).host})\n"
        assert (client.get(f"/{person.username}.gpg").status_code, client.get(f"/{person.username}.gpg").text) == (
            200,
            "",
        )
        api.post(f"/users/{person.id}/block", make.root)
        # Like an unknown user.
        answers = [client.get(f"/{name}.keys") for name in (person.username, "no-such-user")]
        assert answers[0].status_code == answers[1].status_code != 200
