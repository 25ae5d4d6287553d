"""What changes versions."""

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
    )
)
_oids = list_as_table("oids").table_valued("value")
_known = merge_request_commits.alias()
_RECORD_COMMITS = insert(merge_request_commits).from_select(
    ["merge_request_id", "version_id", "oid"],
    select(bindparam("merge_request", type_=BigInteger()), bindparam("version", type_=BigInteger()), _oids.c.value)
    .select_from(_oids)
    .where(
        ~exists().where(
            _known.c.merge_request_id == bindparam("merge_request", type_=BigInteger()), _known.c.oid == _oids.c.value
        )
    ),
)


def add_version(
    db: Connection, merge_request_id: int, pushed_by_id: int | None, found: str | VersionComparison
) -> None:
    """Add what a push brought: all that git has told of it, or only its head where git is still to be asked."""
    looked = None if isinstance(found, str) else found
    version_id = db.insert(
        merge_request_versions,
        merge_request_id=merge_request_id,
        head_oid=found if isinstance(found, str) else found.head_oid,
        base_oid=looked.base_oid if looked else None,
        start_oid=looked.start_oid if looked else None,
        state=COLLECTED if looked else COLLECTING,
        commits_count=looked.commits_count if looked else None,
        files_count=looked.files_count if looked else None,
        pushed_by_id=pushed_by_id,
        created_at=db.now,
    )
    if looked is not None:
        _record_commits(db, merge_request_id, version_id, looked)


def complete_version(db: Connection, version: DiffVersion, comparison: VersionComparison) -> bool:
    """Write down what git has told of a version; says whether nobody else had done so before."""
    touched = db.run(
        _COLLECT,
        version=version.id,
        base=comparison.base_oid,
        start=comparison.start_oid,
        commits=comparison.commits_count,
        files=comparison.files_count,
    )
    if touched:
        _record_commits(db, version.merge_request_id, version.id, comparison)
    return touched > 0


def _record_commits(db: Connection, merge_request_id: int, version_id: int, comparison: VersionComparison) -> None:
    if comparison.commits:
        db.run(_RECORD_COMMITS, merge_request=merge_request_id, version=version_id, oids=list(comparison.commits))
