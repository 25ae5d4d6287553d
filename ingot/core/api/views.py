"""Base of what comes out."""

import msgspec


class View(msgspec.Struct, gc=False):
    """A struct with the contract's field names; a field that is ``UNSET`` is left out.

    None ever leads back to itself, so the collector of such circles need not look at them.
    """
