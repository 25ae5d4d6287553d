"""Base of what comes out."""

import msgspec


class View(msgspec.Struct):
    """A struct with the contract's field names; a field that is ``UNSET`` is left out."""
