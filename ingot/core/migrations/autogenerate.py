"""``make migration M="what changes"``: generates the script from the last revision to the declared tables."""

import sys
import tempfile
from pathlib import Path

from alembic import command
from sqlalchemy import create_engine

from ingot.core.db.schema import all_tables, metadata
from ingot.core.migrations.run import SCRIPTS, migrate
from ingot.core.migrations.upgrade import alembic_config
from ingot.core.settings import Settings


def main() -> None:
    """Compare a freshly migrated database with the declared tables, and write the difference as a script."""
    for index in (index for table in all_tables() for index in table.indexes):
        if (condition := index.dialect_kwargs.get("sqlite_where")) is not None:
            index.dialect_kwargs["postgresql_where"] = condition
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder))
        numbers = [int(path.stem.split("_")[0]) for path in SCRIPTS.glob("[0-9]*.py")]
        if numbers:
            migrate(settings)
        config = alembic_config(SCRIPTS)
        config.set_main_option("file_template", "%%(rev)s_%%(slug)s")
        with create_engine(settings.database).connect() as connection:
            config.attributes.update(connection=connection, metadata=metadata)
            revision = f"{max(numbers, default=0) + 1:04d}"
            command.revision(config, message=sys.argv[1] or "Change", autogenerate=True, rev_id=revision)


if __name__ == "__main__":
    main()
