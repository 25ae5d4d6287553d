"""Settings of the instance that today's clients send, in addition to those of the specification.

A description of a field states its effect; a field without an effect is fixed at the value that describes the server.
docs/attributes.md is generated from this struct. Keys, tokens and passwords of external services are not accepted.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ingot.accounts.instance.account_settings import AccountSettings
from ingot.accounts.instance.branch_protection import BranchProtection, stored_protection
from ingot.accounts.instance.settings import cached_stored_settings, stored_settings
from ingot.accounts.instance.tables import StoredSettings
from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import fixed
from ingot.core.db.connection import Connection

_Number = Annotated[int, Meta(ge=-1, le=2**53)]
_Months = Annotated[int, Meta(ge=1, le=1200)]
_Line = Annotated[str, Meta(max_length=10_000)]
_TokenLifetime = Annotated[
    int,
    Meta(
        ge=7200,
        le=2**31,
        description="Seconds until new tokens of such runners expire; null means never. "
        "`runner_token_expiration_interval` is that of runners of the instance.",
    ),
    Affected.RUNNERS,
]
NeedsLimit = Annotated[
    int,
    Meta(ge=0, le=10_000, description="Largest number of jobs that one CI job may need; null is the startup setting."),
    Affected.PIPELINES,
]
DotenvSize = Annotated[int, Meta(ge=1, le=2**20, description="Largest dotenv report, in bytes."), Affected.PIPELINES]
DotenvVariables = Annotated[
    int, Meta(ge=1, le=1000, description="Largest number of variables of a dotenv report."), Affected.PIPELINES
]


class AllSettings(AccountSettings, frozen=True):
    """All settings that can be stored."""

    allow_runner_registration_token: Annotated[
        bool,
        Meta(description="Runners may register with registration tokens; otherwise they are created first."),
        Affected.RUNNERS,
    ] = True
    anonymous_searches_allowed: Annotated[
        bool,
        Meta(description="If off, only signed-in users can search for projects; other searches need a user anyway."),
        Affected.SIGNED_OUT,
    ] = True
    archive_builds_in_human_readable: (
        Annotated[
            _Line,
            Meta(description="Age of pipelines, at least a day, from which their jobs cannot be started or retried."),
            Affected.PIPELINES,
        ]
        | None
    ) = None
    auto_devops_enabled: Annotated[bool, fixed("Auto DevOps is not available.")] = False
    bulk_import_enabled: Annotated[
        bool,
        Meta(description="If off, groups and projects cannot be imported from GitLab or other Ingots."),
        Affected.IMPORTS,
    ] = True
    ci_instance_level_variables: Annotated[
        _Number,
        Meta(description="Largest number of CI variables of the instance; 0 means no limit."),
        Affected.PIPELINES,
    ] = 0
    ci_needs_size_limit: NeedsLimit | None = None
    ci_pipeline_schedules: Annotated[
        _Number,
        Meta(description="Largest number of pipeline schedules of a project; 0 means no limit."),
        Affected.PIPELINES,
    ] = 0
    custom_http_clone_url_root: (
        Annotated[
            _Line,
            Meta(description="Beginning of shown clone addresses over HTTP; without it, the URL of the server."),
            Affected.EVERYONE,
        ]
        | None
    ) = None
    default_branch_name: (
        Annotated[str, Meta(max_length=255, description="Default branch of new projects."), Affected.NEW_PROJECTS]
        | None
    ) = None
    default_branch_protection_defaults: Annotated[
        BranchProtection,
        Meta(
            description="Levels that pushes and merges need by default, whether pushes may be forced, and whether "
            "developers may push the first branch; `default_branch_protection` follows."
        ),
        Affected.NEW_PROJECTS,
    ] = BranchProtection()
    default_ci_config_path: (
        Annotated[
            _Line,
            Meta(description="Path of the CI configuration of new projects; without it `.gitlab-ci.yml`."),
            Affected.NEW_PROJECTS,
        ]
        | None
    ) = None
    default_project_deletion_protection: Annotated[
        bool,
        Meta(
            description="Only administrators can delete projects and groups; users who delete their accounts still "
            "delete their own."
        ),
        Affected.PROJECTS_AND_GROUPS,
    ] = False
    default_project_creation: Annotated[
        Literal[0, 1, 2, 3, 4],
        Meta(
            description="Level that members of new groups need to create projects: 0 no one, 1 maintainers, "
            "2 developers, 3 administrators, 4 owners."
        ),
        Affected.NEW_GROUPS,
    ] = 2
    delete_inactive_projects: Annotated[
        bool,
        Meta(description="Projects without activity are deleted, after a mail to their maintainers."),
        Affected.INACTIVE_PROJECTS,
    ] = False
    deletion_adjourned_period: Annotated[
        int,
        Meta(
            ge=0,
            le=90,
            description="Days for which owners can restore deleted projects and groups; 0 deletes them at once. "
            "A new period holds for those that are scheduled already, too.",
        ),
        Affected.PROJECTS_AND_GROUPS,
    ] = 0
    disable_overriding_approvers_per_merge_request: Annotated[
        bool,
        Meta(description="Merge requests of all projects cannot have approval rules of their own."),
        Affected.PROJECTS,
    ] = False
    dotenv_size: DotenvSize = 5120
    dotenv_variables: DotenvVariables = 20
    downstream_pipeline_trigger_limit_per_project_user_sha: Annotated[
        _Number,
        Meta(
            description="Downstream pipelines that a user may start in a minute from a commit of a project; 0 means no "
            "limit."
        ),
        Affected.PIPELINES,
    ] = 0
    # Not GitLab's 0, because calendars have always begun on Monday here.
    first_day_of_week: Annotated[
        Literal[0, 1, 6],
        Meta(description="Day on which the weeks of calendars begin: 0 Sunday, 1 Monday, 6 Saturday."),
        Affected.USERS,
    ] = 1
    global_search_block_anonymous_searches_enabled: Annotated[
        bool, Meta(description="True refuses searches for projects without a user."), Affected.SIGNED_OUT
    ] = False
    global_search_issues_enabled: Annotated[
        bool, Meta(description="If off, nobody can search the issues of the whole instance."), Affected.REQUESTS
    ] = True
    global_search_merge_requests_enabled: Annotated[
        bool, Meta(description="If off, nobody can search the merge requests of the whole instance."), Affected.REQUESTS
    ] = True
    global_search_snippet_titles_enabled: Annotated[
        bool,
        Meta(description="If off, nobody can search the titles of snippets of the whole instance."),
        Affected.REQUESTS,
    ] = True
    global_search_users_enabled: Annotated[
        bool, Meta(description="If off, nobody can search the users of the whole instance."), Affected.REQUESTS
    ] = True
    group_runner_token_expiration_interval: _TokenLifetime | None = None
    group_owners_can_manage_default_branch_protection: Annotated[
        bool,
        Meta(description="If off, only administrators can change the default protection of branches of groups."),
        Affected.GROUP_OWNERS,
    ] = True
    hashed_storage_enabled: Annotated[bool, fixed("Repositories are stored under hashed names.")] = True
    inactive_projects_delete_after_months: Annotated[
        _Months,
        Meta(description="Months (of 30 days) without activity after which a project is deleted."),
        Affected.INACTIVE_PROJECTS,
    ] = 2
    inactive_projects_min_size_mb: Annotated[
        int,
        Meta(ge=0, le=2**31 - 1, description="Size in megabytes from which a repository is deleted so."),
        Affected.INACTIVE_PROJECTS,
    ] = 0
    inactive_projects_send_warning_email_after_months: Annotated[
        _Months,
        Meta(description="Months without activity after which maintainers get the mail."),
        Affected.INACTIVE_PROJECTS,
    ] = 1
    keep_latest_artifact: Annotated[
        bool,
        Meta(description="If off, expired artifacts of the newest pipeline of a branch or tag are deleted, too."),
        Affected.PIPELINES,
    ] = True
    math_rendering_limits_enabled: Annotated[bool, fixed("The limits of formulas cannot be changed.")] = True
    mirror_available: Annotated[
        bool, Meta(description="If off, only administrators can set up mirrors."), Affected.PROJECTS
    ] = True
    package_registry_allow_anyone_to_pull_option: Annotated[
        bool, fixed("Packages are readable by those who can read the project, whatever its level is.")
    ] = False
    pages_domain_verification_enabled: Annotated[
        bool, Meta(description="Custom domains of sites are served only while their TXT record exists."), Affected.SITES
    ] = True
    pages_extra_deployments_default_expiry_seconds: Annotated[
        int,
        Meta(ge=0, le=2**31 - 1, description="Seconds until sites with a path prefix expire; 0 means never."),
        Affected.SITES,
    ] = 86_400
    pipeline_limit_per_project_user_sha: Annotated[
        _Number,
        Meta(description="Pipelines that a user may create in a minute for a commit of a project; 0 means no limit."),
        Affected.PIPELINES,
    ] = 0
    prevent_merge_requests_author_approval: Annotated[
        bool, Meta(description="Authors cannot approve their merge requests in any project."), Affected.PROJECTS
    ] = False
    prevent_merge_requests_committers_approval: Annotated[
        bool,
        Meta(description="Committers cannot approve merge requests with their commits in any project."),
        Affected.PROJECTS,
    ] = False
    project_export_enabled: Annotated[
        bool, Meta(description="If off, projects cannot be exported."), Affected.EXPORTS
    ] = True
    project_runner_token_expiration_interval: _TokenLifetime | None = None
    prometheus_metrics_enabled: Annotated[bool, fixed("`/-/metrics` is always available.")] = True
    protected_ci_variables: Annotated[
        bool, Meta(description="The page for new CI variables proposes that they are protected."), Affected.PIPELINES
    ] = False
    push_event_activities_limit: Annotated[_Number, fixed("A push is one activity.")] = 3
    # Not GitLab's 3, above which ordinary pushes of a few branches would send nothing.
    push_event_hooks_limit: Annotated[
        _Number,
        Meta(
            description="Number of branches and tags in one push above which webhooks and integrations get no push "
            "events; at most 1,000."
        ),
        Affected.PUSHES,
    ] = 100
    resource_access_token_notify_inherited: Annotated[
        bool, fixed("Only owners of the group or project get a mail.")
    ] = False
    runner_token_expiration_interval: _TokenLifetime | None = None
    security_txt_content: (
        Annotated[
            _Line, Meta(description="Text that is served as security.txt below `/.well-known`."), Affected.EVERYONE
        ]
        | None
    ) = None
    time_tracking_limit_to_hours: Annotated[bool, fixed("Durations are shown in days and weeks too.")] = False
    valid_runner_registrars: Annotated[
        tuple[Literal["project", "group"], ...],
        Meta(description="Who may register and create runners besides administrators."),
        Affected.RUNNERS,
    ] = ("project", "group")

    def __post_init__(self) -> None:
        """Derive the default protection where only the number was stored."""
        super().__post_init__()
        protection = stored_protection(self.default_branch_protection, self.default_branch_protection_defaults)
        msgspec.structs.force_setattr(self, "default_branch_protection_defaults", protection)


def decode_all_settings(stored: StoredSettings) -> AllSettings:
    """Return all settings of a stored row, with defaults for those that it omits."""
    return msgspec.json.decode(stored.document, type=AllSettings)


def all_settings(db: Connection) -> AllSettings:
    """Return all current settings; ``current_settings`` is faster where the frequent ones suffice."""
    return decode_all_settings(stored_settings(db))


def cached_all_settings(db: Connection) -> AllSettings:
    """Return all current settings from the read cache."""
    return decode_all_settings(cached_stored_settings(db))
