"""Server that continues to serve for another time after SIGTERM than usual, by default for a few seconds.

A test on a busy machine can call it then.
"""

import os

from ingot.cli import main as cli
from ingot.core.http import server
from ingot.transport import git_http

LINGER_SECONDS = float(os.environ.get("LINGER_SECONDS", "6"))
EXPECTED_SECONDS = 9.0
"""Less than the time after which the supervisor kills its processes."""


def main() -> None:
    """Run the command of this process."""
    server.LINGER_SECONDS = LINGER_SECONDS
    server.MAX_LINGER_SECONDS = git_http.EXPECTED_SECONDS = EXPECTED_SECONDS
    cli.main()
