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
    "ingot.integrations",
    "ingot.import_export",
    "ingot.webhooks.tables",
    "ingot.repositories",
    "ingot.projects.projects",
    "ingot.maintenance.backups",  # Another command.
]
LOADED = """
import ingot.cli.jobs, ingot.cli.web, ingot.server.single_process, ingot.server.startup
import sys
print([name for name in sys.argv[1:] if name in sys.modules])
"""
SUBSCRIBED = """
import sys
from ingot.core.settings import Settings
from ingot.server.composition import list_subscriptions
for subscriptions in list_subscriptions(Settings()):
    subscriptions.value
print([name for name in sys.argv[1:] if name in sys.modules])
"""


def test_a_server_with_sqlite_loads_only_required_modules() -> None:
    run = subprocess.run([sys.executable, "-c", LOADED, *EXCLUDED], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_web_worker_loads_no_http_client_for_its_events() -> None:
    """Every worker imports the subscribers with the first issue; only jobs send requests."""
    run = subprocess.run([sys.executable, "-c", SUBSCRIBED, "httpcore"], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
