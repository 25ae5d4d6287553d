"""What callers send about award emoji."""

from ingot.api.params import Params


class Give(Params):
    """An emoji by its name, without colons."""

    name: str
