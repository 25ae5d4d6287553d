"""Response structs of imports."""

from collections.abc import Sequence

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.import_export.runs.documents import options_of, progress_of
from ingot.import_export.runs.queries import failed_run_ids, problems_of, runs_by_ids
from ingot.import_export.source import Inventory
from ingot.import_export.tables import ImportEntity, ImportProblem, ImportRun
from ingot.projects.projects.tables import Project

SECONDS_PER_REQUEST = 0.05
SECONDS_PER_RECORD = 0.01
"""Rough figures for another server in the same network; distant servers take longer for each request."""
_ENTITY_TYPES = {"group_entity": "group", "project_entity": "project"}


class RunView(View):
    """Import of one or several projects and groups."""

    id: int
    status: str
    source_type: str
    source_url: str
    created_at: Timestamp
    updated_at: Timestamp
    has_failures: bool


class FailureView(View):
    """Object that was not imported, or not completely."""

    relation: str
    exception_message: str
    exception_class: str
    correlation_id_value: str | None
    source_url: str | None
    source_title: str | None
    created_at: Timestamp


class RelationStats(View):
    """Numbers of records of a kind."""

    source: int
    fetched: int
    imported: int


class GroupImportView(View):
    """Confirmation that an archive will be imported, and the import with its progress."""

    import_id: int
    message: str = "202 Accepted"


class EntityView(View):
    """Project or group of an import."""

    id: int
    bulk_import_id: int
    status: str
    entity_type: str
    source_full_path: str
    destination_full_path: str
    destination_name: str
    destination_slug: str
    destination_namespace: str
    parent_id: int | None
    namespace_id: int | None
    project_id: int | None
    created_at: Timestamp
    updated_at: Timestamp
    failures: list[FailureView]
    migrate_projects: bool
    migrate_memberships: bool
    has_failures: bool
    stats: dict[str, RelationStats]
    step: str | None
    """Kind of records that is being imported."""
    message: str | None
    """Progress line of git, or the reason of a pause."""


class ImportedProjectView(View):
    """Project whose import has been started or canceled."""

    id: int
    name: str
    full_path: str
    full_name: str
    refs_url: str
    import_source: str
    import_status: str
    human_import_status_name: str
    provider_link: str
    relation_type: str | None
    import_warning: str | None


class PlannedProjectView(View):
    """Data of a project of the source, and what cannot be imported."""

    source_full_path: str
    name: str
    path: str
    counts: dict[str, int]
    estimated: list[str]
    """Kinds whose number is an estimate."""
    omitted: list[str]
    requests: int
    estimated_seconds: int


class PlanView(View):
    """Plan of an import."""

    source_type: str
    source_url: str
    groups: list[str]
    projects: list[PlannedProjectView]


def run_views(db: Connection, runs: Sequence[ImportRun]) -> list[RunView]:
    """Return a page of runs."""
    failed = failed_run_ids(db, [run.id for run in runs])
    return [
        RunView(run.id, run.status, run.source_type, run.source_url, run.created_at, run.updated_at, run.id in failed)
        for run in runs
    ]


def entity_views(db: Connection, entities: Sequence[ImportEntity]) -> list[EntityView]:
    """Return a page of entities."""
    runs = runs_by_ids(db, {entity.run_id for entity in entities})
    problems = problems_of(db, [entity.id for entity in entities])
    return [_entity_view(runs[entity.run_id], entity, problems[entity.id]) for entity in entities]


def _entity_view(run: ImportRun, entity: ImportEntity, problems: Sequence[ImportProblem]) -> EntityView:
    options, progress = options_of(run), progress_of(entity)
    failures = failure_views(entity, problems)
    return EntityView(
        entity.id,
        entity.run_id,
        entity.status,
        _ENTITY_TYPES[entity.entity_type],
        entity.source_full_path,
        f"{entity.destination_namespace}/{entity.destination_slug}".strip("/"),
        entity.destination_name,
        entity.destination_slug,
        entity.destination_namespace,
        entity.parent_id,
        entity.namespace_id,
        entity.project_id,
        entity.created_at,
        entity.updated_at,
        failures,
        entity.source_key not in options.without_projects,
        entity.source_key not in options.without_members,
        bool(failures),
        {kind: RelationStats(each.source, each.fetched, each.imported) for kind, each in progress.kinds.items()},
        entity.step,
        progress.message,
    )


def failure_views(entity: ImportEntity, problems: Sequence[ImportProblem]) -> list[FailureView]:
    """Return the error of an entity and the objects that were not imported."""
    kind = _ENTITY_TYPES[entity.entity_type]
    failed = [] if entity.error is None else [_failure(kind, entity.error, entity.updated_at)]
    return [*failed, *(_failure(problem.relation, problem.reason, problem.created_at) for problem in problems)]


def _failure(relation: str, reason: str, created_at: Timestamp) -> FailureView:
    return FailureView(relation, reason, "ImportError", None, None, None, created_at)


def imported_project_view(project: Project, source_path: str) -> ImportedProjectView:
    """Return a project whose import has been started or canceled."""
    return ImportedProjectView(
        project.id,
        project.name,
        f"/{project.full_path}",
        project.full_name,
        f"/{project.full_path}/refs",
        source_path,
        project.import_status,
        project.import_status,
        f"/{source_path}",
        None,
        None,
    )


def planned_project_view(inventory: Inventory) -> PlannedProjectView:
    """Return the plan of a project."""
    records = sum(each.count for each in inventory.counts)
    seconds = inventory.requests * SECONDS_PER_REQUEST + records * SECONDS_PER_RECORD
    return PlannedProjectView(
        inventory.full_path,
        inventory.name,
        inventory.path,
        {each.kind: each.count for each in inventory.counts},
        [each.kind for each in inventory.counts if not each.exact],
        list(inventory.omitted),
        inventory.requests,
        max(1, round(seconds)),
    )
