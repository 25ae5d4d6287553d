"""Result type of the checks."""

from collections.abc import Callable
from typing import NamedTuple


class DoctorFinding(NamedTuple):
    """A problem in one line, with a repair if that is safe."""

    text: str
    repair: Callable[[], object] | None = None
    blocks_other_checks: bool = False
    """Whether the database cannot be checked further."""
