"""Server that continues to serve for a few seconds after SIGTERM, so that a test on a busy machine can call it."""

from ingot.cli import main as cli
from ingot.core.http import server

LINGER_SECONDS = 6.0


def main() -> None:
    """Run the command of this process."""
    server.LINGER_SECONDS = LINGER_SECONDS
    cli.main()
