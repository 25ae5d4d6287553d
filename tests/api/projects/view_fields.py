"""Fields of a project by caller; no other field may appear."""

from ingot.projects.projects.options import INTERNAL, ProjectCiOptions, ProjectOptions

SIMPLE = {
    "id",
    "name",
    "name_with_namespace",
    "path",
    "path_with_namespace",
    "http_url_to_repo",
    "ssh_url_to_repo",
    "web_url",
}
ANONYMOUS = SIMPLE | {
    "description",
    "marked_for_deletion_at",
    "default_branch",
    "tag_list",
    "topics",
    "visibility",
    "archived",
    "issues_enabled",
    "merge_requests_enabled",
    "jobs_enabled",
    "wiki_enabled",
    "snippets_enabled",
    "container_registry_enabled",
    "shared_runners_enabled",
    "lfs_enabled",
    "public_jobs",
    "request_access_enabled",
    "only_allow_merge_if_pipeline_succeeds",
    "only_allow_merge_if_all_discussions_are_resolved",
    "printing_merge_requests_link_enabled",
    "printing_merge_request_link_enabled",
    "repository_access_level",
    "issues_access_level",
    "merge_requests_access_level",
    "builds_access_level",
    "wiki_access_level",
    "snippets_access_level",
    "container_registry_access_level",
    "merge_method",
    "squash_option",
    "remove_source_branch_after_merge",
    "ci_config_path",
    "created_at",
    "last_activity_at",
    "creator_id",
    "namespace",
    "import_status",
    "avatar_url",
    "star_count",
    "forks_count",
    "empty_repo",
    "shared_with_groups",
    "open_issues_count",
    "_links",
    "emails_disabled",
    "can_create_merge_request_in",
    *(name for name in ProjectOptions.__struct_fields__ if name not in INTERNAL),
}
SIGNED_IN = ANONYMOUS | {"permissions"}
CI_SETTINGS = {
    "build_timeout",
    "build_coverage_regex",
    "build_git_strategy",
    "ci_default_git_depth",
    "auto_cancel_pending_pipelines",
    "keep_latest_artifact",
    "group_runners_enabled",
}
MASTER = (
    SIGNED_IN
    | {"import_url", "import_type", "import_error", "runners_token"}
    | CI_SETTINGS
    | set(ProjectCiOptions.__struct_fields__)
)
ADMINISTRATOR = MASTER | {"repository_storage"}
NAMESPACE = {"id", "name", "path", "kind", "full_path", "parent_id"}
OWNER = {"id", "username", "name", "state", "avatar_url", "web_url", "created_at"}
