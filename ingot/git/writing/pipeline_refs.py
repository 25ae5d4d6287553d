"""Refs of pipelines, ``refs/pipelines/<id>``: they keep the commit of a pipeline fetchable when its branch moves."""

from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, create_ref, update_refs

PIPELINE_REFS = "refs/pipelines"


def pipeline_ref(pipeline_id: int) -> str:
    """Return the full name of the ref of a pipeline."""
    return f"{PIPELINE_REFS}/{pipeline_id}"


def ensure_pipeline_ref(repository: Repository, pipeline_id: int, oid: str) -> None:
    """Create the ref of a pipeline unless it exists."""
    try:
        create_ref(repository, pipeline_ref(pipeline_id), oid)
    except RefMoved:  # It exists; it is never changed.
        pass


def delete_pipeline_refs(repository: Repository, pipeline_ids: list[int]) -> None:
    """Delete the refs of pipelines that have one."""
    values = {name: repository.tip(name) for name in map(pipeline_ref, pipeline_ids)}
    updates = [RefUpdate(name, oid, NO_OID) for name, oid in values.items() if oid is not None]
    if updates:
        update_refs(repository, updates)
