"""What a check gives back."""

from collections.abc import Callable
from typing import NamedTuple


class DoctorFinding(NamedTuple):
    """One thing that is wrong, in one line, and what mends it, where that is safe."""

    text: str
    mend: Callable[[], object] | None = None
    blocks_other_checks: bool = False
    """Nothing more can be learnt from the database."""
