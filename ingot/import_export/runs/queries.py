"""Queries of imports."""

from collections.abc import Iterable

from sqlalchemy import ColumnElement, Text, and_, bindparam, cast, exists, func, literal, or_, select

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.core.jobs.tables import jobs
from ingot.import_export.tables import (
    ImportedSource,
    ImportEntity,
    ImportProblem,
    ImportRun,
    import_entities,
    import_failures,
    import_links,
    import_runs,
    imported_sources,
)
from ingot.projects.namespaces.tables import namespaces

JOB_KEY = "import run "
_runs, _entities = import_runs, import_entities
_OPEN = ("created", "started")
_RUN = select(_runs).where(_runs.c.id == bindparam("run"))
_ENTITY = select(_entities).where(_entities.c.id == bindparam("entity"))
_ENTITIES_OF_RUN = select(_entities).where(_entities.c.run_id == bindparam("run")).order_by(_entities.c.id)
_LATEST_OF_PROJECT = (
    select(_entities).where(_entities.c.project_id == bindparam("project")).order_by(_entities.c.id.desc()).limit(1)
)
_FAILURES = (
    select(import_failures).where(in_list(import_failures.c.entity_id, "entities")).order_by(import_failures.c.id)
)
_RUNS = select(_runs).where(in_list(_runs.c.id, "runs"))
_FAILED_RUNS = (
    select(_entities.c.run_id)
    .distinct()
    .where(
        in_list(_entities.c.run_id, "runs"),
        or_(_entities.c.error.is_not(None), exists().where(import_failures.c.entity_id == _entities.c.id)),
    )
)
_SOURCE = select(imported_sources).where(imported_sources.c.id == bindparam("import"))
_SOURCE_OF_PROJECT = select(imported_sources).where(imported_sources.c.project_id == bindparam("project"))
_SOURCE_OF_GROUP = select(imported_sources).where(imported_sources.c.group_id == bindparam("group"))
_LINK_COUNTS = (
    select(import_links.c.kind, func.count())
    .where(import_links.c.import_id == bindparam("import"))
    .group_by(import_links.c.kind)
    .order_by(import_links.c.kind)
)
_ROOT = select(namespaces.c.id).where(namespaces.c.full_path_key == bindparam("path"), namespaces.c.parent_id.is_(None))
_OPEN_RUNS = (
    select(_runs)
    .where(_runs.c.user_id == bindparam("user"), one_of(_runs.c.status, *_OPEN))
    .order_by(_runs.c.id.desc())
    .limit(100)
)
_LOST = select(_runs).where(
    one_of(_runs.c.status, *_OPEN),
    ~exists().where(
        jobs.c.unique_key == literal(JOB_KEY) + cast(_runs.c.id, Text), one_of(jobs.c.state, "waiting", "running")
    ),
)
_OWN_RUN = _entities.c.run_id.in_(select(_runs.c.id).where(_runs.c.user_id == bindparam("user")))


def _run_lists() -> dict[tuple[bool, bool], ListQuery]:
    mine = _runs.c.user_id == bindparam("user")
    return {
        (by_status, descending): list_query(
            select(_runs).where(and_(mine, _runs.c.status == bindparam("status")) if by_status else mine),
            _runs.c.id,
            _runs.c.id.desc() if descending else _runs.c.id,
        )
        for by_status in (False, True)
        for descending in (False, True)
    }


def _entity_lists() -> dict[tuple[bool, bool, bool], ListQuery]:
    queries = {}
    for of_run in (False, True):
        for by_status in (False, True):
            conditions: list[ColumnElement[bool]] = [
                _entities.c.run_id == bindparam("run") if of_run else _OWN_RUN,
                *([_entities.c.status == bindparam("status")] if by_status else []),
            ]
            for descending in (False, True):
                order = _entities.c.id.desc() if descending else _entities.c.id
                queries[of_run, by_status, descending] = list_query(
                    select(_entities).where(*conditions), _entities.c.id, order
                )
    return queries


_RUN_LISTS = _run_lists()
_ENTITY_LISTS = _entity_lists()


def find_run(db: Connection, actor: Actor, run_id: int) -> ImportRun:
    """Return a run of the caller; raise NotFound for others."""
    run = db.first(ImportRun, _RUN, run=run_id)
    if run is None or run.user_id != actor.user_id:
        raise NotFound("Import")
    return run


