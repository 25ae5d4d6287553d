"""Request parameters of award emoji."""

from ingot.core.api.params import Params


class GiveAward(Params):
    """The name of an emoji, without colons."""

    name: str
