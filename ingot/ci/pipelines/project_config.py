"""Configuration of a commit, from the place that its project names."""

from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

import msgspec

from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.ci.config.compiler import read_config
from ingot.ci.config.includes import FileSource
from ingot.ci.config.plan import PipelineConfig
from ingot.ci.config.yaml_loader import ConfigLimits
from ingot.ci.pipelines import predefined_variables as predefined
from ingot.ci.pipelines.config_cache import read_cached_config
from ingot.ci.pipelines.config_files import CommitFiles, FileReader
from ingot.ci.pipelines.ports import CiEnvironment
from ingot.ci.pipelines.rule_context import CommitContext
from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.tables import Project

_URL_PREFIXES = ("http://", "https://")


class PipelineRefused(Exception):
    """No pipeline is created; the message says why."""


class GivenConfiguration(NamedTuple):
    """Parts of a configuration that the job gives which starts a pipeline."""

    text: str | None = None
    """Configuration of a child pipeline; others have the configuration of the project."""
    inputs: dict[str, Any] | None = None
    """Inputs of the configuration, as ``spec:inputs`` declares them."""
    artifact_text: Callable[[str, str], str] | None = None
    """Takes the name of a job and a path; returns the text of that artifact or raises ConfigError."""


def read_project_config(
    database: Database,
    store: RepositoryStore,
    project: Project,
    actor: Actor,
    repository: Repository,
    context: CommitContext,
    given: GivenConfiguration,
) -> PipelineConfig:
    """Return the validated configuration of a commit; raise ConfigError if it is not valid."""
    path = project.ci_config_path or predefined.DEFAULT_CONFIG_PATH
    reader = FileReader(repository, context.sha)
    limits = config_limits(database)
    with closing(CommitFiles(database, store, actor, reader, artifact_text=given.artifact_text)) as source:
        if given.text is not None:
            return _with_components(read_config(given.text, source, context, limits=limits), source)
        oid = None if given.inputs or is_elsewhere(path) else reader.blob_id_or_none(path)
        if oid is not None:
            return _with_components(read_cached_config(reader, source, path, oid, context, limits), source)
        text, inner = config_text(path, reader, source)
        config = read_config(text, inner, context, given.inputs, limits=limits)
        return _with_components(config, source)


def _with_components(config: PipelineConfig, source: CommitFiles) -> PipelineConfig:
    """Return a configuration with the published components that it includes, of which a cached one has none."""
    if not source.catalog_components:
        return config
    return msgspec.structs.replace(config, catalog_components=tuple(sorted(source.catalog_components)))


def config_limits(database: Database) -> ConfigLimits:
    """Return the limits of the administrators; the number of needs may also come from the startup settings."""
    settings = database.read(cached_all_settings)
    needs = settings.ci_needs_size_limit
    return ConfigLimits(
        database.ports[CiEnvironment].max_needs if needs is None else needs,
        settings.max_yaml_size_bytes,
        settings.ci_max_total_yaml_size_bytes,
        settings.max_yaml_depth,
        settings.ci_max_includes,
    )


def is_elsewhere(path: str) -> bool:
    """Return whether the configuration of a project is in another project or on another server."""
    return "@" in path or path.startswith(_URL_PREFIXES)


def config_text(path: str, reader: FileReader, source: CommitFiles) -> tuple[str, FileSource]:
    """Return the configuration that a project names, and the source of the files that it includes.

    Raise PipelineRefused if the commit has none, and ConfigError if it cannot be read.
    """
    if path.startswith(_URL_PREFIXES):
        return source.remote(path), source
    file, at, place = path.partition("@")
    if at:
        other, _, ref = place.partition(":")
        return source.project(other, ref or None, file)
    text = reader.text_or_none(path)
    if text is None:
        raise PipelineRefused(f"Missing {path} file")
    return text, source
