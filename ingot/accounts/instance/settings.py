"""Instance settings that administrators change while the server runs, with their defaults."""

from typing import Literal

import msgspec
from sqlalchemy import select

from ingot.accounts.instance.tables import StoredSettings, instance_settings
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp

Visibility = Literal["private", "internal", "public"]
GitProtocol = Literal["ssh", "http"]


class InstanceSettings(msgspec.Struct, frozen=True):
    """Settings with the names and meanings of the specification; docs/settings.md lists those that have an effect."""

    default_projects_limit: int = 100000
    signup_enabled: bool = False
    signin_enabled: bool = True
    gravatar_enabled: bool = False
    sign_in_text: str | None = None
    after_sign_up_text: str | None = None
    home_page_url: str | None = None
    default_branch_protection: int = 2
    restricted_visibility_levels: tuple[Visibility, ...] = ()
    max_attachment_size: int = 100
    session_expire_delay: int = 10080
    default_project_visibility: Visibility = "private"
    default_snippet_visibility: Visibility = "private"
    default_group_visibility: Visibility = "private"
    default_artifacts_expire_in: str = "0"
    domain_whitelist: tuple[str, ...] = ()
    domain_blacklist_enabled: bool = False
    domain_blacklist: tuple[str, ...] = ()
    user_oauth_applications: bool = True
    user_default_external: bool = False
    after_sign_out_path: str | None = None
    container_registry_token_expire_delay: int = 5
    repository_storage: str = "default"
    repository_storages: tuple[str, ...] = ("default",)
    repository_storages_weighted: dict[str, int] = msgspec.field(default_factory=lambda: {"default": 100})
    koding_enabled: bool = False
    koding_url: str | None = None
    plantuml_enabled: bool = False
    plantuml_url: str | None = None
    terminal_max_session_time: int = 0
    polling_interval_multiplier: float = 1.0
    help_page_hide_commercial_content: bool = False
    help_page_text: str | None = None
    help_page_support_url: str | None = None
    send_user_confirmation_email: bool = False
    admin_notification_email: str | None = None
    enabled_git_access_protocol: GitProtocol | None = None
    import_sources: tuple[str, ...] = ("git",)
    disabled_oauth_sign_in_sources: tuple[str, ...] = ()
    shared_runners_enabled: bool = True
    shared_runners_text: str | None = None
    max_artifacts_size: int = 100
    max_pages_size: int = 100
    require_two_factor_authentication: bool = False
    two_factor_grace_period: int = 48
    repository_checks_enabled: bool = False
    housekeeping_enabled: bool = True
    housekeeping_bitmaps_enabled: bool = True
    housekeeping_incremental_repack_period: int = 10
    housekeeping_full_repack_period: int = 50
    housekeeping_gc_period: int = 200
    version_check_enabled: bool = False
    email_author_in_body: bool = False
    html_emails_enabled: bool = True
    asset_proxy_enabled: bool = False
    asset_proxy_url: str | None = None
    asset_proxy_allowlist: tuple[str, ...] = ()
    akismet_enabled: bool = False
    clientside_sentry_enabled: bool = False
    metrics_enabled: bool = False
    recaptcha_enabled: bool = False
    sentry_enabled: bool = False
    sidekiq_throttling_enabled: bool = False
    throttle_authenticated_api_enabled: bool = False
    throttle_authenticated_api_requests_per_period: int = 7200
    throttle_authenticated_api_period_in_seconds: int = 3600
    throttle_unauthenticated_enabled: bool = False
    throttle_unauthenticated_requests_per_period: int = 3600
    throttle_unauthenticated_period_in_seconds: int = 3600


class SettingTimestamps(msgspec.Struct, frozen=True, omit_defaults=True):
    """Timestamps that are stored with the settings but cannot be set by callers."""

    two_factor_required_at: Timestamp | None = None


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


def cached_stored_settings(db: Connection) -> StoredSettings:
    """Return the stored row from the read cache; nearly every call needs it."""
    stored = db.cached(("settings",), lambda: stored_settings(db), lambda row: len(row.document) + 200, lambda _: {})
    assert stored is not None  # noqa: S101 - stored_settings never returns None.
    return stored


def allows_protocol(db: Connection, protocol: GitProtocol) -> bool:
    """Check whether git access over this protocol is enabled."""
    return decode_settings(cached_stored_settings(db)).enabled_git_access_protocol in (None, protocol)
