"""State changes of the manual order of issues."""

from sqlalchemy import text

from ingot.collaboration.issues.positions.queries import next_position, position_of, previous_position
from ingot.collaboration.issues.tables import POSITION_SPACING, Issue, issues
from ingot.core.db.connection import Connection

_SPREAD_POSITIONS = text(
    "UPDATE issues SET position = placed.place * :spacing FROM ("
    "SELECT id, row_number() OVER (ORDER BY COALESCE(position, iid * :spacing), id) AS place "
    "FROM issues WHERE project_id = :project AND deleted_at IS NULL"
    ") AS placed WHERE placed.id = issues.id"
)


def reorder_issue(db: Connection, moved: Issue, before: Issue | None, after: Issue | None) -> None:
    """Move an issue between two others, or next to the only one that is given."""
    low, high = _gap(db, moved, before, after)
    if high - low < 2:
        # The gap is used up: spread the positions of all issues of the project, without changing their order.
        db.run(_SPREAD_POSITIONS, project=moved.project_id, spacing=POSITION_SPACING)
        low, high = _gap(db, moved, before, after)
    db.update(issues, moved.id, position=(low + high) // 2)


def _gap(db: Connection, moved: Issue, before: Issue | None, after: Issue | None) -> tuple[int, int]:
    low = position_of(db, before) if before else None
    high = position_of(db, after) if after else None
    if low is not None and high is not None:
        return min(low, high), max(low, high)
    if low is not None:
        following = next_position(db, moved, low)
        return low, low + 2 * POSITION_SPACING if following is None else following
    assert high is not None  # noqa: S101 - The caller names one of the two.
    preceding = previous_position(db, moved, high)
    return high - 2 * POSITION_SPACING if preceding is None else preceding, high
