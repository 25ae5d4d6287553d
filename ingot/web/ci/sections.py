"""Layout of the CI pages of a project: links to pipelines, jobs, schedules, environments and the lint."""

from typing import Any

from ingot.ci.jobs import api as jobs_api
from ingot.ci.lint import api as lint_api
from ingot.ci.schedules import api as schedules_api
from ingot.ci.terraform import api as terraform_api
from ingot.projects.environments import api as environments_api
from ingot.projects.feature_flags import api as feature_flags_api
from ingot.repositories.commit_statuses import api as statuses_api
from ingot.web.page_routes import TemplateResponse
from ingot.web.projects.context import ProjectContext

_SECTIONS = (
    ("pipelines", "Pipelines", statuses_api.list_pipelines),
    ("jobs", "Jobs", jobs_api.list_jobs),
    ("pipeline_schedules", "Schedules", schedules_api.list_schedules),
    ("environments", "Environments", environments_api.list_environments),
    ("feature_flags", "Feature flags", feature_flags_api.list_feature_flags),
    ("terraform", "Terraform", terraform_api.list_states),
    ("ci/editor", "Editor", lint_api.lint_project),
    ("ci/lint", "CI lint", lint_api.lint_project),
)


def ci_page(
    parent: ProjectContext, template: str, section: str, context: dict[str, Any], status: int = 200
) -> TemplateResponse:
    """Render a page with links to the other CI pages that the user has permission to see."""
    sections = [
        (f"{parent.url}/-/{key}", name, key == section) for key, name, endpoint in _SECTIONS if parent.may(endpoint)
    ]
    return parent.page(template, "pipelines", {**context, "sections": sections}, status)
