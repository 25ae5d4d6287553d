"""Artifacts that a merge request links to (``artifacts:expose_as``)."""

from typing import NamedTuple

from ingot.ci.artifacts.policy import may_read_artifact
from ingot.ci.artifacts.queries import exposed_archives
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.pipelines.tables import Pipeline
from ingot.projects.projects.queries import find_project

_MAX_ARTIFACTS = 10
_UNKNOWN_SIGNS = "*$"
"""Signs of paths that only the runner can resolve."""


class ExposedArtifact(NamedTuple):
    """A link to a folder of the archive of a job."""

    text: str
    job_id: int
    job_name: str
    folder: str
    """Folder with the only path of the artifacts; empty for the top folder."""


def exposed_artifacts(db: Connection, actor: Actor, pipeline: Pipeline) -> list[ExposedArtifact]:
    """Return the links of a pipeline to the artifacts that a user may read."""
    archives = exposed_archives(db, pipeline.id)
    if not archives:
        return []
    try:
        access, project = find_project(db, actor, pipeline.project_id)
    except NotFound:  # The pipeline of a fork that the user may not see.
        return []
    return [
        ExposedArtifact(str(options["expose_as"]), artifact.job_id, name, _folder(options.get("paths") or []))
        for name, artifact, options in archives
        if may_read_artifact(actor, access, project, artifact)
    ][:_MAX_ARTIFACTS]


def _folder(paths: list[str]) -> str:
    """Return the folder to show: ``docs`` for ``docs/`` and for ``docs/index.html``."""
    if len(paths) != 1 or any(sign in paths[0] for sign in _UNKNOWN_SIGNS):
        return ""
    return paths[0].removeprefix("./").rpartition("/")[0]
