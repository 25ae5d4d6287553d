"""What is announced of versions."""

from ingot.events.bus import Event
from ingot.merge_requests.tables import Version
from ingot.merge_requests.versions.looking import Looked


class VersionCollected(Event, frozen=True):
    """All is known of what a push brought, and the target has it; ``before`` is the version that it follows."""

    merge_request_id: int
    pushed_by_id: int | None
    looked: Looked
    before: Version | None
