"""What callers may send about custom attributes."""

from ingot.core.api.params import Params


class SetAttribute(Params):
    """What to note."""

    value: str
