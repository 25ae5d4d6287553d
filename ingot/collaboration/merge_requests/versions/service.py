"""State changes of versions."""

from sqlalchemy import BigInteger, bindparam, exists, insert, select, update

from ingot.collaboration.merge_requests.tables import DiffVersion, merge_request_commits, merge_request_versions
from ingot.collaboration.merge_requests.versions.inspection import VersionComparison
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import list_as_table

COLLECTING, COLLECTED = "collecting", "collected"
_COLLECT = (
    update(merge_request_versions)
    .where(merge_request_versions.c.id == bindparam("version"), merge_request_versions.c.state == COLLECTING)
    .values(
        state=COLLECTED,
        base_oid=bindparam("base"),
        start_oid=bindparam("start"),
        commits_count=bindparam("commits"),
        files_count=bindparam("files"),
        patch_id=bindparam("patch_id"),
    )
)
_oids = list_as_table("oids").table_valued("value")
_recorded = merge_request_commits.alias()
_RECORD_COMMITS = insert(merge_request_commits).from_select(
    ["merge_request_id", "version_id", "oid"],
    select(bindparam("merge_request", type_=BigInteger()), bindparam("version", type_=BigInteger()), _oids.c.value)
    .select_from(_oids)
    .where(
        ~exists().where(
            _recorded.c.merge_request_id == bindparam("merge_request", type_=BigInteger()),
            _recorded.c.oid == _oids.c.value,
        )
    ),
)


def add_version(
    db: Connection, merge_request_id: int, pushed_by_id: int | None, head_or_comparison: str | VersionComparison
) -> None:
    """Add a version: complete with the comparison by git, or only with its head if git runs later."""
    comparison = None if isinstance(head_or_comparison, str) else head_or_comparison
    version_id = db.insert(
        merge_request_versions,
        merge_request_id=merge_request_id,
        head_oid=head_or_comparison if isinstance(head_or_comparison, str) else head_or_comparison.head_oid,
        base_oid=comparison.base_oid if comparison else None,
        start_oid=comparison.start_oid if comparison else None,
        state=COLLECTED if comparison else COLLECTING,
        commits_count=comparison.commits_count if comparison else None,
        files_count=comparison.files_count if comparison else None,
        patch_id=comparison.patch_id if comparison else None,
        pushed_by_id=pushed_by_id,
        created_at=db.now,
    )
    if comparison is not None:
        _record_commits(db, merge_request_id, version_id, comparison)


def complete_version(db: Connection, version: DiffVersion, comparison: VersionComparison) -> bool:
    """Store the comparison of a version; return False if another process has done so already."""
    updated = db.run_counted(
        _COLLECT,
        version=version.id,
        base=comparison.base_oid,
        start=comparison.start_oid,
        commits=comparison.commits_count,
        files=comparison.files_count,
        patch_id=comparison.patch_id,
    )
    if updated:
        _record_commits(db, version.merge_request_id, version.id, comparison)
    return updated > 0


def _record_commits(db: Connection, merge_request_id: int, version_id: int, comparison: VersionComparison) -> None:
    if comparison.commits:
        db.run(_RECORD_COMMITS, merge_request=merge_request_id, version=version_id, oids=list(comparison.commits))
