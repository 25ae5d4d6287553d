"""Settings of the instance that today's clients send, in addition to those of the specification.

A description of a field states its effect; fields without one are stored and returned only. docs/attributes.md is
generated from this struct. Keys, tokens and passwords of external services are not accepted. Defaults are GitLab's,
except that nothing is reported as enabled which would protect accounts or send data, but does not exist here.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ingot.accounts.instance.settings import InstanceSettings, stored_settings
from ingot.accounts.instance.tables import StoredSettings
from ingot.core.db.connection import Connection

_Number = Annotated[int, Meta(ge=-1, le=2**53)]
_Fraction = Annotated[float, Meta(ge=0, le=2**31)]
_Line = Annotated[str, Meta(max_length=10_000)]
NeedsLimit = Annotated[
    int,
    Meta(ge=0, le=10_000, description="Largest number of jobs that one CI job may need; null is the startup setting."),
]
DotenvSize = Annotated[int, Meta(ge=1, le=2**20, description="Largest dotenv report, in bytes.")]
DotenvVariables = Annotated[int, Meta(ge=1, le=1000, description="Largest number of variables of a dotenv report.")]


class AllSettings(InstanceSettings, frozen=True):
    """All settings that can be stored."""

    abuse_notification_email: _Line | None = None
    admin_mode: bool = False
    allow_account_deletion: bool = True
    allow_contribution_mapping_to_admins: bool = False
    allow_local_requests_from_system_hooks: bool = True
    allow_local_requests_from_web_hooks_and_services: bool = False
    allow_possible_spam: bool = False
    allow_project_creation_for_guest_and_below: bool = True
    allow_runner_registration_token: bool = True
    anonymous_searches_allowed: Annotated[
        bool, Meta(description="False refuses searches for projects without a user; other searches need one anyway.")
    ] = True
    archive_builds_in_human_readable: _Line | None = None
    asciidoc_max_includes: _Number = 32
    authorized_keys_enabled: bool = True
    auto_devops_domain: _Line | None = None
    auto_devops_enabled: bool = False
    autocomplete_users: _Number | None = None
    autocomplete_users_limit: _Number = 300
    autocomplete_users_unauthenticated: _Number | None = None
    autocomplete_users_unauthenticated_limit: _Number = 100
    automatic_purchased_storage_allocation: bool = False
    bulk_import_concurrent_pipeline_batch_limit: _Number = 25
    bulk_import_enabled: bool = False
    bulk_import_max_download_file_size: _Number = 5120
    can_create_group: Annotated[bool, Meta(description="Whether new users may create groups.")] = True
    ci_instance_level_variables: Annotated[
        _Number, Meta(description="Largest number of CI variables of the instance; 0 means no limit.")
    ] = 0
    ci_job_live_trace_enabled: bool = False
    ci_max_includes: _Number = 150
    ci_max_total_yaml_size_bytes: _Number = 314_572_800
    ci_needs_size_limit: NeedsLimit | None = None
    ci_pipeline_schedules: Annotated[
        _Number, Meta(description="Largest number of pipeline schedules of a project; 0 means no limit.")
    ] = 0
    code_suggestions_api_rate_limit: _Number = 60
    commit_email_hostname: _Line | None = None
    concurrent_bitbucket_import_jobs_limit: _Number | None = None
    concurrent_bitbucket_server_import_jobs_limit: _Number | None = None
    concurrent_github_import_jobs_limit: _Number | None = None
    concurrent_relation_batch_export_limit: _Number | None = None
    container_expiration_policies_enable_historic_entries: bool = False
    container_registry_cleanup_tags_service_max_list_size: _Number = 200
    container_registry_delete_tags_service_timeout: _Number = 250
    container_registry_expiration_policies_caching: bool = True
    container_registry_expiration_policies_worker_capacity: _Number = 4
    custom_http_clone_url_root: _Line | None = None
    deactivate_dormant_users: bool = False
    deactivate_dormant_users_period: _Number = 90
    decompress_archive_file_timeout: _Number = 210
    default_branch_name: Annotated[str, Meta(max_length=255, description="Default branch of new projects.")] | None = (
        None
    )
    default_ci_config_path: _Line | None = None
    default_preferred_language: _Line | None = "en"
    default_project_creation: Annotated[
        Literal[0, 1, 2, 3, 4],
        Meta(
            description="Level that members of new groups need to create projects: 0 no one, 1 maintainers, "
            "2 developers, 3 administrators, 4 owners."
        ),
    ] = 2
    default_syntax_highlighting_theme: _Number = 1
    delete_inactive_projects: bool = False
    deletion_adjourned_period: _Number = 30
    deny_all_requests_except_allowed: bool = False
    diagramsnet_enabled: bool = True
    diagramsnet_url: _Line | None = "https://embed.diagrams.net"
    diff_max_files: _Number = 1000
    diff_max_lines: _Number = 50_000
    diff_max_patch_bytes: _Number = 204_800
    disable_admin_oauth_scopes: bool = False
    disable_feed_token: bool = False
    disable_overriding_approvers_per_merge_request: bool = False
    disabled_direct_code_suggestions: bool = False
    dns_rebinding_protection_enabled: bool = True
    dotenv_size: DotenvSize = 5120
    dotenv_variables: DotenvVariables = 20
    downstream_pipeline_trigger_limit_per_project_user_sha: _Number = 0
    dsa_key_restriction: _Number = -1
    ecdsa_key_restriction: _Number = 0
    ecdsa_sk_key_restriction: _Number = 0
    ed25519_key_restriction: _Number = 0
    ed25519_sk_key_restriction: _Number = 0
    eks_integration_enabled: bool = False
    email_confirmation_setting: Literal["off", "soft", "hard"] = "off"
    email_restrictions: _Line | None = None
    email_restrictions_enabled: bool = False
    enable_artifact_external_redirect_warning_page: bool = True
    enforce_namespace_storage_limit: bool = False
    enforce_terms: bool = False
    external_authorization_service_default_label: _Line | None = None
    external_authorization_service_enabled: bool = False
    external_authorization_service_timeout: _Fraction = 0.5
    external_authorization_service_url: _Line | None = None
    external_pipeline_validation_service_timeout: _Number | None = None
    external_pipeline_validation_service_url: _Line | None = None
    failed_login_attempts_unlock_period_in_minutes: _Number | None = None
    first_day_of_week: _Number = 0
    floc_enabled: bool = False
    generic_packages_max_file_size: Annotated[
        _Number, Meta(description="Largest file of a generic package, in bytes.")
    ] = 5_368_709_120
    gitaly_timeout_default: _Number = 55
    gitaly_timeout_fast: _Number = 10
    gitaly_timeout_medium: _Number = 30
    gitlab_shell_operation_limit: _Number = 600
    gitpod_enabled: bool = False
    gitpod_url: _Line | None = "https://gitpod.io/"
    global_search_block_anonymous_searches_enabled: bool = False
    global_search_issues_enabled: bool = True
    global_search_merge_requests_enabled: bool = True
    global_search_snippet_titles_enabled: bool = True
    global_search_users_enabled: bool = True
    globally_allowed_ips: _Line | None = ""
    grafana_enabled: bool = False
    grafana_url: _Line | None = "/-/grafana"
    group_api_limit: _Number = 400
    group_archive_unarchive_api_limit: _Number = 60
    group_download_export_limit: _Number = 1
    group_export_limit: _Number = 6
    group_import_limit: _Number = 6
    group_invited_groups_api_limit: _Number = 60
    group_projects_api_limit: _Number = 600
    group_runner_token_expiration_interval: _Number | None = None
    group_shared_groups_api_limit: _Number = 60
    groups_api_limit: _Number = 200
    hashed_storage_enabled: bool = True
    helm_max_packages_count: _Number = 1000
    help_page_documentation_base_url: _Line | None = "https://docs.gitlab.com"
    hide_third_party_offers: bool = False
    housekeeping_optimize_repository_period: _Number | None = None
    inactive_projects_delete_after_months: _Number = 2
    inactive_projects_min_size_mb: _Number = 0
    inactive_projects_send_warning_email_after_months: _Number = 1
    include_optional_metrics_in_service_ping: bool = False
    invisible_captcha_enabled: bool = False
    issues_create_limit: _Number = 300
    jira_connect_application_key: _Line | None = None
    jira_connect_proxy_url: _Line | None = None
    jira_connect_public_key_storage_enabled: bool = False
    keep_latest_artifact: bool = True
    kroki_enabled: bool = False
    kroki_url: _Line | None = None
    local_markdown_version: _Number = 0
    login_recaptcha_protection_enabled: bool = False
    mailgun_events_enabled: bool = False
    math_rendering_limits_enabled: bool = True
    maven_max_file_size: Annotated[_Number, Meta(description="Largest file of a Maven package, in bytes.")] = (
        3_221_225_472
    )
    max_artifacts_content_include_size: _Number = 5_242_880
    max_decompressed_archive_size: _Number = 25_600
    max_export_size: _Number = 0
    max_import_remote_file_size: _Number = 10_240
    max_import_size: _Number = 0
    max_login_attempts: _Number | None = None
    max_terraform_state_size_bytes: _Number = 0
    max_yaml_depth: _Number = 100
    max_yaml_size_bytes: _Number = 2_097_152
    members_delete_limit: _Number = 60
    metrics_method_call_threshold: _Number = 10
    minimum_password_length: _Number = 8
    mirror_available: bool = True
    notes_create_limit: _Number = 300
    notes_create_limit_allowlist: tuple[str, ...] = ()
    notify_on_unknown_sign_in: bool = False
    npm_max_file_size: Annotated[_Number, Meta(description="Largest npm package, in bytes.")] = 524_288_000
    nuget_skip_metadata_url_validation: bool = False
    outbound_local_requests_whitelist: tuple[str, ...] = ()
    package_registry_allow_anyone_to_pull_option: bool = False
    package_registry_cleanup_policies_worker_capacity: _Number = 2
    pages_domain_verification_enabled: bool = True
    pages_extra_deployments_default_expiry_seconds: _Number = 86_400
    password_authentication_enabled_for_git: bool = True
    performance_bar_allowed_group_id: _Line | None = None
    performance_bar_allowed_group_path: _Line | None = None
    personal_access_token_prefix: _Line | None = "glpat-"  # noqa: S105 - A prefix, not a secret.
    pipeline_limit_per_project_user_sha: _Number = 0
    prevent_merge_requests_author_approval: bool = False
    prevent_merge_requests_committers_approval: bool = False
    project_api_limit: _Number = 400
    project_download_export_limit: _Number = 1
    project_export_enabled: bool = True
    project_export_limit: _Number = 6
    project_import_limit: _Number = 6
    project_invited_groups_api_limit: _Number = 60
    project_jobs_api_rate_limit: _Number = 600
    project_runner_token_expiration_interval: _Number | None = None
    projects_api_limit: _Number = 2000
    projects_api_rate_limit_unauthenticated: _Number = 400
    prometheus_metrics_enabled: bool = True
    protected_ci_variables: bool = False
    push_event_activities_limit: _Number = 3
    push_event_hooks_limit: _Number = 3
    pypi_max_file_size: Annotated[_Number, Meta(description="Largest file of a Python package, in bytes.")] = (
        3_221_225_472
    )
    rate_limiting_response_text: _Line | None = None
    raw_blob_request_limit: _Number = 300
    receive_max_input_size: _Number | None = None
    receptive_cluster_agents_enabled: bool = False
    remember_me_enabled: bool = True
    require_admin_approval_after_user_signup: bool = False
    require_admin_two_factor_authentication: bool = False
    require_personal_access_token_expiry: bool = False
    resource_access_token_notify_inherited: bool = False
    root_moved_permanently_redirection: bool = False
    ropc_without_client_credentials: bool = True
    rsa_key_restriction: _Number = 0
    runner_token_expiration_interval: _Number | None = None
    search_rate_limit: _Number = 30
    search_rate_limit_allowlist: tuple[str, ...] = ()
    search_rate_limit_unauthenticated: _Number = 10
    security_policy_global_group_approvers_enabled: bool = True
    security_txt_content: _Line | None = None
    service_access_tokens_expiration_enforced: bool = False
    session_expire_from_init: bool = False
    show_migrate_from_jenkins_banner: bool = True
    sidekiq_job_limiter_compression_threshold_bytes: _Number = 100_000
    sidekiq_job_limiter_limit_bytes: _Number = 0
    sidekiq_job_limiter_mode: Literal["track", "compress"] = "compress"
    silent_admin_exports_enabled: bool = False
    silent_mode_enabled: bool = False
    slack_app_enabled: bool = False
    slack_app_id: _Line | None = None
    snippet_size_limit: _Number = 52_428_800
    snowplow_app_id: _Line | None = None
    snowplow_collector_hostname: _Line | None = None
    snowplow_cookie_domain: _Line | None = None
    snowplow_database_collector_hostname: _Line | None = None
    snowplow_enabled: bool = False
    sourcegraph_enabled: bool = False
    sourcegraph_public_only: bool = True
    sourcegraph_url: _Line | None = None
    spam_check_endpoint_enabled: bool = False
    spam_check_endpoint_url: _Line | None = None
    static_objects_external_storage_url: _Line | None = None
    suggest_pipeline_enabled: bool = True
    terms: _Line | None = None
    throttle_authenticated_deprecated_api_enabled: bool = False
    throttle_authenticated_deprecated_api_period_in_seconds: _Number = 3600
    throttle_authenticated_deprecated_api_requests_per_period: _Number = 3600
    throttle_authenticated_files_api_enabled: bool = False
    throttle_authenticated_files_api_period_in_seconds: _Number = 15
    throttle_authenticated_files_api_requests_per_period: _Number = 500
    throttle_authenticated_git_lfs_enabled: bool = False
    throttle_authenticated_git_lfs_period_in_seconds: _Number = 60
    throttle_authenticated_git_lfs_requests_per_period: _Number = 1000
    throttle_authenticated_packages_api_enabled: bool = False
    throttle_authenticated_packages_api_period_in_seconds: _Number = 15
    throttle_authenticated_packages_api_requests_per_period: _Number = 1000
    throttle_authenticated_web_enabled: bool = False
    throttle_authenticated_web_period_in_seconds: _Number = 3600
    throttle_authenticated_web_requests_per_period: _Number = 7200
    throttle_incident_management_notification_enabled: bool = False
    throttle_incident_management_notification_per_period: _Number = 3600
    throttle_incident_management_notification_period_in_seconds: _Number = 3600
    throttle_protected_paths_enabled: bool = False
    throttle_protected_paths_in_seconds: _Number = 10
    throttle_protected_paths_per_period: _Number = 60
    throttle_unauthenticated_api_enabled: bool = False
    throttle_unauthenticated_api_period_in_seconds: _Number = 3600
    throttle_unauthenticated_api_requests_per_period: _Number = 3600
    throttle_unauthenticated_deprecated_api_enabled: bool = False
    throttle_unauthenticated_deprecated_api_period_in_seconds: _Number = 3600
    throttle_unauthenticated_deprecated_api_requests_per_period: _Number = 1800
    throttle_unauthenticated_files_api_enabled: bool = False
    throttle_unauthenticated_files_api_period_in_seconds: _Number = 15
    throttle_unauthenticated_files_api_requests_per_period: _Number = 125
    throttle_unauthenticated_packages_api_enabled: bool = False
    throttle_unauthenticated_packages_api_period_in_seconds: _Number = 15
    throttle_unauthenticated_packages_api_requests_per_period: _Number = 800
    throttle_unauthenticated_web_enabled: bool = False
    throttle_unauthenticated_web_period_in_seconds: _Number | None = None
    throttle_unauthenticated_web_requests_per_period: _Number | None = None
    time_tracking_limit_to_hours: bool = False
    unique_ips_limit_enabled: bool = False
    unique_ips_limit_per_user: _Number = 10
    unique_ips_limit_time_window: _Number = 3600
    update_runner_versions_enabled: bool = True
    updating_name_disabled_for_users: bool = False
    usage_ping_enabled: bool = False
    usage_ping_features_enabled: bool = False
    user_contributed_projects_api_limit: _Number = 100
    user_deactivation_emails_enabled: bool = True
    user_default_internal_regex: _Line | None = None
    user_defaults_to_private_profile: bool = False
    user_projects_api_limit: _Number = 300
    user_show_add_ssh_key_message: bool = True
    user_starred_projects_api_limit: _Number = 100
    users_api_limit_followers: _Number = 100
    users_api_limit_following: _Number = 100
    users_api_limit_gpg_key: _Number = 120
    users_api_limit_gpg_keys: _Number = 120
    users_api_limit_key: _Number | None = None
    users_api_limit_keys: _Number | None = None
    users_api_limit_ssh_key: _Number = 120
    users_api_limit_ssh_keys: _Number = 120
    users_api_limit_status: _Number = 240
    users_get_by_id_limit: _Number = 300
    users_get_by_id_limit_allowlist: tuple[str, ...] = ()
    valid_runner_registrars: tuple[str, ...] = ("project", "group")
    virtual_registries_endpoints_api_limit: _Number | None = None
    whats_new_variant: Literal["all_tiers", "current_tier", "disabled"] = "all_tiers"
    wiki_asciidoc_allow_uri_includes: bool = False
    wiki_page_max_content_bytes: _Number = 52_428_800


def decode_all_settings(stored: StoredSettings) -> AllSettings:
    """Return all settings of a stored row, with defaults for those that it omits."""
    return msgspec.json.decode(stored.document, type=AllSettings)


def all_settings(db: Connection) -> AllSettings:
    """Return all current settings; ``current_settings`` is faster where the frequent ones suffice."""
    return decode_all_settings(stored_settings(db))