def run_or_none(db: Connection, run_id: int) -> ImportRun | None:
    """Return a run, or None if it was deleted with its user."""
    return db.first(ImportRun, _RUN, run=run_id)


def runs_by_ids(db: Connection, run_ids: Iterable[int]) -> dict[int, ImportRun]:
    """Return runs by their ids."""
    return {run.id: run for run in db.all(ImportRun, _RUNS, runs=list(run_ids))}


def failed_run_ids(db: Connection, run_ids: Iterable[int]) -> set[int]:
    """Return those of the runs in which something was not imported."""
    return {run_id for (run_id,) in db.rows(_FAILED_RUNS, runs=list(run_ids))}


def open_runs(db: Connection, actor: Actor) -> list[ImportRun]:
    """Return the newest runs of the caller that have not ended."""
    return db.all(ImportRun, _OPEN_RUNS, user=actor.user_id)


def lost_runs(db: Connection) -> list[ImportRun]:
    """Return the runs that have not ended and that no job continues."""
    return db.all(ImportRun, _LOST)


def list_runs(db: Connection, actor: Actor, page: Page, status: str | None, *, descending: bool) -> Listing[ImportRun]:
    """List the runs of the caller."""
    query = _RUN_LISTS[status is not None, descending]
    return fetch_page(db, ImportRun, query, page, user=actor.user_id, **({"status": status} if status else {}))


def list_entities(
    db: Connection, actor: Actor, run: ImportRun | None, page: Page, status: str | None, *, descending: bool
) -> Listing[ImportEntity]:
    """List the entities of a run, or of all runs of the caller."""
    query = _ENTITY_LISTS[run is not None, status is not None, descending]
    values = {"user": actor.user_id} if run is None else {"run": run.id}
    return fetch_page(db, ImportEntity, query, page, **values, **({"status": status} if status else {}))


def entities_of(db: Connection, run_id: int) -> list[ImportEntity]:
    """Return all entities of a run, in the order of their creation."""
    return db.all(ImportEntity, _ENTITIES_OF_RUN, run=run_id)


def find_entity(db: Connection, run: ImportRun, entity_id: int) -> ImportEntity:
    """Return an entity of a run; raise NotFound for those of other runs."""
    entity = entity_or_none(db, entity_id)
    if entity is None or entity.run_id != run.id:
        raise NotFound("Entity")
    return entity


def entity_or_none(db: Connection, entity_id: int) -> ImportEntity | None:
    """Return an entity, or None if it was deleted."""
    return db.first(ImportEntity, _ENTITY, entity=entity_id)


def latest_entity_or_none(db: Connection, project_id: int) -> ImportEntity | None:
    """Return the entity of the latest import into a project."""
    return db.first(ImportEntity, _LATEST_OF_PROJECT, project=project_id)


def problems_of(db: Connection, entity_ids: list[int]) -> dict[int, list[ImportProblem]]:
    """Return the objects that were not imported, by entity."""
    problems: dict[int, list[ImportProblem]] = {number: [] for number in entity_ids}
    for problem in db.all(ImportProblem, _FAILURES, entities=entity_ids):
        problems[problem.entity_id].append(problem)
    return problems


def imported_source(db: Connection, import_id: int) -> ImportedSource:
    """Return an imported source; raise NotFound if its project was deleted."""
    source = db.first(ImportedSource, _SOURCE, **{"import": import_id})
    if source is None:
        raise NotFound("Import")
    return source


def source_of_project_or_none(db: Connection, project_id: int) -> ImportedSource | None:
    """Return the source from which a project was imported."""
    return db.first(ImportedSource, _SOURCE_OF_PROJECT, project=project_id)


def source_of_group_or_none(db: Connection, group_id: int) -> ImportedSource | None:
    """Return the source from which a group was imported."""
    return db.first(ImportedSource, _SOURCE_OF_GROUP, group=group_id)


def link_counts(db: Connection, import_id: int) -> dict[str, int]:
    """Return the numbers of imported objects of each kind."""
    return dict(db.rows(_LINK_COUNTS, **{"import": import_id}))


def root_namespace_id(db: Connection, full_path: str) -> int:
    """Return the id of the top-level namespace of a path."""
    root: int | None = db.value(_ROOT, path=full_path.lower().partition("/")[0])
    if root is None:
        raise NotFound("Namespace")
    return root
