"""Files of a configuration: of the commit, of other projects, of other servers and of templates."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from ingot.accounts.instance.outgoing_rules import reading_rules
from ingot.ci.catalog.queries import (
    component_at_or_none,
    latest_version_or_none,
    resource_or_none,
    version_or_none,
)
from ingot.ci.catalog.tables import CatalogResource
from ingot.ci.config.components import LATEST, matching_release, parse_component_address, version_range
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.globs import path_matcher
from ingot.ci.config.includes import FileSource
from ingot.ci.config.yaml_loader import MAX_BYTES
from ingot.ci.pipelines.ports import CiEnvironment
from ingot.ci.pipelines.remote_files import RemoteFiles
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.core.outgoing.guard import SsrfGuard
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.refs import read_refs
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, commit_id_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.blobs import read_blob
from ingot.git.trees.entries import FOLDER, SUBMODULE, entry_or_none
from ingot.git.trees.file_names import list_file_names
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.repositories.templates.queries import find_template

TEMPLATE_SUFFIX = ".gitlab-ci.yml"
_WILDCARDS = "*"
_TAGS = b"refs/tags/"


def template_text(name: str) -> str:
    """Return a template of this instance; raise ConfigError if there is none."""
    try:
        return find_template("gitlab_ci_ymls", name.removesuffix(TEMPLATE_SUFFIX)).content
    except NotFound:
        raise ConfigError(f"Template file `{name}` is not a valid location!") from None


class IncludedFile(NamedTuple):
    """A file that a configuration includes."""

    kind: str
    location: str
    extra: dict[str, str]


class FileReader:
    """Files of a commit, or none for ``NO_OID``; remembers the ids of those that it has read."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository = repository
        self.commit = commit
        self.read_ids: dict[str, str | None] = {}
        """Ids of files by path; None for missing ones."""

    def blob_id_or_none(self, path: str) -> str | None:
        """Return the id of a file, or None if there is none."""
        path = path.lstrip("/")
        entry = None
        if self.commit != NO_OID:
            entry = entry_or_none(self._repository, self.commit, path.encode(errors="surrogateescape"))
        oid = None if entry is None or entry.mode in (FOLDER, SUBMODULE) else entry.oid
        self.read_ids[path] = oid
        return oid

    def text_or_none(self, path: str) -> str | None:
        """Return the text of a file, or None if there is none; raise ConfigError if it cannot be read as text."""
        oid = self.blob_id_or_none(path)
        return None if oid is None else self.text_of_blob(oid, path)

    def text_of_blob(self, oid: str, path: str) -> str:
        """Return the text of a file by its id; raise ConfigError if it cannot be read as text."""
        blob = read_blob(self._repository, oid)
        if blob.body is None or blob.size > MAX_BYTES:
            raise ConfigError(f"Local file `{path}` is too large!")
        try:
            return blob.body.decode()
        except UnicodeDecodeError:
            raise ConfigError(f"Local file `{path}` is not valid UTF-8!") from None

    def matching_paths(self, pattern: str) -> list[str]:
        """Return the paths that match a pattern with wildcards."""
        matches = path_matcher(pattern.lstrip("/"))
        return [path for path in self.paths() if matches(path)]

    def paths(self) -> Collection[str]:
        """Return the paths of all files."""
        return () if self.commit == NO_OID else list_file_names(self._repository, self.commit).paths


