"""Numbers of imported issues, merge requests and milestones: those of the source, unless they are taken."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Table

from ingot.collaboration.iids.service import next_iid, raise_last_iid
from ingot.import_export.target.context import StoreContext
from ingot.import_export.target.rows import is_number, rows_by_values


class IidSequence(NamedTuple):
    """Numbers of one kind of rows in a project."""

    kind: str
    table: Table
    owner: str
    symbol: str


def assign_iids(
    context: StoreContext, sequence: IidSequence, wanted: Sequence[tuple[str, int | None]]
) -> dict[str, int]:
    """Return the numbers of new rows by key, given with the numbers that they should have.

    A number that a row of the project has already, or that no number can be, is replaced by the next free one. Later
    rows get higher numbers.
    """
    if not wanted:
        return {}
    db, project_id = context.db, context.project.id
    numbers = [iid for _, iid in wanted if iid is not None and is_number(iid)]
    taken = set(rows_by_values(db, sequence.table, (sequence.owner, project_id), "iid", numbers, "id"))
    iids: dict[str, int] = {}
    for key, iid in wanted:
        if iid is not None and is_number(iid) and iid not in taken:
            taken.add(iid)
            iids[key] = iid
    if iids:
        raise_last_iid(db, "project", project_id, sequence.kind, max(iids.values()))
    for key, iid in wanted:
        if key not in iids:
            iids[key] = next_iid(db, "project", project_id, sequence.kind)
            if iid is not None:
                number, taken_number = f"{sequence.symbol}{iids[key]}", f"{sequence.symbol}{iid}"
                kind = sequence.kind.replace("_", " ")
                context.problem(f"The {kind} {key} has the number {number}, because {taken_number} was taken.")
    return iids
