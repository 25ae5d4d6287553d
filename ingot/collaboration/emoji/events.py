"""What is announced of award emoji."""

from ingot.core.events.bus import Event


class AwardGiven(Event, frozen=True):
    """Somebody gave an emoji to something."""

    subject_kind: str
    subject_id: int
    giver_id: int


class VotesChanged(Event, frozen=True):
    """Something is liked, or disliked, by more people or by fewer."""

    subject_kind: str
    subject_id: int
    upvotes: int = 0
    """How many more; fewer where it is negative."""
    downvotes: int = 0
