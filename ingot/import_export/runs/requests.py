"""Start of imports: the source is asked first, then the project, the run and its job are created together."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple, cast

from ingot.accounts.instance.all_settings import all_settings
from ingot.accounts.instance.outgoing_rules import instance_guard
from ingot.accounts.instance.settings import Visibility
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.api.params import ParamsReader
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Invalid, NotFound
from ingot.core.names import NAMESPACES
from ingot.core.outgoing.errors import RequestRefused
from ingot.core.settings import Settings
from ingot.git.maintenance.store import RepositoryStore, new_key
from ingot.import_export.runs.destinations import (
    create_imported_project,
    destination_namespace,
    destination_of,
    group_parent,
    is_left_by_failed_import,
)
from ingot.import_export.runs.documents import RunOptions, SourceCredentials
from ingot.import_export.runs.opening import ArchiveFile, SourceOpener, host_of
from ingot.import_export.runs.params import Server, StartImport
from ingot.import_export.runs.service import EntityRequest, link_source, start_run
from ingot.import_export.source import Inventory, SourceError
from ingot.import_export.tables import ImportRun, SourceType
from ingot.import_export.target.groups import allowed_visibility
from ingot.projects.groups.params import CreateGroup
from ingot.projects.groups.service import create_group
from ingot.projects.namespaces.queries import namespace_by_id, namespace_of_user, namespace_or_none
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import may_create_in
from ingot.projects.projects.attributes import path_from_name
from ingot.projects.projects.jobs import delete_unused_repository
from ingot.projects.projects.params import EditProject
from ingot.projects.projects.policy import may_admin_project, may_own_project
from ingot.projects.projects.queries import existing_project, find_project
from ingot.projects.projects.service import delete_project
from ingot.projects.projects.storages import storage_for_new_repository
from ingot.projects.projects.tables import Project

MAX_ENTITIES = 200
_OVERRIDES = ParamsReader(EditProject)
MAX_MAPPED_USERS = 10_000


class ServerProject(NamedTuple):
    """Project of a server, with the token to read it."""

    kind: Server
    url: str
    token: str
    key: str


class ImportRequests:
    """Starts imports for a caller."""

    def __init__(self, database: Database, settings: Settings, actor: Actor, store: RepositoryStore) -> None:
        self._database = database
        self._settings = settings
        self._actor = actor
        self._store = store
        self._guard = instance_guard(settings, database, reads_only=True)
        self._opener = SourceOpener(settings, self._guard, database)

    def check_server(self, url: str) -> None:
        """Raise Invalid for a URL to which no request may be sent."""
        try:
            self._guard.check_url(url)
        except RequestRefused as error:
            raise Invalid(url=[f"is blocked: {error.reason}"]) from error

    def inventory(self, source: ServerProject) -> Inventory:
        """Return the plan of a project; raise Invalid with the reason why the source refuses it."""
        self.check_server(source.url)
        try:
            with closing(self._opener.server_project(*source)) as opened:
                return opened.inventory()
        except SourceError as error:
            raise Invalid(error.reason) from error

    def project_paths(self, source: ServerProject) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the paths of the groups, and keys and paths of the projects, of a group of the source."""
        self.check_server(source.url)
        try:
            with closing(self._opener.group(*source)) as opened:
                return [group.full_path for group in opened.groups()], list(opened.project_keys())
        except SourceError as error:
            raise Invalid(error.reason) from error

    def start(self, params: StartImport, *, by_job: bool = True) -> ImportRun:
        """Start an import of projects and groups, whose destinations are created when it is executed."""
        configuration = params.configuration
        self.check_server(configuration.url)
        if not params.entities or len(params.entities) > MAX_ENTITIES:
            raise Invalid(entities=[f"must be between 1 and {MAX_ENTITIES}"])
        keys = [each.source_full_path.strip("/") for each in params.entities]
        options = RunOptions(
            users=_checked_mapping(params.user_mapping),
            without_projects=[
                key for key, each in zip(keys, params.entities, strict=True) if not each.migrate_projects
            ],
            without_members=[
                key for key, each in zip(keys, params.entities, strict=True) if not each.migrate_memberships
            ],
            visibility=params.visibility,
        )
        requests = [
            EntityRequest(
                each.source_type,
                key,
                each.destination_namespace.strip("/"),
                each.destination_slug or each.destination_name or each.source_full_path.rpartition("/")[2],
            )
            for key, each in zip(keys, params.entities, strict=True)
        ]

        def begin(db: Connection) -> ImportRun:
            for request in requests:
                if request.entity_type == "project_entity":
                    destination_namespace(db, self._actor, request.destination_namespace)
            credentials = SourceCredentials(token=configuration.access_token)
            url = configuration.url.rstrip("/")
            return start_run(
                db,
                self._actor.user_id,
                configuration.source_type,
                url,
                requests,
                options,
                credentials,
                by_job=by_job,
            )

        return self._database.write(begin)

    def start_project(
        self, source: ServerProject, target_namespace: str, new_name: str | None, users: dict[str, str] | None
    ) -> tuple[Project, str]:
        """Start the import of one project of a server; return the new project and the path of the source."""
        self._database.read(lambda db: destination_namespace(db, self._actor, target_namespace))
        inventory = self.inventory(source)
        options = RunOptions(users=_checked_mapping(users))
        path = path_from_name(new_name) if new_name else inventory.path

        def begin(db: Connection, key: str, branch: str) -> tuple[Project, ImportRun]:
            namespace = destination_namespace(db, self._actor, target_namespace)
            host = host_of(source.url)
            project, import_id = self._existing(db, namespace, path, host, inventory.full_path)
            if project is None:
                name = new_name or inventory.name
                project = create_imported_project(db, self._actor, namespace, name, path, key, branch)
                import_id = link_source(db, source.kind, host, inventory.full_path, project_id=project.id)
            request = EntityRequest(
                "project_entity", source.key, namespace.full_path, path, project.name, project, import_id
            )
            credentials = SourceCredentials(token=source.token)
            url = source.url.rstrip("/")
            run = start_run(db, self._actor.user_id, source.kind, url, [request], options, credentials)
            return existing_project(db, project.id), run

        return self._with_repository(begin)[0], inventory.full_path

    def _existing(
        self, db: Connection, namespace: Namespace, path: str, host: str, source_path: str
    ) -> tuple[Project | None, int | None]:
        try:
            access, project = find_project(db, self._actor, f"{namespace.full_path}/{path}")
        except NotFound:
            return None, None
        require(may_admin_project(self._actor, access, project))
        return project, destination_of(db, project, host, source_path).import_id

    def start_archive(
        self,
        archive: ArchiveFile,
        namespace_name: str | None,
        path: str,
        name: str | None,
        overrides: dict[str, str] | None,
        *,
        overwrite: bool = False,
        by_job: bool = True,
    ) -> tuple[Project, ImportRun]:
        """Start the import of an archive, which is deleted if that fails.

        With ``overwrite`` a project with the same path is deleted, if the caller may do so and the archive can be read.
        What a failed import has left is deleted without it.
        """

        def begin(db: Connection, key: str, branch: str) -> tuple[Project, ImportRun]:
            namespace = _named_namespace(db, self._actor, namespace_name)
            self._delete_project(db, f"{namespace.full_path}/{path}", only_remains=not overwrite)
            project = create_imported_project(db, self._actor, namespace, name or path, path, key, branch)
            import_id = link_source(db, "archive", f"archive {project.id}", path, project_id=project.id)
            request = EntityRequest("project_entity", path, namespace.full_path, path, project.name, project, import_id)
            credentials = SourceCredentials(archive_url=archive.url)
            kind: SourceType = "archive"
            run = start_run(db, self._actor.user_id, kind, "", [request], options, credentials, by_job=by_job)
            return existing_project(db, project.id), run

        with self._deleted_on_failure(archive):
            if archive.url is not None:
                self.check_server(archive.url)
            checked = _checked_overrides(overrides)
            options = RunOptions(archive=archive.name, file_name=archive.title, overrides=checked)
            if overwrite:
                self._check_archive(archive)
            return self._with_repository(begin)

    @contextmanager
    def _deleted_on_failure(self, archive: ArchiveFile) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._opener.delete_archive(archive.name)
            raise

    def _check_archive(self, archive: ArchiveFile) -> None:
        try:
            self._opener.project_archive(archive.name).close()
        except SourceError as error:
            raise Invalid(error.reason) from error

    def _delete_project(self, db: Connection, path: str, *, only_remains: bool) -> None:
        try:
            access, project = find_project(db, self._actor, path)
        except NotFound:
            return
        may_delete = may_own_project(self._actor, access, project)
        if only_remains and not (may_delete and is_left_by_failed_import(db, project)):
            return
        require(may_delete)
        delete_project(db, project)

    def start_group_archive(self, archive: ArchiveFile, parent_id: int | None, path: str, name: str) -> ImportRun:
        """Create a group, and start the import of an archive into it, which is deleted if that fails."""
        with self._deleted_on_failure(archive):
            return self._start_group_archive(archive, parent_id, path, name)

    def _start_group_archive(self, archive: ArchiveFile, parent_id: int | None, path: str, name: str) -> ImportRun:
        try:
            with closing(self._opener.group_archive(archive.name)) as source:
                record = next(iter(source.groups()))
        except SourceError as error:
            raise Invalid(error.reason) from error

        def begin(db: Connection) -> ImportRun:
            db.lock(NAMESPACES)
            parent = group_parent(db, self._actor, "" if parent_id is None else str(parent_id))
            chosen = cast("Visibility", allowed_visibility(db, record.visibility, parent))
            group = create_group(db, self._actor, CreateGroup(name=name, path=path, visibility=chosen), parent)
            import_id = link_source(db, "archive", f"archive group {group.id}", record.key, group_id=group.id)
            request = EntityRequest(
                "group_entity",
                record.key,
                parent.full_path if parent else "",
                group.path,
                group.name,
                import_id=import_id,
                group=group,
            )
            options, credentials = RunOptions(archive=archive.name, file_name=archive.title), SourceCredentials()
            return start_run(db, self._actor.user_id, "archive", "", [request], options, credentials)

        return self._database.write(begin)

    def _with_repository(
        self, begin: Callable[[Connection, str, str], tuple[Project, ImportRun]]
    ) -> tuple[Project, ImportRun]:
        """Run a transaction that may use a new repository, which is deleted if it did not."""
        branch = self._database.read(all_settings).default_branch_name or self._settings.default_branch
        key = new_key(storage_for_new_repository(self._database, self._store))
        self._store.create(key, branch)

        def locked(db: Connection) -> tuple[Project, ImportRun]:
            db.lock(NAMESPACES)
            return begin(db, key, branch)

        try:
            project, run = self._database.write(locked)
        except BaseException:
            delete_unused_repository(self._database, self._store, key)
            raise
        if project.repository_key != key:
            delete_unused_repository(self._database, self._store, key)
        return project, run


def _named_namespace(db: Connection, actor: Actor, name: str | None) -> Namespace:
    """Return the namespace with an id or full path, by default the caller's own."""
    if name is None or not name.strip("/"):
        require(not actor.external)
        return namespace_of_user(db, actor.user_id)
    namespace = namespace_or_none(db, name.strip("/"))
    if namespace is None or not may_create_in(db, actor, namespace):
        raise Invalid(namespace=["is not valid"])
    return namespace_by_id(db, namespace.id)


def _checked_overrides(overrides: dict[str, str] | None) -> dict[str, str]:
    """Return attributes of a project that replace those of an archive; raise Invalid for an unknown one."""
    given = overrides or {}
    unknown = sorted(given.keys() - set(EditProject.__struct_fields__))
    if unknown:
        raise Invalid(override_params=[f"has no attribute {unknown[0]}"])
    _OVERRIDES.read(dict(given))
    return given


def _checked_mapping(users: dict[str, str] | None) -> dict[str, str]:
    if users is None:
        return {}
    if len(users) > MAX_MAPPED_USERS:
        raise Invalid(user_mapping=[f"has more than {MAX_MAPPED_USERS} users"])
    return users
