"""Upgrade by Alembic, which only this module loads."""

from functools import partial
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.exc import OperationalError

from ingot.core.migrations.errors import SchemaError
from ingot.core.settings import Settings


def alembic_config(scripts: Path) -> Config:
    """Return the Alembic configuration for a folder of scripts."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("version_locations", str(scripts))
    config.set_main_option("path_separator", "os")
    return config


def upgrade(settings: Settings, scripts: Path, revision: str) -> None:
    """Run the missing scripts of a folder up to ``revision``; the caller holds the lock."""
    engine = _engine(settings)
    if settings.embedded:
        # The driver would commit each statement by itself; a script must run completely or not at all.
        event.listen(engine, "connect", _no_automatic_transactions)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    config = alembic_config(scripts)
    try:
        with engine.connect() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
    except OperationalError as error:
        raise SchemaError(f"The database does not answer: {str(error.orig).splitlines()[0]}") from error
    finally:
        engine.dispose()


def _engine(settings: Settings) -> Engine:
    if settings.embedded:
        return create_engine(settings.database)
    import psycopg

    # SQLAlchemy cannot parse the URL of several hosts. A pooler in transaction mode knows no prepared statements.
    connect = partial(psycopg.connect, settings.direct_database, prepare_threshold=None)
    return create_engine("postgresql+psycopg://", creator=connect)


def _no_automatic_transactions(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
