"""Request parameters of custom attributes."""

from ingot.core.api.params import Params


class SetAttribute(Params):
    """Value of an attribute."""

    value: str
