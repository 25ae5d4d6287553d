"""Making forks, and saying what is one."""

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.errors import Conflict, Invalid
from ingot.groups.namespaces.tables import Namespace
from ingot.groups.service import OPENNESS
from ingot.instance.settings import current_settings
from ingot.projects.params import CreateProject, ForkProject
from ingot.projects.queries import fork_line, project_by_id
from ingot.projects.service import count_forks, create_project
from ingot.projects.tables import Project, projects

_SAME = (
    "description",
    "issues_enabled",
    "merge_requests_enabled",
    "repository_access_level",
    "jobs_enabled",
    "wiki_enabled",
    "snippets_enabled",
    "lfs_enabled",
    "public_jobs",
)


def fork_project(
    db: Connection,
    actor: Actor,
    source: Project,
    wanted: ForkProject,
    namespace: Namespace,
    repository: tuple[str, str],
) -> Project:
    """Add a fork whose repository exists already; it is never more visible than its source."""
    visibility = _most_visible(db, actor, source, namespace)
    attributes = {name: getattr(source, name) for name in _SAME}
    attributes |= {"visibility": visibility, "name": source.name, "path": source.path}
    if wanted.visibility and OPENNESS[str(wanted.visibility)] <= OPENNESS[visibility]:
        attributes["visibility"] = wanted.visibility
    if wanted.name:
        attributes["name"] = wanted.name
    if wanted.path:
        attributes["path"] = wanted.path
    if wanted.description:
        attributes["description"] = wanted.description
    try:
        fork = create_project(
            db,
            actor,
            CreateProject(**attributes),
            namespace,
            *repository,
            forked_from_id=source.id,
            import_status="finished",
            empty=source.empty,
            commit_count=source.commit_count,
            repository_size=source.repository_size,
        )
    except Invalid as error:
        if any("has already been taken" in reasons for reasons in error.errors.values()):
            raise Conflict(**error.errors) from error
        raise
    count_forks(db, source.id, 1)
    return fork


def _most_visible(db: Connection, actor: Actor, source: Project, namespace: Namespace) -> str:
    """As visible as its source, but for what the group around it and the administrators allow."""
    most = OPENNESS[source.visibility]
    if namespace.kind == "group":
        most = min(most, OPENNESS[namespace.visibility])
    restricted = () if actor.admin else current_settings(db).restricted_visibility_levels
    allowed = [word for word, openness in OPENNESS.items() if openness <= most and word not in restricted]
    return max(allowed, key=OPENNESS.__getitem__, default="private")


def set_fork_relation(db: Connection, project: Project, source: Project) -> Project:
    """Say what a project was forked from."""
    if project.id in fork_line(db, source.id):
        raise Invalid("A project cannot be a fork of itself or of one of its forks")
    db.update(projects, project.id, forked_from_id=source.id)
    count_forks(db, source.id, 1)
    return project_by_id(db, project.id)


def drop_fork_relation(db: Connection, project: Project) -> None:
    """Forget what a project was forked from."""
    if project.forked_from_id is not None:
        count_forks(db, project.forked_from_id, -1)
        db.update(projects, project.id, forked_from_id=None)
