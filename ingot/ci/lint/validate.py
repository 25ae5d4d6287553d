"""Validation of configurations in the context of a project."""

from contextlib import closing
from typing import Any

import msgspec
import yaml

from ingot.ci.config.compiler import plan_pipeline, read_config
from ingot.ci.config.errors import ConfigError
from ingot.ci.config.plan import PipelineConfig
from ingot.ci.config.yaml_loader import YamlReference
from ingot.ci.lint.views import IncludedFileView, ProjectLintView, linted_job_views, planned_job_views
from ingot.ci.pipelines.config_files import CommitFiles, FileReader
from ingot.ci.pipelines.creation import FILTERED, NO_JOBS, PipelineRequest, rule_context_of
from ingot.ci.pipelines.predefined_variables import DEFAULT_CONFIG_PATH
from ingot.ci.pipelines.project_config import PipelineRefused, config_limits, config_text
from ingot.ci.pipelines.rule_context import CommitContext, mask_values
from ingot.ci.pipelines.start import resolve_ref
from ingot.core.access.actor import Actor
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.git.core.repository import Repository
from ingot.git.history.commits import NO_OID, commit_id_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.tables import Project

_MAX_MERGED_BYTES = 2**20


class _MergedYamlDumper(yaml.SafeDumper):
    """Dumper of merged configurations, without anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - Signature of the library.
        """Write every value in full."""
        return True


class ProjectLint(msgspec.Struct, frozen=True):
    """A configuration to validate for a user of a project."""

    project: Project
    actor: Actor
    content: str | None
    """Text of the configuration; None for that of the commit."""
    content_ref: str | None
    ref: str | None
    dry_run: bool
    include_jobs: bool


def lint_project_config(database: Database, store: RepositoryStore, lint: ProjectLint) -> ProjectLintView:
    """Validate a configuration with the files, variables and branches of a project."""
    repository = project_repository(store, lint.project)
    commit = commit_id_or_none(repository, lint.content_ref or lint.project.default_branch)
    if commit is None and (lint.content is None or lint.content_ref is not None):
        if lint.content_ref is not None:
            raise NotFound("Commit")
        return _invalid([f"Please provide content of {DEFAULT_CONFIG_PATH}"])
    context = _context(database, store, lint, repository, commit)
    reader = FileReader(repository, commit or NO_OID)
    source = CommitFiles(database, store, lint.actor, reader)
    path = lint.project.ci_config_path or DEFAULT_CONFIG_PATH
    try:
        with closing(source):
            given = lint.content
            text, inner = config_text(path, reader, source) if given is None else (given, source)
            config = read_config(text, inner, context, limits=config_limits(database))
        plan = plan_pipeline(config, context) if lint.dry_run else None
    except PipelineRefused:
        return _invalid([f"Please provide content of {path}"])
    except ConfigError as error:
        return _invalid([mask_values(message, context.masked_values) for message in error.messages])
    if lint.dry_run and (plan is None or not plan.has_main_jobs):
        return _invalid([FILTERED if plan is None else NO_JOBS])
    view = ProjectLintView(True, [], list(config.warnings), _merged_yaml(config), _included(source))
    if lint.include_jobs:
        view.jobs = linted_job_views(config) if plan is None else planned_job_views(plan.jobs)
    return view


def _context(
    database: Database, store: RepositoryStore, lint: ProjectLint, repository: Repository, commit: str | None
) -> CommitContext:
    """Return the context of a push; without variables if the user may not run pipelines on the branch or tag."""
    wanted = lint.ref or lint.content_ref or lint.project.default_branch
    ref, is_tag, sha = resolve_ref(repository, wanted) or (wanted, False, commit or NO_OID)
    request = PipelineRequest(
        project=lint.project, ref=ref, is_tag=is_tag, sha=sha, source="api", user_id=lint.actor.user_id
    )
    try:
        return rule_context_of(database, store, request).as_push()
    except PipelineRefused:
        return CommitContext(
            repository,
            sha,
            NO_OID,
            ref=ref,
            is_tag=is_tag,
            source="push",
            project_path=lint.project.full_path,
            variables={},
        )


def _included(source: CommitFiles) -> list[IncludedFileView]:
    return [IncludedFileView(file.kind, file.location, file.extra) for file in source.included]


def _invalid(errors: list[str]) -> ProjectLintView:
    return ProjectLintView(False, errors, [], None, [])


def _merged_yaml(config: PipelineConfig) -> str | None:
    plain = _without_references(config.merged)
    text: str = yaml.dump(plain, Dumper=_MergedYamlDumper, sort_keys=False, allow_unicode=True, explicit_start=True)
    return text if len(text) <= _MAX_MERGED_BYTES else None


def _without_references(value: Any) -> Any:
    """Return a configuration with references as text; those of used keys are resolved already."""
    if isinstance(value, dict):
        return {key: _without_references(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_references(each) for each in value]
    return str(value) if isinstance(value, YamlReference) else value
