"""Endpoints of the CI lint."""

from ingot.ci.config.compiler import plan_pipeline, read_config
from ingot.ci.config.errors import ConfigError
from ingot.ci.lint import policy
from ingot.ci.lint.params import LintCommittedConfig, LintConfig, LintProjectConfig
from ingot.ci.lint.standalone import StandaloneContext, StandaloneSource
from ingot.ci.lint.validate import ProjectLint, lint_project_config
from ingot.ci.lint.views import LintView, ProjectLintView
from ingot.ci.pipelines.project_config import config_limits
from ingot.core.access.rules import anyone
from ingot.core.api.routes import Routes, StagedCall
from ingot.core.errors import Invalid, too_long_message
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.tables import Project

routes = Routes("lint")


_MAX_ANONYMOUS_BYTES = 64 * 2**10
"""Size of a text from an anonymous caller; the slowest of this size takes almost a second of processor time."""


@routes.post("/ci/lint", may=anyone, returns=LintView, status=200, staged=True)
def lint_config(stage: StagedCall, params: LintConfig) -> LintView:
    """Validate the text of a CI file; anonymous callers may send at most 64 KiB."""
    if not stage.actor.known and len(params.content.encode()) > _MAX_ANONYMOUS_BYTES:
        raise Invalid(content=[too_long_message(_MAX_ANONYMOUS_BYTES, "bytes without a token")])
    context = StandaloneContext()
    try:
        config = read_config(params.content, StandaloneSource(), context, limits=config_limits(stage.database))
        plan_pipeline(config, context)
    except ConfigError as error:
        return LintView(status="invalid", errors=list(error.messages), warnings=[])
    return LintView(status="valid", errors=[], warnings=list(config.warnings))


@routes.get(
    "/projects/:id/ci/lint",
    on=project_in_path,
    may=policy.may_lint_committed_config,
    returns=ProjectLintView,
    staged=True,
)
def lint_committed_config(stage: StagedCall, project: Project, params: LintCommittedConfig) -> ProjectLintView:
    """Validate the configuration of a commit."""
    lint = ProjectLint(
        project,
        stage.actor,
        None,
        params.content_ref or params.sha,
        params.dry_run_ref or params.ref,
        params.dry_run,
        params.include_jobs,
    )
    return lint_project_config(stage.database, repository_store(stage.settings), lint)


@routes.post(
    "/projects/:id/ci/lint",
    on=project_in_path,
    may=policy.may_lint_config,
    returns=ProjectLintView,
    status=200,
    staged=True,
)
def lint_project(stage: StagedCall, project: Project, params: LintProjectConfig) -> ProjectLintView:
    """Validate the text of a CI file with the files and variables of a project."""
    lint = ProjectLint(project, stage.actor, params.content, None, params.ref, params.dry_run, params.include_jobs)
    return lint_project_config(stage.database, repository_store(stage.settings), lint)
