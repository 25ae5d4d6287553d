"""Storage of the versions of merge requests and of their commits."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from ingot.collaboration.merge_requests.tables import merge_request_commits, merge_request_versions
from ingot.collaboration.merge_requests.versions.service import COLLECTED
from ingot.core.db.expressions import in_list
from ingot.import_export.target.context import StoreContext
from ingot.import_export.target.preparation import PreparedMergeRequest
from ingot.import_export.target.rows import Relation, moment, replace_rows
from ingot.import_export.target.work_items import StoredItem

_OWNER = "merge_request_id"
_VERSIONS = Relation(merge_request_versions, _OWNER, (_OWNER, "head_oid", "base_oid", "start_oid"), complete=False)
_OF_OWNERS = select(merge_request_versions.c.id, *(merge_request_versions.c[name] for name in _VERSIONS.key)).where(
    in_list(merge_request_versions.c.merge_request_id, "owners")
)
_COMMITS = Relation(merge_request_commits, _OWNER, (_OWNER, "oid"), complete=False)


def store_versions(
    context: StoreContext, items: Sequence[StoredItem], commits: Mapping[int, PreparedMergeRequest]
) -> None:
    """Store the versions whose commits exist, the oldest first, and record the commits with their versions."""
    db = context.db
    existing = [item.id for item in items if not item.is_new]
    rows: list[dict[str, Any]] = [
        {
            _OWNER: item.id,
            "head_oid": version.head_oid,
            "base_oid": version.base_oid,
            "start_oid": version.start_oid,
            "state": COLLECTED,
            "commits_count": version.commits_count,
            "files_count": version.files_count,
            "patch_id": version.patch_id,
            "pushed_by_id": None,
            "created_at": moment(version.created_at, db.now),
        }
        for item in items
        for version in commits[item.id].versions
    ]
    replace_rows(db, _VERSIONS, existing, rows)
    owners = [item.id for item in items if commits[item.id].versions]
    stored = _version_ids(context, owners)
    recorded: list[dict[str, Any]] = []
    for item in items:
        for version in commits[item.id].versions:
            version_id = stored[item.id, version.head_oid, version.base_oid, version.start_oid]
            recorded += [{_OWNER: item.id, "version_id": version_id, "oid": oid} for oid in version.commits]
    replace_rows(db, _COMMITS, existing, recorded)


def _version_ids(context: StoreContext, owners: Sequence[int]) -> dict[tuple[Any, ...], int]:
    rows = context.db.rows(_OF_OWNERS, owners=list(owners)) if owners else []
    return {tuple(key): row_id for row_id, *key in rows}
