"""Instance settings that administrators change while the server runs, with their defaults."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from sqlalchemy import select

from ingot.accounts.instance.tables import StoredSettings, instance_settings
from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import fixed
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp

Visibility = Literal["private", "internal", "public"]
GitProtocol = Literal["ssh", "http"]


class InstanceSettings(msgspec.Struct, frozen=True):
    """Settings that GitLab 9.4 has; docs/attributes.md lists their effects."""

    default_projects_limit: Annotated[
        int, Meta(description="Largest number of own projects of new users."), Affected.NEW_USERS
    ] = 100000
    signup_enabled: Annotated[
        bool, Meta(description="Users may create accounts at `/users/sign_up`."), Affected.SIGN_UPS
    ] = False
    signin_enabled: Annotated[bool, Meta(description="Users may sign in with their passwords."), Affected.PASSWORDS] = (
        True
    )
    gravatar_enabled: Annotated[bool, fixed("No email addresses are sent to third parties.")] = False
    sign_in_text: Annotated[str, Meta(description="Text of the sign-in page."), Affected.EVERYONE] | None = None
    after_sign_up_text: (
        Annotated[
            str,
            Meta(description="Text shown after signing up when the email address must be confirmed."),
            Affected.SIGN_UPS,
        ]
        | None
    ) = None
    home_page_url: (
        Annotated[
            str,
            Meta(description="Address to which the start page redirects users who are not signed in."),
            Affected.SIGNED_OUT,
        ]
        | None
    ) = None
    default_branch_protection: Annotated[
        int,
        Meta(description="Protection of the default branch of new projects; groups may have their own."),
        Affected.NEW_PROJECTS,
    ] = 2
    restricted_visibility_levels: Annotated[
        tuple[Visibility, ...],
        Meta(
            description="Levels that only administrators may set on projects and groups; with `public`, only "
            "administrators may list users."
        ),
        Affected.PROJECTS_AND_GROUPS,
    ] = ()
    max_attachment_size: Annotated[int, Meta(description="Largest uploaded file, in megabytes."), Affected.UPLOADS] = (
        100
    )
    session_expire_delay: Annotated[int, Meta(description="Minutes until a session expires."), Affected.SIGN_INS] = (
        10080
    )
    default_project_visibility: Annotated[
        Visibility, Meta(description="Visibility of new projects if the request names none."), Affected.NEW_PROJECTS
    ] = "private"
    default_snippet_visibility: Annotated[
        Visibility, Meta(description="Visibility that the page for new snippets proposes."), Affected.SNIPPETS
    ] = "private"
    default_group_visibility: Annotated[
        Visibility, Meta(description="Visibility of new groups if the request names none."), Affected.NEW_GROUPS
    ] = "private"
    default_artifacts_expire_in: Annotated[
        str,
        Meta(description="Time after which artifacts expire if the job does not say; 0 means never."),
        Affected.PIPELINES,
    ] = "0"
    domain_whitelist: Annotated[
        tuple[str, ...],
        Meta(description="Email domains that may sign up; `*` matches any part of a name."),
        Affected.SIGN_UPS,
    ] = ()
    domain_blacklist_enabled: Annotated[
        bool, Meta(description="Email domains of `domain_blacklist` may not sign up."), Affected.SIGN_UPS
    ] = False
    domain_blacklist: Annotated[
        tuple[str, ...],
        Meta(description="Email domains that may not sign up; `*` matches any part of a name."),
        Affected.SIGN_UPS,
    ] = ()
    user_oauth_applications: Annotated[
        bool, Meta(description="Users may register their own OAuth applications."), Affected.APPLICATIONS
    ] = True
    user_default_external: Annotated[bool, Meta(description="New users are external."), Affected.NEW_USERS] = False
    after_sign_out_path: (
        Annotated[
            str,
            Meta(description="Path of the page shown after signing out; other hosts are refused."),
            Affected.SIGN_INS,
        ]
        | None
    ) = None
    container_registry_token_expire_delay: Annotated[
        int, Meta(description="Minutes until a token of the container registry expires."), Affected.PACKAGES
    ] = 5
    repository_storage: Annotated[
        str,
        Meta(description="First name of `repository_storages`; setting it makes it the only one."),
        Affected.NEW_PROJECTS,
    ] = "default"
    repository_storages: Annotated[
        tuple[str, ...],
        Meta(description="Storages of new repositories: those with a weight; naming others gives them the weight 100."),
        Affected.NEW_PROJECTS,
    ] = ("default",)
    repository_storages_weighted: Annotated[
        dict[str, int], Meta(description="Weights of the repository storages for new projects."), Affected.NEW_PROJECTS
    ] = msgspec.field(default_factory=lambda: {"default": 100})
    koding_enabled: Annotated[bool, fixed("Koding is not available.")] = False
    koding_url: Annotated[str, fixed("Koding is not available.")] | None = None
    plantuml_enabled: Annotated[bool, fixed("PlantUML is not available.")] = False
    plantuml_url: Annotated[str, fixed("PlantUML is not available.")] | None = None
    terminal_max_session_time: Annotated[int, fixed("Terminals are not available.")] = 0
    polling_interval_multiplier: Annotated[float, fixed("Pages do not poll; the server sends changes to them.")] = 1.0
    help_page_hide_commercial_content: Annotated[
        bool, Meta(description="The help page shows no links to other sites."), Affected.EVERYONE
    ] = False
    help_page_text: Annotated[str, Meta(description="Text of the help page."), Affected.EVERYONE] | None = None
    help_page_support_url: (
        Annotated[str, Meta(description="Link to support on the help page."), Affected.EVERYONE] | None
    ) = None
    send_user_confirmation_email: Annotated[
        bool,
        Meta(description="Users who sign up, or are created with `confirm` false, must confirm their email address."),
        Affected.NEW_USERS,
    ] = False
    email_confirmation_setting: Annotated[
        Literal["off", "soft", "hard"],
        Meta(
            description="`hard`: users who sign up, or are created with `confirm` false, must confirm their address "
            "before they sign in; `soft`: within three days. `send_user_confirmation_email` follows."
        ),
        Affected.NEW_USERS,
    ] = "off"
    admin_notification_email: Annotated[str, fixed("Abuse reports are not available.")] | None = None
    enabled_git_access_protocol: (
        Annotated[
            GitProtocol,
            Meta(description="Git is allowed over this protocol only; pages show only its address."),
            Affected.EVERYONE,
        ]
        | None
    ) = None
    import_sources: Annotated[
        tuple[str, ...],
        Meta(
            description="Allowed imports: `git` from a URL, `github`, `gitea`, and `gitlab_project` of archives; "
            "other names have no effect, and `bulk_import_enabled` allows those from GitLab."
        ),
        Affected.IMPORTS,
    ] = ("github", "git", "gitlab_project", "gitea")
    disabled_oauth_sign_in_sources: Annotated[
        tuple[str, ...],
        Meta(description="With `openid_connect`, sign-in through the OpenID Connect provider is off."),
        Affected.SIGN_INS,
    ] = ()
    shared_runners_enabled: Annotated[
        bool, Meta(description="New projects use the runners of the instance."), Affected.NEW_PROJECTS
    ] = True
    shared_runners_text: (
        Annotated[
            str,
            Meta(description="Text about the runners of the instance on the CI settings of projects."),
            Affected.PROJECTS,
        ]
        | None
    ) = None
    max_artifacts_size: Annotated[
        int, Meta(description="Largest artifact archive, in megabytes."), Affected.PIPELINES
    ] = 100
    max_pages_size: Annotated[
        int,
        Meta(description="Largest site, in megabytes, when its files are decompressed; 0 means no limit."),
        Affected.SITES,
    ] = 100
    require_two_factor_authentication: Annotated[
        bool, Meta(description="All users must set up a second factor."), Affected.USERS
    ] = False
    require_admin_two_factor_authentication: Annotated[
        bool, Meta(description="Administrators must set up a second factor."), Affected.ADMINISTRATORS
    ] = False
    two_factor_grace_period: Annotated[
        int, Meta(description="Hours until users must have set up the second factor."), Affected.USERS
    ] = 48
    repository_checks_enabled: Annotated[bool, fixed("`ingot doctor` checks repositories.")] = False
    housekeeping_enabled: Annotated[bool, fixed("Repositories are packed when they need it.")] = True
    housekeeping_bitmaps_enabled: Annotated[bool, fixed("Packed repositories have bitmaps.")] = True
    housekeeping_incremental_repack_period: Annotated[int, fixed("Repositories are packed when they need it.")] = 10
    housekeeping_full_repack_period: Annotated[int, fixed("Repositories are packed when they need it.")] = 50
    housekeeping_gc_period: Annotated[int, fixed("Repositories are packed when they need it.")] = 200
    version_check_enabled: Annotated[bool, fixed("The server does not look for new versions.")] = False
    email_author_in_body: Annotated[bool, fixed("Mails name their author in the sender.")] = False
    html_emails_enabled: Annotated[
        bool, Meta(description="Mails have an HTML part besides the text."), Affected.MAILS
    ] = True
    asset_proxy_enabled: Annotated[bool, fixed("Images of other hosts are not fetched by the server.")] = False
    asset_proxy_url: Annotated[str, fixed("Images of other hosts are not fetched by the server.")] | None = None
    asset_proxy_allowlist: Annotated[
        tuple[str, ...], fixed("Images of other hosts are not fetched by the server.")
    ] = ()
    akismet_enabled: Annotated[bool, fixed("Akismet is not available.")] = False
    clientside_sentry_enabled: Annotated[bool, fixed("Sentry is not available.")] = False
    metrics_enabled: Annotated[bool, fixed("InfluxDB is not available.")] = False
    recaptcha_enabled: Annotated[bool, fixed("reCAPTCHA is not available.")] = False
    sentry_enabled: Annotated[bool, fixed("Sentry is not available.")] = False
    sidekiq_throttling_enabled: Annotated[bool, fixed("Sidekiq is not available.")] = False
    throttle_authenticated_api_enabled: Annotated[
        bool, Meta(description="API calls of each user are limited."), Affected.REQUESTS
    ] = False
    throttle_authenticated_api_requests_per_period: Annotated[
        int, Meta(description="API calls of a user in a period."), Affected.REQUESTS
    ] = 7200
    throttle_authenticated_api_period_in_seconds: Annotated[
        int, Meta(description="Length of that period in seconds."), Affected.REQUESTS
    ] = 3600
    throttle_unauthenticated_enabled: Annotated[
        bool,
        Meta(
            description="API calls and requests for pages without a user are limited for each address, unless "
            "`throttle_unauthenticated_api_enabled` or `throttle_unauthenticated_web_enabled` limits them."
        ),
        Affected.SIGNED_OUT,
    ] = False
    throttle_unauthenticated_requests_per_period: Annotated[
        int, Meta(description="Largest number in a period."), Affected.SIGNED_OUT
    ] = 3600
    throttle_unauthenticated_period_in_seconds: Annotated[
        int, Meta(description="Length of that period in seconds."), Affected.SIGNED_OUT
    ] = 3600

    def __post_init__(self) -> None:
        """Derive the way of confirmation where only the older of both settings was stored."""
        if self.send_user_confirmation_email != (self.email_confirmation_setting != "off"):
            mode = "hard" if self.send_user_confirmation_email else "off"
            msgspec.structs.force_setattr(self, "email_confirmation_setting", mode)


class SettingTimestamps(msgspec.Struct, frozen=True, omit_defaults=True):
    """Timestamps that are stored with the settings but cannot be set by callers."""

    two_factor_required_at: Timestamp | None = None
    admin_two_factor_required_at: Timestamp | None = None
    terms_updated_at: Timestamp | None = None


_STORED = select(instance_settings).where(instance_settings.c.id == 1)


def stored_settings(db: Connection) -> StoredSettings:
    """Return the stored row; defaults until the first start has written it."""
    stored = db.first(StoredSettings, _STORED)
    return stored or StoredSettings(1, "{}", db.now, db.now)


def decode_settings(stored: StoredSettings) -> InstanceSettings:
    """Return the settings of a stored row, with defaults for those that it omits."""
    return msgspec.json.decode(stored.document, type=InstanceSettings)


def current_settings(db: Connection) -> InstanceSettings:
    """Return the current settings."""
    return decode_settings(stored_settings(db))


def second_factor_required_since(stored: StoredSettings) -> Timestamp:
    """Return when two-factor authentication became required.

    Rows written before this was recorded fall back to their last change.
    """
    return msgspec.json.decode(stored.document, type=SettingTimestamps).two_factor_required_at or stored.updated_at


def admin_second_factor_required_since(stored: StoredSettings) -> Timestamp:
    """Return when two-factor authentication became required of administrators."""
    timestamps = msgspec.json.decode(stored.document, type=SettingTimestamps)
    return timestamps.admin_two_factor_required_at or stored.updated_at


def terms_changed_at(stored: StoredSettings) -> Timestamp | None:
    """Return when the terms of service were changed; None if there have never been any."""
    return msgspec.json.decode(stored.document, type=SettingTimestamps).terms_updated_at


def cached_stored_settings(db: Connection) -> StoredSettings:
    """Return the stored row from the read cache; nearly every call needs it."""
    stored = db.cached(("settings",), lambda: stored_settings(db), lambda row: len(row.document) + 200, lambda _: {})
    assert stored is not None  # noqa: S101 - stored_settings never returns None.
    return stored


def allows_protocol(db: Connection, protocol: GitProtocol) -> bool:
    """Check whether git access over this protocol is enabled."""
    return decode_settings(cached_stored_settings(db)).enabled_git_access_protocol in (None, protocol)


class _CloneSettings(msgspec.Struct):
    """The setting that concerns clone addresses; all_settings.py declares it."""

    custom_http_clone_url_root: str | None = None


def custom_clone_root(db: Connection) -> str | None:
    """Return the root of clone addresses over HTTP, if it is not the URL of the server."""
    document = cached_stored_settings(db).document
    return msgspec.json.decode(document, type=_CloneSettings).custom_http_clone_url_root or None
