"""Cost of password hashing, which most tests reduce."""

import runpy
from pathlib import Path

from ingot.core.access import passwords


def test_password_hashes_have_the_recommended_cost() -> None:
    """Load the module again, because tests replace parts of the imported one."""
    hashed = runpy.run_path(str(Path(passwords.__file__)))["hash_password"]("a password")
    assert hashed.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
