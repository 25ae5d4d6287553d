"""Events of award emoji."""

from ingot.core.events.bus import Event


class AwardGiven(Event, frozen=True):
    """A user added an award emoji to a subject."""

    subject_kind: str
    subject_id: int
    giver_id: int


class AwardRemoved(Event, frozen=True):
    """A user removed an award emoji from a subject."""

    subject_kind: str
    subject_id: int


class VotesChanged(Event, frozen=True):
    """The number of upvotes or downvotes of a subject changed."""

    subject_kind: str
    subject_id: int
    upvotes: int = 0
    """The difference; negative when votes were removed."""
    downvotes: int = 0
