"""Export and import as python-gitlab does them."""

from pathlib import Path

import gitlab

from tests.client import Make
from tests.conftest import Instance
from tests.transfers.exports.sample_project import SampleProject


def test_export_and_import(instance: Instance, make: Make, sample: SampleProject, tmp_path: Path) -> None:
    """The documented calls start an export, wait for it, download it in chunks and import the file."""
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        _export_and_import(client, instance, make.name("imported"), sample, tmp_path / "export.tgz")


def _export_and_import(client: gitlab.Gitlab, instance: Instance, name: str, sample: SampleProject, file: Path) -> None:
    project = client.projects.get(sample.project.id)
    export = project.exports.create()
    instance.work()
    export.refresh()
    assert export.export_status == "finished"
    with file.open("wb") as target:
        export.download(streamed=True, action=target.write)
    with file.open("rb") as source:
        started = client.projects.import_project(source, path=name, namespace=sample.owner.username)
    assert isinstance(started, dict)
    instance.work()
    imported = client.projects.get(started["id"], lazy=True).imports.get()
    assert imported.import_status == "finished"
    issues = client.projects.get(started["id"]).issues.list(get_all=True, sort="asc")
    assert [issue.iid for issue in issues] == [1, 2, 4, 5, 6]
    group = client.groups.get(sample.group.id)
    group_export = group.exports.create()
    instance.work()
    content = group_export.download()
    assert isinstance(content, bytes)
    assert content[:2] == b"\x1f\x8b"
