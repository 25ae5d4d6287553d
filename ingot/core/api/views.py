"""Base class of response structs."""

import msgspec


class View(msgspec.Struct, gc=False):
    """A struct with the specification's field names; a field that is ``UNSET`` is left out.

    Views contain no reference cycles, so the garbage collector need not track them.
    """
