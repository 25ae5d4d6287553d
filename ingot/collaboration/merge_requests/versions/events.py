"""What is announced of versions."""

from ingot.collaboration.merge_requests.tables import DiffVersion
from ingot.collaboration.merge_requests.versions.inspection import VersionComparison
from ingot.core.events.bus import Event


class VersionCollected(Event, frozen=True):
    """All is known of what a push brought, and the target has it; ``before`` is the version that it follows."""

    merge_request_id: int
    pushed_by_id: int | None
    looked: VersionComparison
    before: DiffVersion | None
