"""Round trips: an exported project equals the one that is imported from its archive, but for known differences."""

import io
from pathlib import Path

import pytest

from ingot.core.log import Log
from ingot.projects.forks.service import fail_lost_copies
from ingot.server.jobs import job_worker
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import by_path, make_project
from tests.graphql.conftest import Graphql, timelogs_of
from tests.second_instance import serving
from tests.transfers.exports.sample_project import SampleProject
from tests.transfers.exports.snapshots import differences, snapshot

SHARED = (
    # Imported schedules wait until their owners activate them.
    ".pipeline_schedules[0].active: ",
    ".pipeline_schedules[0].next_run_at: ",
    # They contain the address of the server and the name of the project.
    *(f".releases[0].assets.sources[{number}].url: " for number in range(4)),
)
"""Beginnings of the differences that are intended."""
SAME_INSTANCE = (
    # Two projects of a group cannot have one name.
    ".project.name: ",
    ".boards[0].project.name: ",
    ".boards[1].project.name: ",
    # The owner of a deploy key decides in which other projects it is valid, and commits name the first project.
    ".deploy_keys: ",
    ".repository/branches[2].commit.message: ",
)


@pytest.fixture
def archive(instance: Instance, make: Make, sample: SampleProject) -> bytes:
    """Return the archive of the sample project, exported by an administrator."""
    admin = make.user(admin=True)  # Exports of a user are limited, and other tests request some of root.
    assert make.api.post(f"{sample.url}/export", admin).status_code == 202
    instance.work()
    answer = make.api.get(f"{sample.url}/export/download", admin)
    assert answer.status_code == 200, answer.text
    return answer.content


def import_archive(api: Api, caller: User, archive: bytes, namespace: str, path: str) -> None:
    """Start the import of an archive."""
    fields = {"path": path, "namespace": namespace}
    files = {"file": ("project.tar.gz", archive)}
    answer = api.request("POST", "/projects/import", caller, data=fields, files=files)
    assert answer.status_code == 201, answer.text


def test_import_on_the_same_instance(instance: Instance, make: Make, sample: SampleProject, archive: bytes) -> None:
    """A second project in the same group has everything of the first."""
    import_archive(make.api, make.root, archive, sample.group.path, "imported")
    path = f"{sample.group.path}/imported"
    url = by_path("projects", path)
    instance.app.database.write(fail_lost_copies)
    assert make.api.get(f"{url}/import", make.root).json()["import_status"] == "scheduled", "this is no lost fork"
    instance.work()
    status = make.api.get(f"{url}/import", make.root).json()
    assert (status["import_status"], status["import_error"]) == ("finished", None)
    original = snapshot(make.api, sample.url, sample.project.path, make.root)
    found = differences(original, snapshot(make.api, url, path, make.root))
    assert [each for each in found if not each.startswith(SHARED + SAME_INSTANCE)] == []
    entries = timelogs_of(instance.url, make.root, sample.project.path)
    assert [entry["summary"] for entry in entries] == ["Work", None]
    assert timelogs_of(instance.url, make.root, path) == entries


