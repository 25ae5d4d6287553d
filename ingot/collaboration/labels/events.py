"""Events of labels."""

from ingot.core.events.bus import Event


class LabelsMerging(Event, frozen=True):
    """Labels are about to be deleted and replaced by another label."""

    label_ids: list[int]
    into_id: int
