"""Reasons for which jobs fail, in words."""

from msgspec import UnsetType

_REASONS = {
    "script_failure": "The script failed.",
    "api_failure": "The runner could not reach the API.",
    "stuck_or_timeout_failure": "No runner took the job, or it stopped responding.",
    "runner_system_failure": "The runner failed. Retry the job, or ask the administrator of the runner.",
    "missing_dependency_failure": "The artifacts of a needed job do not exist, have expired, or may not be read.",
    "runner_unsupported": "The version of the runner is too old for this job.",
    "stale_schedule": "The delayed job could not be started in time.",
    "job_execution_timeout": "The job took longer than its timeout.",
    "archived_failure": "The job is archived and cannot run.",
    "unmet_prerequisites": "A prerequisite of the job is missing.",
    "scheduler_failure": "The job could not be given to a runner.",
    "data_integrity_failure": "The data of the job is inconsistent.",
    "forward_deployment_failure": "A newer deployment to this environment exists.",
    "failed_outdated_deployment_job": "A newer job has deployed to this environment, so this one was not run.",
    "protected_environment_failure": "The user who started the job may not deploy to this protected environment.",
    "user_blocked": "The user who started the job is blocked.",
    "project_deleted": "The project was deleted.",
    "configuration_error": "The configuration of the job is invalid.",
    "image_pull_failure": "The runner could not pull the image.",
    "job_canceled": "The job was canceled.",
    "trace_size_exceeded": "The log exceeded its maximum size.",
    "invalid_bridge_trigger": "The job cannot start a pipeline of its own project.",
    "downstream_bridge_project_not_found": "The project of the downstream pipeline was not found.",
    "insufficient_bridge_permissions": "The user may not run the downstream pipeline.",
    "downstream_pipeline_creation_failed": "The downstream pipeline could not be created.",
    "reached_max_descendant_pipelines_depth": "There are too many levels of child pipelines.",
    "reached_max_pipeline_hierarchy_size": "Too many pipelines follow from one.",
    "pipeline_loop_detected": "The pipelines of several projects start each other.",
    "upstream_bridge_project_not_found": "The project whose status the job takes was not found, or has no pipeline.",
    "insufficient_upstream_permissions": "The user may not read the pipeline whose status the job takes.",
    "secrets_provider_not_found": "The variables with the address of the provider of secrets are missing.",
}


def failure_text(reason: str | UnsetType | None) -> str:
    """Return the sentence for a failure reason."""
    return _REASONS.get(reason, "") if isinstance(reason, str) else ""
