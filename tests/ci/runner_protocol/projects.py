"""Projects with a CI file and their pipelines."""

from typing import Any

import msgspec

from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.client import Make
from tests.factories import Project, make_project


def ci_project(make: Make, config: dict[str, Any], **attributes: Any) -> Project:
    """Create a project with a CI file, and with that a pipeline on its default branch."""
    project = make_project(make, make.root, shared_runners_enabled=False, **attributes)
    commit_config(make, project, config)
    return project


def commit_config(make: Make, project: Project, config: dict[str, Any], **options: Any) -> str:
    """Commit a CI file, which creates a pipeline."""
    # JSON is YAML too.
    text = msgspec.json.encode(config).decode()
    return commit_files(make, project, {".gitlab-ci.yml": text}, **{"branch": "master", **options})


def pipeline_status(make: Make, project: Project) -> str:
    """Return the status of the newest pipeline of a project."""
    status: str = list_pipelines(make, project)[0]["status"]
    return status


def jobs_config(count: int, **attributes: Any) -> dict[str, Any]:
    """Return a CI file with a number of equal jobs."""
    return {f"job-{number}": {"script": "true", **attributes} for number in range(count)}