def test_timelines_of_incidents(instance: Instance, make: Make) -> None:
    """An incident keeps its type, its tasks and its timeline."""
    admin = make.user(admin=True)
    project = make_project(make, admin)
    made = make.api.post(f"{project.url}/issues", admin, title="Outage", issue_type="incident").json()
    make.api.put(f"{project.url}/issues/{made['iid']}", admin, severity="high")
    task = {"title": "Task", "issue_type": "task", "parent_id": made["id"]}
    make.api.post(f"{project.url}/issues", admin, **task)
    graphql = Graphql(instance.url)
    create = "mutation($input: TimelineEventCreateInput!) { timelineEventCreate(input: $input) { errors } }"
    event = {"note": "It is down", "occurredAt": "2026-01-31T10:00:00Z", "timelineEventTagNames": ["Start time"]}
    incident = f"gid://gitlab/Issue/{made['id']}"
    graphql.data(create, admin, input={"incidentId": incident, **event})
    assert make.api.post(f"{project.url}/export", admin).status_code == 202
    instance.work()
    archive = make.api.get(f"{project.url}/export/download", admin).content
    import_archive(make.api, admin, archive, admin.username, "incidents")
    instance.work()
    path = f"{admin.username}/incidents"
    copy = make.api.get(f"{by_path('projects', path)}/issues/1", admin).json()
    assert (copy["type"], copy["severity"]) == ("INCIDENT", "HIGH")
    query = """query($path: ID!, $incident: IssueID!) { project(fullPath: $path) {
        incidentManagementTimelineEvents(incidentId: $incident) { nodes {
            note action occurredAt author { username } timelineEventTags { nodes { name } } } } } }"""
    shown = graphql.data(query, admin, path=path, incident=f"gid://gitlab/Issue/{copy['id']}")["project"]
    assert shown == graphql.data(query, admin, path=project.path, incident=incident)["project"]
    assert len(shown["incidentManagementTimelineEvents"]["nodes"]) == 2
    graphql.close()


def test_overrides_and_overwriting(instance: Instance, make: Make, sample: SampleProject, archive: bytes) -> None:
    """Attributes of the request replace those of the archive; an existing project is deleted if it may be."""
    stranger = make.user()
    make.api.post(f"/groups/{sample.group.id}/members", make.root, user_id=stranger.id, access_level=40)
    files = {"file": ("project.tar.gz", archive)}

    def start(caller: User, **fields: str) -> int:
        sent = {"path": "overridden", "namespace": sample.group.path, **fields}
        return make.api.request("POST", "/projects/import", caller, data=sent, files=files).status_code

    assert start(make.root, **{"override_params[description]": "Replaced"}) == 201
    instance.work()
    url = by_path("projects", f"{sample.group.path}/overridden")
    first = make.api.get(url, make.root).json()
    assert first["description"] == "Replaced"
    unknown = {"override_params[no_such]": "x"}
    assert [start(make.root), start(make.root, path="other", **unknown)] == [400, 400]
    assert start(stranger, overwrite="true") == 403
    assert start(make.root, overwrite="true") == 201
    instance.work()
    second = make.api.get(url, make.root).json()
    assert (second["id"] != first["id"], second["description"]) == (True, "A sample: #1, !1")
    make.api.delete(url, make.root)


def test_import_on_another_instance(
    instance: Instance, make: Make, sample: SampleProject, archive: bytes, tmp_path: Path
) -> None:
    """A second instance, on which the users have accounts with the same addresses, shows the same group and project."""
    admin = make.user(admin=True)
    assert make.api.post(f"/groups/{sample.group.id}/export", admin).status_code == 202
    instance.work()
    group_archive = make.api.get(f"/groups/{sample.group.id}/export/download", admin).content
    original = snapshot(make.api, sample.url, sample.project.path, make.root)
    with serving(tmp_path / "second") as second:
        for person in (sample.owner, sample.reporter):
            second.make.user(username=person.username, email=person.email)
        files = {"file": ("group.tar.gz", group_archive)}
        fields = {"name": sample.group.name, "path": sample.group.path}
        assert (
            second.api.request("POST", "/groups/import", second.make.root, data=fields, files=files).status_code == 202
        )
        worker = job_worker(second.settings, second.app.database, Log("json", io.StringIO()))
        while worker.run_once():
            pass
        path = sample.project.path.rpartition("/")[2]
        import_archive(second.api, second.make.root, archive, sample.group.path, path)
        while worker.run_once():
            pass
        url = by_path("projects", sample.project.path)
        copy = snapshot(second.api, url, sample.project.path, second.make.root)
    found = differences(original, copy)
    assert [each for each in found if not each.startswith(SHARED)] == []
