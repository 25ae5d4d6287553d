"""Which fields a project has, for whom; a field that is not here must not appear."""

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
OPEN = SIMPLE | {
    "description",
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
}
SIGNED_IN = OPEN | {"permissions"}
MASTER = SIGNED_IN | {"import_error", "runners_token"}
NAMESPACE = {"id", "name", "path", "kind", "full_path", "parent_id"}
OWNER = {"id", "username", "name", "state", "avatar_url", "web_url", "created_at"}
