"""Request parameters of the instance endpoints."""

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from ingot.accounts.instance.absent_settings import ABSENT_SETTINGS
from ingot.accounts.instance.all_settings import AllSettings
from ingot.accounts.instance.branch_protection import DEFAULTS, BranchProtectionParams
from ingot.accounts.instance.settings import InstanceSettings, Visibility
from ingot.core.api.declared_fields import fixed_values, params_of
from ingot.core.api.params import Params
from ingot.core.db.times import Timestamp

# Limited to 32 bits, so that no date computed from such a number overflows.
MAX_INTEGER = 2**31 - 1
Amount = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
Positive = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]
Factor = Annotated[float, Meta(ge=0, le=MAX_INTEGER)]
LongText = Annotated[str, Meta(max_length=1_000_000)]
ImportSource = Literal[
    "github",
    "bitbucket",
    "bitbucket_server",
    "gitlab",
    "google_code",
    "fogbugz",
    "git",
    "gitlab_project",
    "gitea",
    "manifest",
]

Flag = bool | UnsetType
Text = LongText | UnsetType | None
Texts = list[str] | UnsetType | None


_LISTS = (
    "notes_create_limit_allowlist",
    "outbound_local_requests_whitelist",
    "protected_paths",
    "protected_paths_for_get_request",
    "search_rate_limit_allowlist",
    "users_get_by_id_limit_allowlist",
    "valid_runner_registrars",
)
if TYPE_CHECKING:  # The fields are declared once, and created at run time.
    _MoreSettings = Params
else:
    _MoreSettings = params_of(AllSettings, without=(*InstanceSettings.__struct_fields__, *_LISTS, DEFAULTS))


class ModifySettings(_MoreSettings):
    """Settings to change; aliases used by later clients are listed last."""

    required = "400 (Bad request) at least one setting must be given"
    fixed_values: ClassVar[Mapping[str, Any]] = {**fixed_values(AllSettings), "asset_proxy_whitelist": []}
    names_unknown = True
    absent = frozenset(chain.from_iterable(ABSENT_SETTINGS.values()))
    notes_create_limit_allowlist: Texts = UNSET
    outbound_local_requests_whitelist: Texts = UNSET
    protected_paths: Texts = UNSET
    protected_paths_for_get_request: Texts = UNSET
    search_rate_limit_allowlist: Texts = UNSET
    users_get_by_id_limit_allowlist: Texts = UNSET
    valid_runner_registrars: list[Literal["project", "group"]] | UnsetType | None = UNSET
    default_projects_limit: Amount | UnsetType = UNSET
    signup_enabled: Flag = UNSET
    signin_enabled: Flag = UNSET
    gravatar_enabled: Flag = UNSET
    sign_in_text: Text = UNSET
    after_sign_up_text: Text = UNSET
    home_page_url: Text = UNSET
    default_branch_protection: Literal[0, 1, 2, 3, 4] | UnsetType = UNSET
    default_branch_protection_defaults: BranchProtectionParams | UnsetType = UNSET
    restricted_visibility_levels: list[Visibility] | UnsetType | None = UNSET
    max_attachment_size: Positive | UnsetType = UNSET
    session_expire_delay: Amount | UnsetType = UNSET
    default_project_visibility: Visibility | UnsetType = UNSET
    default_snippet_visibility: Visibility | UnsetType = UNSET
    default_group_visibility: Visibility | UnsetType = UNSET
    default_artifacts_expire_in: Annotated[str, Meta(max_length=255)] | UnsetType = UNSET
    domain_whitelist: Texts = UNSET
    domain_blacklist_enabled: Flag = UNSET
    domain_blacklist: Texts = UNSET
    user_oauth_applications: Flag = UNSET
    user_default_external: Flag = UNSET
    after_sign_out_path: Text = UNSET
    container_registry_token_expire_delay: Positive | UnsetType = UNSET
    repository_storage: str | UnsetType = UNSET
    repository_storages: list[str] | UnsetType = UNSET
    repository_storages_weighted: dict[str, Annotated[int, Meta(ge=0, le=100)]] | UnsetType = UNSET
    koding_enabled: Flag = UNSET
    koding_url: Text = UNSET
    plantuml_enabled: Flag = UNSET
    plantuml_url: Text = UNSET
    terminal_max_session_time: Amount | UnsetType = UNSET
    polling_interval_multiplier: Factor | UnsetType = UNSET
    help_page_hide_commercial_content: Flag = UNSET
    help_page_text: Text = UNSET
    help_page_support_url: Text = UNSET
    send_user_confirmation_email: Flag = UNSET
    email_confirmation_setting: Literal["off", "soft", "hard"] | UnsetType = UNSET
    admin_notification_email: Text = UNSET
    enabled_git_access_protocol: Literal["ssh", "http", "nil", "all"] | UnsetType | None = UNSET
    import_sources: list[ImportSource] | UnsetType | None = UNSET
    disabled_oauth_sign_in_sources: Texts = UNSET
    shared_runners_enabled: Flag = UNSET
    shared_runners_text: Text = UNSET
    max_artifacts_size: Positive | UnsetType = UNSET
    max_pages_size: Amount | UnsetType = UNSET
    require_two_factor_authentication: Flag = UNSET
    require_admin_two_factor_authentication: Flag = UNSET
    two_factor_grace_period: Amount | UnsetType = UNSET
    repository_checks_enabled: Flag = UNSET
    housekeeping_enabled: Flag = UNSET
    housekeeping_bitmaps_enabled: Flag = UNSET
    housekeeping_incremental_repack_period: Positive | UnsetType = UNSET
    housekeeping_full_repack_period: Positive | UnsetType = UNSET
    housekeeping_gc_period: Positive | UnsetType = UNSET
    version_check_enabled: Flag = UNSET
    email_author_in_body: Flag = UNSET
    html_emails_enabled: Flag = UNSET
    asset_proxy_enabled: Flag = UNSET
    asset_proxy_url: Text = UNSET
    asset_proxy_allowlist: Texts = UNSET
    akismet_enabled: Flag = UNSET
    clientside_sentry_enabled: Flag = UNSET
    metrics_enabled: Flag = UNSET
    recaptcha_enabled: Flag = UNSET
    sentry_enabled: Flag = UNSET
    sidekiq_throttling_enabled: Flag = UNSET
    throttle_authenticated_api_enabled: Flag = UNSET
    throttle_authenticated_api_requests_per_period: Positive | UnsetType = UNSET
    throttle_authenticated_api_period_in_seconds: Positive | UnsetType = UNSET
    throttle_unauthenticated_enabled: Flag = UNSET
    throttle_unauthenticated_requests_per_period: Positive | UnsetType = UNSET
    throttle_unauthenticated_period_in_seconds: Positive | UnsetType = UNSET
    asset_proxy_whitelist: Texts = UNSET
    domain_allowlist: Texts = UNSET
    domain_denylist: Texts = UNSET
    domain_denylist_enabled: Flag = UNSET
    password_authentication_enabled_for_web: Flag = UNSET


class CreateBroadcastMessage(Params):
    """A new message; by default it starts now and lasts for an hour."""

    message: LongText
    starts_at: Timestamp | UnsetType = UNSET
    ends_at: Timestamp | UnsetType = UNSET
    color: str | UnsetType | None = UNSET
    font: str | UnsetType | None = UNSET


class UpdateBroadcastMessage(Params):
    """Changes to a message."""

    message: LongText | UnsetType = UNSET
    starts_at: Timestamp | UnsetType = UNSET
    ends_at: Timestamp | UnsetType = UNSET
    color: str | UnsetType | None = UNSET
    font: str | UnsetType | None = UNSET
