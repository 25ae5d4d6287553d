"""What callers see of the instance itself."""

from hashlib import sha1

import msgspec

from ingot.accounts.instance.settings import InstanceSettings, decode_settings
from ingot.accounts.instance.tables import BroadcastMessage, StoredSettings
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp


class VersionView(View):
    """What the server says that it is; clients switch their behaviour on it."""

    version: str
    revision: str


class AgentServerView(View, rename="camel"):
    """The agent server of the contract, which there is none of here."""

    enabled: bool
    external_url: str | None
    version: str | None


class MetadataView(View):
    """The version as later clients ask for it."""

    version: str
    revision: str
    kas: AgentServerView
    enterprise: bool


class SettingsView(InstanceSettings, frozen=True, kw_only=True):
    """All settings, some under a second name, by which later clients know them."""

    id: int
    polling_interval_multiplier: str  # type: ignore[assignment] # Clients of strict types expect its text.
    asset_proxy_whitelist: tuple[str, ...]
    domain_allowlist: tuple[str, ...]
    domain_denylist: tuple[str, ...]
    domain_denylist_enabled: bool
    password_authentication_enabled_for_web: bool
    created_at: Timestamp
    updated_at: Timestamp


class BroadcastMessageView(View):
    """A text that every page shows for a while."""

    id: int
    message: str
    starts_at: Timestamp
    ends_at: Timestamp
    color: str
    font: str
    active: bool


def version_view(version: str) -> VersionView:
    """The version, and a revision that is the same wherever the version is."""
    return VersionView(version, sha1(version.encode(), usedforsecurity=False).hexdigest()[:7])


def metadata_view(version: str) -> MetadataView:
    """The same with what else later clients ask."""
    said = version_view(version)
    return MetadataView(said.version, said.revision, AgentServerView(False, None, None), False)


def settings_view(stored: StoredSettings) -> SettingsView:
    """The settings in force."""
    settings = decode_settings(stored)
    return SettingsView(
        **{
            **msgspec.structs.asdict(settings),
            "polling_interval_multiplier": str(settings.polling_interval_multiplier),
        },
        id=stored.id,
        asset_proxy_whitelist=settings.asset_proxy_allowlist,
        domain_allowlist=settings.domain_whitelist,
        domain_denylist=settings.domain_blacklist,
        domain_denylist_enabled=settings.domain_blacklist_enabled,
        password_authentication_enabled_for_web=settings.signin_enabled,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def broadcast_message_view(message: BroadcastMessage, now: Timestamp) -> BroadcastMessageView:
    """The message, and whether pages show it now."""
    return BroadcastMessageView(
        message.id,
        message.message,
        message.starts_at,
        message.ends_at,
        message.color,
        message.font,
        message.starts_at <= now < message.ends_at,
    )
