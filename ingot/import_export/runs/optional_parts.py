"""Parts of an import without which the rest is still of use: a failure is reported, and the import goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from ingot.core.db.database import Database
from ingot.core.disk_errors import is_storage_full
from ingot.core.errors import Conflict, Denied, Invalid, NotFound, Unavailable
from ingot.core.jobs.handlers import RetryLater
from ingot.core.log import log_failure
from ingot.import_export.runs.documents import progress_of
from ingot.import_export.runs.queries import entity_or_none
from ingot.import_export.runs.service import RunSuperseded, add_problems
from ingot.import_export.source import OptionalParts, SourceError
from ingot.import_export.tables import ImportEntity

INTERNAL_ERROR = "An internal error occurred; administrators find it in the log"
MAX_WAITS = 3
"""Number of times that the source is waited for before a part that fails temporarily is left out."""


class RepositoryBusy(SourceError):
    """Another process writes to the repository of the import; it is waited for without a limit."""


@contextmanager
def optional_part(database: Database, entity: ImportEntity, source: OptionalParts, relation: str) -> Iterator[None]:
    """Report a failure of the block in the result of the import instead of raising it.

    A temporary failure of the source is raised, so that the job waits, until it has waited often enough and the rest of
    the source responds.
    """
    reason: str | None = None
    try:
        yield
    except (RunSuperseded, RetryLater, Unavailable, RepositoryBusy):
        raise
    except SourceError as error:
        if error.retry_after is not None and not skips_temporary_failures(database, entity, source):
            raise
        reason = error.reason
    except (Invalid, Denied, NotFound, Conflict) as error:
        reason = sentence_of(error)
    except Exception as error:
        if is_storage_full(error):
            raise
        log_failure("part of an import failed", error, run_id=entity.run_id, entity_id=entity.id, relation=relation)
        reason = INTERNAL_ERROR
    problems = source.take_problems()
    if reason is not None:
        problems.append(f"Not imported: {reason.rstrip('.')}.")
    if problems:
        database.write(partial(add_problems, entity_id=entity.id, relation=relation, reasons=problems))


def skips_temporary_failures(database: Database, entity: ImportEntity, source: OptionalParts) -> bool:
    """Tell the source to leave out what still fails after several waits; return whether it does."""
    current = database.read(partial(entity_or_none, entity_id=entity.id))
    if current is None or progress_of(current).waits < MAX_WAITS:
        return False
    try:
        source.skip_failures()
    except SourceError:  # The whole source is down, which the caller waits for.
        return False
    return True


def sentence_of(error: Invalid | Denied | NotFound | Conflict) -> str:
    """Return the reason of a refusal in words."""
    errors = getattr(error, "errors", {})
    named = "; ".join(f"{name} {reason}" for name, reasons in errors.items() for reason in reasons)
    return named or str(error) or type(error).__name__
