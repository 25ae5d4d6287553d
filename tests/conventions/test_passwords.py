"""What a password's hash costs, which most tests do without."""

import runpy
from pathlib import Path

from ingot.core.access import passwords


def test_a_hash_costs_what_is_recommended() -> None:
    """The module as it is written, whatever tests have made of the one that is loaded."""
    hashed = runpy.run_path(str(Path(passwords.__file__)))["hash_password"]("a password")
    assert hashed.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
