"""Changes of rows that nearly every request reads, which triggers record for the read caches of all processes.

A change has a subject: a table and the key of a row, such as ``users/7``, or the table alone. It is recorded in the
transaction that makes it (see the migrations), for all statements and for nodes of the previous version too. So a cache
is exact if it removes the results that depend on the subjects recorded since its last query.
"""

from sqlalchemy import column, delete, func, select, table

from ingot.core.db.connection import Connection

_KEPT_CHANGES = 50_000
_CHANGES = table("row_changes", column("id"))
_DELETE_OLD = delete(_CHANGES).where(_CHANGES.c.id < select(func.max(_CHANGES.c.id) - _KEPT_CHANGES).scalar_subquery())


def delete_old_row_changes(db: Connection) -> int:
    """Delete changes that no cache needs: one that has not seen them sees so many newer ones that it is emptied.

    The newest remain, so that SQLite does not use their ids again.
    """
    return db.run_counted(_DELETE_OLD)
