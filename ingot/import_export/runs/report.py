"""Report of an import: the numbers of every kind on both sides, and each difference."""

from collections.abc import Sequence

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.import_export.runs.documents import NOTE_KINDS, KindProgress, inventory_of, options_of, progress_of
from ingot.import_export.runs.queries import entities_of, problems_of
from ingot.import_export.tables import ImportEntity, ImportProblem, ImportRun

_INTERNAL_KINDS = frozenset({"refs", "wiki_refs", "uploads"})
_HEADINGS = ("Kind", "Source", "Received", "New", "Changed", "Here")


class KindReport(msgspec.Struct, frozen=True):
    """Numbers of one kind; None where a side does not count it."""

    kind: str
    source: int | None
    received: int | None
    created: int | None
    updated: int | None
    stored: int | None


class EntityReport(msgspec.Struct, frozen=True):
    """Report of one project or group."""

    entity_type: str
    source_full_path: str
    destination: str
    status: str
    error: str | None
    started_at: str | None
    finished_at: str | None
    seconds: float
    requests: int
    kinds: list[KindReport]
    omitted: list[str]
    differences: list[str]


class RunReport(msgspec.Struct, frozen=True):
    """Report of an import."""

    id: int
    status: str
    source_type: str
    source_url: str
    file_name: str | None
    """Archive that is imported."""
    created_at: Timestamp
    finished_at: Timestamp | None
    entities: list[EntityReport]


def report_of(db: Connection, run: ImportRun) -> RunReport:
    """Return the report of a run; before its end, the numbers so far."""
    entities = entities_of(db, run.id)
    problems = problems_of(db, [entity.id for entity in entities])
    reports = [_entity_report(entity, problems[entity.id]) for entity in entities]
    return RunReport(
        run.id,
        run.status,
        run.source_type,
        run.source_url,
        options_of(run).file_name,
        run.created_at,
        run.finished_at,
        reports,
    )


def _entity_report(entity: ImportEntity, problems: Sequence[ImportProblem]) -> EntityReport:
    progress, inventory = progress_of(entity), inventory_of(entity)
    kinds = [_kind_report(kind, numbers, progress.stored) for kind, numbers in progress.kinds.items()]
    nested = progress.stored.keys() - progress.kinds.keys() - _INTERNAL_KINDS
    kinds += [KindReport(kind, None, None, None, None, progress.stored[kind]) for kind in sorted(nested)]
    counted = _count_differences(progress.kinds, progress.stored) if entity.status == "finished" else []
    return EntityReport(
        entity.entity_type.removesuffix("_entity"),
        entity.source_full_path,
        f"{entity.destination_namespace}/{entity.destination_slug}".strip("/"),
        entity.status,
        entity.error,
        progress.started_at,
        entity.finished_at,
        progress.seconds,
        progress.requests,
        kinds,
        list(inventory.omitted) if inventory is not None else [],
        [*counted, *(f"{problem.relation}: {problem.reason}" for problem in problems)],
    )


def _kind_report(kind: str, numbers: KindProgress, stored: dict[str, int]) -> KindReport:
    here = stored.get(kind, numbers.imported if stored else None)
    # Some sources cannot count a kind; notes are stored with their items, and only those count as new or changed.
    at_source = numbers.source if numbers.exact or numbers.source else None
    if kind in NOTE_KINDS.values():
        return KindReport(kind, at_source, numbers.fetched, None, None, here)
    return KindReport(kind, at_source, numbers.fetched, numbers.created, numbers.updated, here)


def _count_differences(kinds: dict[str, KindProgress], stored: dict[str, int]) -> list[str]:
    sentences = {}
    for kind, numbers in kinds.items():
        here = stored.get(kind, numbers.imported)
        if numbers.exact and here < numbers.source:
            sentences[kind] = f"{numbers.source - here} of {numbers.source} are missing here."
        elif numbers.exact and here > numbers.source:
            sentences[kind] = f"{here - numbers.source} exist here but no longer at the source."
    return [f"{kind}: {sentence}" for kind, sentence in sentences.items()]


def report_text(report: RunReport) -> str:
    """Return a report as plain text."""
    lines = [
        f"Import {report.id} from {report.file_name or report.source_url} ({report.source_type}): {report.status}",
        f"Started {report.created_at}, ended {report.finished_at or '-'}",
    ]
    for entity in report.entities:
        lines += ["", f"{entity.source_full_path} -> {entity.destination} ({entity.entity_type}): {entity.status}"]
        if entity.error is not None:
            lines.append(f"  Error: {entity.error}")
        lines.append(f"  {entity.requests} requests, {entity.seconds:.0f} seconds")
        rows = [
            (each.kind, each.source, each.received, each.created, each.updated, each.stored) for each in entity.kinds
        ]
        if rows:
            lines.append(_table_row(_HEADINGS))
            lines += [_table_row(tuple("-" if value is None else str(value) for value in row)) for row in rows]
        lines += [f"  Not imported: {reason}" for reason in entity.omitted]
        lines += [f"  Difference: {difference}" for difference in entity.differences]
        if entity.status == "finished" and not entity.differences:
            lines.append("  No differences.")
    return "\n".join(lines) + "\n"


def _table_row(cells: Sequence[str]) -> str:
    return "  " + cells[0].ljust(24) + "".join(cell.rjust(10) for cell in cells[1:])
