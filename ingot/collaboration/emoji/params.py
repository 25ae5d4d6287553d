"""What callers send about award emoji."""

from ingot.core.api.params import Params


class GiveAward(Params):
    """An emoji by its name, without colons."""

    name: str