class CommitFiles:
    """Source of included files for a configuration in a commit; a user's permissions decide about other projects.

    It has to be closed, since few configurations with remote files are read at a time.
    """

    def __init__(
        self,
        database: Database,
        store: RepositoryStore,
        actor: Actor,
        reader: FileReader,
        remote_files: RemoteFiles | None = None,
        artifact_text: Callable[[str, str], str] | None = None,
    ) -> None:
        self._database = database
        self._store = store
        self._actor = actor
        self._reader = reader
        self._artifact_text = artifact_text
        self._environment = database.ports[CiEnvironment]
        self._remote_files = remote_files or RemoteFiles(self._current_guard(), actor.user_id)
        self.included: list[IncludedFile] = []
        self.catalog_components: set[int] = set()
        """Ids of the published components that were read."""
        self.read_elsewhere = False
        """Whether a file came from another project or server, or was found by a pattern."""

    def _current_guard(self) -> SsrfGuard:
        return self._environment.guard.under(self._database.read(reading_rules))

    def local(self, pattern: str) -> Sequence[tuple[str, str]]:
        """Return files of the commit."""
        if any(sign in pattern for sign in _WILDCARDS):
            self.read_elsewhere = True
            paths = self._reader.matching_paths(pattern)
        else:
            paths = [pattern.lstrip("/")]
        texts = [(path, text) for path in paths if (text := self._reader.text_or_none(path)) is not None]
        if not texts:
            raise ConfigError(f"Local file `{pattern}` does not exist!")
        self.included.extend(IncludedFile("local", path, {}) for path, _ in texts)
        return texts

    def project(self, path: str, ref: str | None, file: str) -> tuple[str, FileSource]:
        """Return a file of a project that the user may read."""
        project, repository = self._project_repository(path)
        ref = ref or project.default_branch
        reader = _reader_at(repository, path, ref)
        text = reader.text_or_none(file)
        if text is None:
            raise ConfigError(f"Project `{path}` file `{file}` does not exist!")
        self.included.append(IncludedFile("file", file, {"project": path, "ref": ref}))
        return text, self._source_of(reader)

    def component(self, address: str) -> tuple[str, FileSource]:
        """Return the file of a component in a project of this server that the user may read."""
        component = parse_component_address(address)
        if component.host.lower() != urlsplit(self._environment.base_url).netloc.lower():
            raise ConfigError(f"Component `{address}` belongs to another server!")
        project, repository = self._project_repository(component.project)
        resource = self._database.read(lambda db: resource_or_none(db, project.id))
        if resource is None:
            tags = {tag.removeprefix(_TAGS).decode(errors="replace") for tag in read_refs(repository.path, (_TAGS,))}
            version = None if component.version in tags else matching_release(component.version, tags)
        else:
            version = self._database.read(lambda db: _published_commit_or_none(db, resource, component.version))
            if version is None and component.version == LATEST:
                raise ConfigError(f"Component `{address}` has no published version!")
        reader = _reader_at(repository, component.project, version or component.version)
        if resource is not None:
            self._note_component(resource, reader.commit, component.name)
        for file in component.files:
            text = reader.text_or_none(file)
            if text is not None:
                self.included.append(IncludedFile("component", address, {}))
                return text, self._source_of(reader)
        raise ConfigError(f"Component `{address}` has no file `{component.files[0]}`!")

    def _note_component(self, resource: CatalogResource, sha: str, name: str) -> None:
        component_id = self._database.read(lambda db: component_at_or_none(db, resource, sha, name))
        if component_id is not None:
            self.catalog_components.add(component_id)

    def _project_repository(self, path: str) -> tuple[Project, Repository]:
        self.read_elsewhere = True
        return _project_repository(self._database, self._store, self._actor, path)

    def _source_of(self, reader: FileReader) -> "CommitFiles":
        source = CommitFiles(self._database, self._store, self._actor, reader, self._remote_files)
        source.catalog_components = self.catalog_components
        return source

    def remote(self, url: str) -> str:
        """Return the text behind a URL; the guard refuses local and private addresses."""
        self.read_elsewhere = True
        text = self._remote_files.fetch(url)
        self.included.append(IncludedFile("remote", url, {}))
        return text

    def artifact(self, job: str, path: str) -> str:
        """Return a file that a job of the parent pipeline has created; other pipelines have none."""
        self.read_elsewhere = True
        if self._artifact_text is None:
            raise ConfigError(f"Artifact file `{path}` can be included only by `trigger:include`!")
        return self._artifact_text(job, path)

    def close(self) -> None:
        """Let another configuration fetch remote files."""
        self._remote_files.close()

    def template(self, name: str) -> str:
        """Return a template of this instance."""
        text = template_text(name)
        self.included.append(IncludedFile("template", name, {}))
        return text


def project_file_paths(
    database: Database, store: RepositoryStore, actor: Actor, path: str, ref: str | None
) -> Collection[str]:
    """Return the paths of all files of a project that a user may read; raise ConfigError otherwise."""
    project, repository = _project_repository(database, store, actor, path)
    return _reader_at(repository, path, ref or project.default_branch).paths()


def _project_repository(
    database: Database, store: RepositoryStore, actor: Actor, path: str
) -> tuple[Project, Repository]:
    project = database.read(lambda db: _readable_project(db, actor, path))
    if project is None:
        raise ConfigError(
            f"Project `{path}` not found or access denied! "
            "Make sure any includes in the pipeline configuration are correctly defined."
        )
    try:
        return project, project_repository(store, project)
    except (MissingRepository, GitError) as error:
        raise ConfigError(f"Project `{path}` cannot be read at this moment") from error


def _reader_at(repository: Repository, path: str, ref: str) -> FileReader:
    try:
        commit = commit_id_or_none(repository, ref)
    except (MissingRepository, GitError) as error:
        raise ConfigError(f"Project `{path}` cannot be read at this moment") from error
    if commit is None:
        raise ConfigError(f"Project `{path}` reference `{ref}` does not exist!")
    return FileReader(repository, commit)


def _published_commit_or_none(db: Connection, resource: CatalogResource, text: str) -> str | None:
    """Return the commit of the latest version in a range, or of the version with this name."""
    within = version_range(text)
    found = None if within is None else latest_version_or_none(db, resource, *within)
    found = found or version_or_none(db, resource, text)
    return None if found is None else found.sha


def _readable_project(db: Connection, actor: Actor, path: str) -> Project | None:
    try:
        access, project = find_project(db, actor, path)
    except NotFound:
        return None
    return project if may_download_code(actor, access, project) else None
