"""Round trips: an exported project equals the one that is imported from its archive, but for known differences."""

import io
from pathlib import Path

import pytest

from ingot.app import job_worker
from ingot.log import Log
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import by_path, make_group
from tests.second_instance import serving
from tests.transfers.exports.sample_project import SampleProject
from tests.transfers.exports.snapshots import differences, snapshot

SHARED = (
    # Times of links between issues are not imported.
    ".issues.1./links[0].link_",
    ".issues.2./links[0].link_",
    # A new project protects the default branch of the instance, which has another name here.
    ".protected_branches: ",
)
"""Beginnings of the known differences."""
SAME_INSTANCE = (
    # A deploy key that another project has is not added to a second one, and commits name the first project.
    ".deploy_keys: ",
    ".repository/branches[2].commit.message: ",
)
OTHER_INSTANCE = (
    # The group has no such milestone and label there, so they become those of the project.
    ".issues.1./links[0].milestone.iid: ",
    ".issues.2..milestone.iid: ",
    ".issues.2./resource_milestone_events[0].milestone.iid: ",
    ".labels[2].is_project_label: ",
    ".milestones: ",
)


@pytest.fixture
def archive(instance: Instance, make: Make, sample: SampleProject) -> bytes:
    """Return the archive of the sample project, exported by an administrator."""
    assert make.api.post(f"{sample.url}/export", make.root).status_code == 202
    instance.work()
    answer = make.api.get(f"{sample.url}/export/download", make.root)
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
    instance.work()
    path = f"{sample.group.path}/imported"
    url = by_path("projects", path)
    status = make.api.get(f"{url}/import", make.root).json()
    assert (status["import_status"], status["import_error"]) == ("finished", None)
    original = snapshot(make.api, sample.url, sample.project.path, make.root)
    found = differences(original, snapshot(make.api, url, path, make.root))
    assert [each for each in found if not each.startswith(SHARED + SAME_INSTANCE)] == []


def test_import_on_another_instance(make: Make, sample: SampleProject, archive: bytes, tmp_path: Path) -> None:
    """A second instance, on which the users have accounts with the same addresses, shows the same project."""
    original = snapshot(make.api, sample.url, sample.project.path, make.root)
    with serving(tmp_path / "second") as second:
        for person in (sample.owner, sample.reporter):
            second.make.user(username=person.username, email=person.email)
        group = make_group(second.make, path=sample.group.path)
        import_archive(second.api, second.make.root, archive, group.path, sample.project.path.rpartition("/")[2])
        worker = job_worker(second.settings, second.app.database, Log("json", io.StringIO()))
        while worker.run_once():
            pass
        url = by_path("projects", sample.project.path)
        copy = snapshot(second.api, url, sample.project.path, second.make.root)
    found = differences(original, copy)
    assert [each for each in found if not each.startswith(SHARED + OTHER_INSTANCE)] == []
