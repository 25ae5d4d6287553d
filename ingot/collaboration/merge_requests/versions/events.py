"""Events of versions."""

from ingot.collaboration.merge_requests.tables import DiffVersion
from ingot.collaboration.merge_requests.versions.inspection import VersionComparison
from ingot.core.events.bus import Event


class VersionCollected(Event, frozen=True):
    """A version is complete and the target repository has its commits; ``before`` is the preceding version."""

    merge_request_id: int
    pushed_by_id: int | None
    comparison: VersionComparison
    before: DiffVersion | None


class DiffNotesOutdated(Event, frozen=True):
    """A push has changed the lines of these notes."""

    merge_request_id: int
    pushed_by_id: int | None
    note_ids: tuple[int, ...]
