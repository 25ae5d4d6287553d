"""Checks of the standbys that serve reads."""

from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

from ingot.core.db.database import Database
from ingot.core.db.replicas import ReadReplicas, replica_problem
from ingot.operations.doctor.findings import DoctorFinding
from ingot.settings import Settings


def check_replicas(settings: Settings, database: Database) -> Iterator[DoctorFinding]:
    """Check that each standby answers and follows the database."""
    if not settings.database_replicas:
        return
    with closing(database.engine.connect(read_only=True)) as raw:
        position = ReadReplicas([]).position(raw)
    for url in settings.database_replicas:
        problem = replica_problem(url, position)
        if problem:
            address = urlsplit(url)._replace(query="").geturl().rpartition("@")[2]  # Without the password.
            yield DoctorFinding(f"The replica {address} {problem}, so the primary serves its reads")
