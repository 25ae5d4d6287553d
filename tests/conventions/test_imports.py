"""Modules that a server must not import at startup, because each costs time and memory."""

import subprocess
import sys

EXCLUDED = [
    "alembic",  # Upgrades.
    "psycopg",  # The other engine.
    "sqlalchemy.dialects.postgresql",
    "asyncssh",  # The process that serves SSH.
    "markdown_it",  # The first text that is rendered.
    "nh3",
    "pygments",
    "yaml",  # The first configuration of a pipeline.
    "httpcore",  # The first webhook.
    "jinja2",  # The first page.
    "ingot.web",
    "ingot.ci",  # The first request of their paths, event or job.
    "ingot.collaboration",
    "ingot.integrations.services",
    "ingot.integrations.transfers",
    "ingot.integrations.webhooks.tables",
    "ingot.repositories",
    "ingot.projects.projects",
    "ingot.operations.backups",  # Another command.
]
LOADED = """
import ingot.cli.jobs, ingot.cli.web, ingot.operations.single_process, ingot.operations.startup
import sys
print([name for name in sys.argv[1:] if name in sys.modules])
"""


def test_a_server_with_sqlite_loads_only_required_modules() -> None:
    run = subprocess.run([sys.executable, "-c", LOADED, *EXCLUDED], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
