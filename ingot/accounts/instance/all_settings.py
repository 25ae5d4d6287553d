"""Settings of the instance that today's clients send, in addition to those of the specification.

A description of a field states its effect; a field without an effect is fixed at the value that describes the server.
docs/attributes.md is generated from this struct. Keys, tokens and passwords of external services are not accepted.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ingot.accounts.instance.limit_settings import LimitSettings
from ingot.accounts.instance.settings import cached_stored_settings, stored_settings
from ingot.accounts.instance.tables import StoredSettings
from ingot.core.api.declared_fields import fixed
from ingot.core.db.connection import Connection

_Number = Annotated[int, Meta(ge=-1, le=2**53)]
_Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
_Months = Annotated[int, Meta(ge=1, le=1200)]
_Fraction = Annotated[float, Meta(ge=0, le=2**31)]
_Line = Annotated[str, Meta(max_length=10_000)]
_TokenLifetime = Annotated[
    int,
    Meta(
        ge=7200,
        le=2**31,
        description="Seconds until new tokens of such runners expire; null means never. "
        "`runner_token_expiration_interval` is that of runners of the instance.",
    ),
]
NeedsLimit = Annotated[
    int,
    Meta(ge=0, le=10_000, description="Largest number of jobs that one CI job may need; null is the startup setting."),
]
DotenvSize = Annotated[int, Meta(ge=1, le=2**20, description="Largest dotenv report, in bytes.")]
DotenvVariables = Annotated[int, Meta(ge=1, le=1000, description="Largest number of variables of a dotenv report.")]


class AllSettings(LimitSettings, frozen=True):
    """All settings that can be stored."""

    admin_mode: Annotated[
        bool,
        Meta(
            description="Administrators act as such only for six hours after they have signed in again for it, and "
            "with tokens that have the scope `admin_mode`; git is not affected."
        ),
    ] = False
    allow_account_deletion: Annotated[
        bool, Meta(description="Users may delete their accounts; administrators always may.")
    ] = True
    allow_project_creation_for_guest_and_below: Annotated[
        bool, Meta(description="False lets users create projects of their own only if they are reporters somewhere.")
    ] = True
    allow_runner_registration_token: Annotated[
        bool, Meta(description="Runners may register with registration tokens; otherwise they are created first.")
    ] = True
    anonymous_searches_allowed: Annotated[
        bool, Meta(description="False refuses searches for projects without a user; other searches need one anyway.")
    ] = True
    archive_builds_in_human_readable: (
        Annotated[
            _Line,
            Meta(description="Age of pipelines, at least a day, from which their jobs cannot be started or retried."),
        ]
        | None
    ) = None
    auto_devops_enabled: Annotated[bool, fixed("Auto DevOps is not available.")] = False
    bulk_import_enabled: Annotated[
        bool, Meta(description="False refuses imports of groups and projects from GitLab and from other Ingots.")
    ] = True
    can_create_group: Annotated[bool, Meta(description="Whether new users may create groups.")] = True
    ci_instance_level_variables: Annotated[
        _Number, Meta(description="Largest number of CI variables of the instance; 0 means no limit.")
    ] = 0
    ci_needs_size_limit: NeedsLimit | None = None
    ci_pipeline_schedules: Annotated[
        _Number, Meta(description="Largest number of pipeline schedules of a project; 0 means no limit.")
    ] = 0
    commit_email_hostname: (
        Annotated[
            _Line,
            Meta(
                description="Host of private addresses of users for commits; without it, `users.noreply.` and the host "
                "of the server."
            ),
        ]
        | None
    ) = None
    custom_http_clone_url_root: (
        Annotated[
            _Line,
            Meta(description="Beginning of shown clone addresses over HTTP; without it, the URL of the server."),
        ]
        | None
    ) = None
    deactivate_dormant_users: Annotated[
        bool, Meta(description="Users other than administrators who are not active for a time are deactivated.")
    ] = False
    deactivate_dormant_users_period: Annotated[
        int, Meta(ge=90, le=36_500, description="Days without activity after which a user is deactivated.")
    ] = 90
    default_branch_name: Annotated[str, Meta(max_length=255, description="Default branch of new projects.")] | None = (
        None
    )
    default_ci_config_path: (
        Annotated[_Line, Meta(description="Path of the CI configuration of new projects; without it `.gitlab-ci.yml`.")]
        | None
    ) = None
    default_preferred_language: Annotated[
        Literal["en", "de"],
        Meta(
            description="Language of pages for users who have chosen none; with `en`, that of the browser if available."
        ),
    ] = "en"
    default_project_creation: Annotated[
        Literal[0, 1, 2, 3, 4],
        Meta(
            description="Level that members of new groups need to create projects: 0 no one, 1 maintainers, "
            "2 developers, 3 administrators, 4 owners."
        ),
    ] = 2
    delete_inactive_projects: Annotated[
        bool, Meta(description="Projects without activity are deleted, after a mail to their maintainers.")
    ] = False
    deletion_adjourned_period: Annotated[
        int,
        Meta(
            ge=0,
            le=90,
            description="Days for which owners can restore deleted projects and groups; 0 deletes them at once. "
            "A new period holds for those that are scheduled already, too.",
        ),
    ] = 0
    disable_admin_oauth_scopes: Annotated[
        bool,
        Meta(
            description="Administrators cannot grant applications access to the API, repositories or registries, nor "
            "get such tokens with their password (OAuth)."
        ),
    ] = False
    dynamic_client_registration_enabled: Annotated[
        bool, Meta(description="OAuth clients such as agents can register themselves (RFC 7591).")
    ] = True
    disable_feed_token: Annotated[bool, Meta(description="Feed tokens are neither shown nor accepted.")] = False
    disable_overriding_approvers_per_merge_request: Annotated[
        bool, Meta(description="Merge requests of all projects cannot have approval rules of their own.")
    ] = False
    dotenv_size: DotenvSize = 5120
    dotenv_variables: DotenvVariables = 20
    downstream_pipeline_trigger_limit_per_project_user_sha: Annotated[
        _Number,
        Meta(
            description="Downstream pipelines that a user may start in a minute from a commit of a project; 0 means no "
            "limit."
        ),
    ] = 0
    dsa_key_restriction: Annotated[_Number, fixed("OpenSSH does not accept DSA keys any more.")] = -1
    ecdsa_key_restriction: Annotated[
        Literal[0, -1, 256, 384, 521],
        Meta(description="Smallest size of such SSH keys in bits; 0 allows all, -1 none."),
    ] = 0
    ecdsa_sk_key_restriction: Annotated[
        Literal[0, -1, 256], Meta(description="SSH keys of this type: 0 or 256 allows them, -1 does not.")
    ] = 0
    ed25519_key_restriction: Annotated[
        Literal[0, -1, 256], Meta(description="SSH keys of this type: 0 or 256 allows them, -1 does not.")
    ] = 0
    ed25519_sk_key_restriction: Annotated[
        Literal[0, -1, 256], Meta(description="SSH keys of this type: 0 or 256 allows them, -1 does not.")
    ] = 0
    email_restrictions: (
        Annotated[
            str,
            Meta(
                max_length=10_000,
                description="Regular expression (RE2, ignores case) of addresses that may not sign up.",
            ),
        ]
        | None
    ) = None
    email_restrictions_enabled: Annotated[
        bool,
        Meta(description="Addresses that match `email_restrictions` may not sign up, be invited or be added by users."),
    ] = False
    enforce_terms: Annotated[
        bool,
        Meta(description="Users must accept `terms` before they use pages, the API or git; bots need not."),
    ] = False
    failed_login_attempts_unlock_period_in_minutes: (
        Annotated[int, Meta(ge=1, le=525_600, description="Minutes until a locked account is unlocked; null means 10.")]
        | None
    ) = None
    # Not GitLab's 0, because calendars have always begun on Monday here.
    first_day_of_week: Annotated[
        Literal[0, 1, 6],
        Meta(description="Day on which the weeks of calendars begin: 0 Sunday, 1 Monday, 6 Saturday."),
    ] = 1
    global_search_block_anonymous_searches_enabled: Annotated[
        bool, Meta(description="True refuses searches for projects without a user.")
    ] = False
    global_search_issues_enabled: Annotated[
        bool, Meta(description="False refuses searches for issues in the whole instance.")
    ] = True
    global_search_merge_requests_enabled: Annotated[
        bool, Meta(description="False refuses searches for merge requests in the whole instance.")
    ] = True
    global_search_snippet_titles_enabled: Annotated[
        bool, Meta(description="False refuses searches for titles of snippets in the whole instance.")
    ] = True
    global_search_users_enabled: Annotated[
        bool, Meta(description="False refuses searches for users in the whole instance.")
    ] = True
    globally_allowed_ips: (
        Annotated[
            _Line,
            Meta(description="Networks, separated by commas, from which groups with `ip_restriction_ranges` are open."),
        ]
        | None
    ) = ""
    group_runner_token_expiration_interval: _TokenLifetime | None = None
    hashed_storage_enabled: Annotated[bool, fixed("Repositories are stored under hashed names.")] = True
    inactive_projects_delete_after_months: Annotated[
        _Months, Meta(description="Months (of 30 days) without activity after which a project is deleted.")
    ] = 2
    inactive_projects_min_size_mb: Annotated[
        int, Meta(ge=0, le=2**31 - 1, description="Size in megabytes from which a repository is deleted so.")
    ] = 0
    inactive_projects_send_warning_email_after_months: Annotated[
        _Months, Meta(description="Months without activity after which maintainers get the mail.")
    ] = 1
    keep_latest_artifact: Annotated[
        bool,
        Meta(
            description="False deletes expired artifacts also if they belong to the newest pipeline of a branch or tag."
        ),
    ] = True
    math_rendering_limits_enabled: Annotated[bool, fixed("The limits of formulas cannot be changed.")] = True
    max_login_attempts: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=10_000,
                description="Failed sign-ins after which the password of an account is refused until it is unlocked; "
                "null means never. Attempts are limited by address and account in any case.",
            ),
        ]
        | None
    ) = None
    minimum_password_length: Annotated[int, Meta(ge=8, le=128, description="Smallest length of new passwords.")] = 8
    mirror_available: Annotated[bool, Meta(description="False lets only administrators set up mirrors.")] = True
    notify_on_unknown_sign_in: Annotated[
        bool, Meta(description="Users get a mail about a sign-in from a network where they had not signed in before.")
    ] = False
    package_registry_allow_anyone_to_pull_option: Annotated[
        bool, fixed("Packages are readable by those who can read the project, whatever its level is.")
    ] = False
    pages_domain_verification_enabled: Annotated[
        bool, Meta(description="Custom domains of sites are served only while their TXT record exists.")
    ] = True
    pages_extra_deployments_default_expiry_seconds: Annotated[
        int,
        Meta(ge=0, le=2**31 - 1, description="Seconds until sites with a path prefix expire; 0 means never."),
    ] = 86_400
    password_authentication_enabled_for_git: Annotated[
        bool,
        Meta(description="Git over HTTP accepts passwords; also requires `signin_enabled`. Not for passwords of LDAP."),
    ] = True
    password_lowercase_required: Annotated[bool, Meta(description="New passwords need a lowercase letter.")] = False
    password_number_required: Annotated[bool, Meta(description="New passwords need a number.")] = False
    password_symbol_required: Annotated[
        bool, Meta(description="New passwords need a character that is neither a letter, a number nor a space.")
    ] = False
    password_uppercase_required: Annotated[bool, Meta(description="New passwords need an uppercase letter.")] = False
    personal_access_token_prefix: (
        Annotated[str, Meta(max_length=20, description="Prefix of new personal, project and group access tokens.")]
        | None
    ) = "ingotp-"  # noqa: S105 - A prefix, not a secret.
    pipeline_limit_per_project_user_sha: Annotated[
        _Number,
        Meta(description="Pipelines that a user may create in a minute for a commit of a project; 0 means no limit."),
    ] = 0
    prevent_merge_requests_author_approval: Annotated[
        bool, Meta(description="Authors cannot approve their merge requests in any project.")
    ] = False
    prevent_merge_requests_committers_approval: Annotated[
        bool, Meta(description="Committers cannot approve merge requests with their commits in any project.")
    ] = False
    project_export_enabled: Annotated[bool, Meta(description="False refuses exports of projects.")] = True
    project_runner_token_expiration_interval: _TokenLifetime | None = None
    prometheus_metrics_enabled: Annotated[bool, fixed("`/-/metrics` is always available.")] = True
    protected_ci_variables: Annotated[
        bool, Meta(description="The page for new CI variables proposes that they are protected.")
    ] = False
    push_event_activities_limit: Annotated[_Number, fixed("A push is one activity.")] = 3
    # Not GitLab's 3, above which ordinary pushes of a few branches would send nothing.
    push_event_hooks_limit: Annotated[
        _Number,
        Meta(
            description="Number of branches and tags in one push above which webhooks and integrations get no push "
            "events; at most 1,000."
        ),
    ] = 100
    remember_me_enabled: Annotated[
        bool,
        Meta(description="The sign-in page offers sessions of two weeks that outlast the browser."),
    ] = True
    require_admin_approval_after_user_signup: Annotated[
        bool, Meta(description="Users who sign up cannot sign in until an administrator approves them.")
    ] = False
    require_personal_access_token_expiry: Annotated[
        bool,
        Meta(description="New personal and impersonation tokens need an expiry date; those of projects have one."),
    ] = False
    resource_access_token_notify_inherited: Annotated[
        bool, fixed("Only owners of the group or project get a mail.")
    ] = False
    ropc_without_client_credentials: Annotated[
        bool, Meta(description="OAuth's password grant needs no application.")
    ] = True
    rsa_key_restriction: Annotated[
        Literal[0, -1, 2048, 3072, 4096],
        Meta(description="Smallest size of RSA keys in bits; 0 means 2048, and -1 allows none."),
    ] = 0
    runner_token_expiration_interval: _TokenLifetime | None = None
    security_txt_content: (
        Annotated[_Line, Meta(description="Text that is served as security.txt below `/.well-known`.")] | None
    ) = None
    service_access_tokens_expiration_enforced: Annotated[bool, fixed("There are no service accounts.")] = False
    # Not GitLab's false: a session that is used does not stay valid for ever.
    session_expire_from_init: Annotated[
        bool,
        Meta(description="Sessions expire `session_expire_delay` after the sign-in; false: after their last use."),
    ] = True
    terms: (
        Annotated[
            str,
            Meta(
                max_length=100_000,
                description="Terms of service in Markdown. After a change, users must accept them again; the "
                "administrator who changes them has accepted them.",
            ),
        ]
        | None
    ) = None
    time_tracking_limit_to_hours: Annotated[bool, fixed("Durations are shown in days and weeks too.")] = False
    unique_ips_limit_enabled: Annotated[
        bool,
        Meta(
            description="A user is refused at further addresses (IPv6: networks of 64 bits) after "
            "`unique_ips_limit_per_user` others; jobs do not count."
        ),
    ] = False
    unique_ips_limit_per_user: Annotated[
        _Positive, Meta(description="Addresses of a user in `unique_ips_limit_time_window`.")
    ] = 10
    unique_ips_limit_time_window: Annotated[
        _Positive, Meta(description="Seconds for which an address of a user counts after its last use.")
    ] = 3600
    updating_name_disabled_for_users: Annotated[
        bool, Meta(description="Only administrators may change the names of users.")
    ] = False
    user_deactivation_emails_enabled: Annotated[
        bool, Meta(description="Users get a mail when they are deactivated.")
    ] = False
    user_default_internal_regex: (
        Annotated[
            str,
            Meta(
                max_length=10_000,
                description="Regular expression (RE2, ignores case) of addresses of new users who are not external, "
                "although `user_default_external` is on.",
            ),
        ]
        | None
    ) = None
    user_defaults_to_private_profile: Annotated[bool, Meta(description="Profiles of new users are private.")] = False
    valid_runner_registrars: Annotated[
        tuple[Literal["project", "group"], ...],
        Meta(description="Who may register and create runners besides administrators."),
    ] = ("project", "group")


def decode_all_settings(stored: StoredSettings) -> AllSettings:
    """Return all settings of a stored row, with defaults for those that it omits."""
    return msgspec.json.decode(stored.document, type=AllSettings)


def all_settings(db: Connection) -> AllSettings:
    """Return all current settings; ``current_settings`` is faster where the frequent ones suffice."""
    return decode_all_settings(stored_settings(db))


def cached_all_settings(db: Connection) -> AllSettings:
    """Return all current settings from the read cache."""
    return decode_all_settings(cached_stored_settings(db))
