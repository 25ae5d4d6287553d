"""Settings of a project for pipelines, a form of its CI/CD settings."""

from typing import Any

from ingot.projects.projects import api as projects_api
from ingot.web.projects.context import ProjectContext
from ingot.web.projects.forms import form_values

_TEXT_FIELDS = (
    "ci_config_path",
    "build_timeout",
    "build_coverage_regex",
    "build_git_strategy",
    "ci_default_git_depth",
    "ci_delete_pipelines_in_seconds",
    "ci_pipeline_variables_minimum_override_role",
)
SUBJECT = "ci_id_token_sub_claim_components"
_FLAG_FIELDS = (
    "auto_cancel_pending_pipelines",
    "keep_latest_artifact",
    "ci_forward_deployment_enabled",
    "ci_forward_deployment_rollback_allowed",
    "shared_runners_enabled",
    "group_runners_enabled",
    "ci_allow_fork_pipelines_to_run_in_parent_project",
    "ci_push_repository_for_job_token_allowed",
)
FLAG_LABELS = {
    "auto_cancel_pending_pipelines": "Cancel pipelines that a newer one of the same branch makes redundant",
    "keep_latest_artifact": "Keep the artifacts of the latest pipeline of each branch and tag",
    "ci_forward_deployment_enabled": "Prevent outdated deployment jobs",
    "ci_forward_deployment_rollback_allowed": "Allow retries of outdated deployment jobs, for rollbacks",
    "shared_runners_enabled": "Use the runners of the instance",
    "group_runners_enabled": "Use the runners of the groups",
    "ci_allow_fork_pipelines_to_run_in_parent_project": "Let developers run pipelines of forks in this project",
    "ci_push_repository_for_job_token_allowed": "Let jobs push to the repository with their tokens",
}
GIT_STRATEGIES = {"fetch": "Fetch: update an existing clone", "clone": "Clone: start from an empty folder"}
VARIABLE_ROLES = {
    "developer": "Developers",
    "maintainer": "Maintainers",
    "owner": "Owners",
    "no_one_allowed": "No one",
}


def current_settings(parent: ProjectContext) -> dict[str, Any]:
    """Return the values that the form shows."""
    project = parent.ask(projects_api.get_project, {"ci_settings": True})
    values: dict[str, Any] = {name: getattr(project, name) or "" for name in _TEXT_FIELDS}
    values |= {name: getattr(project, name) for name in _FLAG_FIELDS}
    values[SUBJECT] = ", ".join(getattr(project, SUBJECT))
    values["auto_cancel_pending_pipelines"] = project.auto_cancel_pending_pipelines == "enabled"
    return values


def submitted_settings(parent: ProjectContext) -> dict[str, Any]:
    """Return the values of a submitted form."""
    return form_values(parent.visit, "ci", (*_TEXT_FIELDS, SUBJECT), _FLAG_FIELDS)


def change_settings(parent: ProjectContext, typed: dict[str, Any]) -> None:
    """Change the settings; an empty timeout, depth or subject is left unchanged."""
    changes = {
        **typed,
        SUBJECT: [part.strip() for part in typed[SUBJECT].split(",") if part.strip()] or "",
        "auto_cancel_pending_pipelines": "enabled" if typed["auto_cancel_pending_pipelines"] else "disabled",
    }
    optional = (
        "build_timeout",
        "ci_default_git_depth",
        "build_git_strategy",
        "ci_pipeline_variables_minimum_override_role",
        SUBJECT,
    )
    params = {name: value for name, value in changes.items() if value != "" or name not in optional}
    parent.ask(projects_api.edit_project, params)
