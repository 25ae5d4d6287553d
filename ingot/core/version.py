"""Version of the installed product; in a checkout of a development version, with the commit."""

import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

DISTRIBUTION = "ingot-forge"
_CHECKOUT = Path(__file__).parents[2]


@cache
def product_version() -> str:
    """Return the version, such as ``0.2.0`` or ``0.2.0.dev0+g1a2b3c4d``."""
    installed = version(DISTRIBUTION)
    if ".dev" not in installed or not (_CHECKOUT / ".git").exists():
        return installed
    command = ["git", "-C", str(_CHECKOUT), "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    return f"{installed}+g{commit}" if commit else installed
