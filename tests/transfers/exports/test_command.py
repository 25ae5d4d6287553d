"""Test of ``ingot export``."""

import json
import sys
from pathlib import Path

import pytest

from ingot.cli import main as command_line
from tests.conftest import Instance
from tests.transfers.exports.archives import files_of, rows_of
from tests.transfers.exports.sample_project import SampleProject


def test_export_of_a_project_and_a_group(
    instance: Instance, sample: SampleProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command writes a project with the addresses of its users, or a group; it never overwrites a file."""
    options = ["--data", str(instance.settings.data)]
    if instance.settings.database_url:
        options += ["--database-url", instance.settings.database_url]

    def export(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["ingot", "export", *arguments, *options])
        command_line.main()

    project, group = tmp_path / "project.tar.gz", tmp_path / "group.tar.gz"
    export(sample.project.path, str(project))
    users = rows_of(files_of(project.read_bytes()), "user_contributions")
    assert {sample.owner.email, sample.reporter.email} == {user["email"] for user in users}
    export("--group", str(sample.group.id), str(group))
    attributes = files_of(group.read_bytes())[f"tree/groups/{sample.group.id}.json"]
    assert json.loads(attributes)["path"] == sample.group.path
    for arguments, message in (
        ((sample.project.path, str(project)), "already exists"),
        (("no/project", "x"), "there is no project"),
    ):
        with pytest.raises(SystemExit, match=message):
            export(*arguments)
    assert not list(tmp_path.glob("export-*"))
