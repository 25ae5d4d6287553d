"""What is announced of labels."""

from ingot.core.events.bus import Event


class LabelsMerging(Event, frozen=True):
    """Labels are about to go, because another one stands for them from now on."""

    label_ids: list[int]
    into_id: int
