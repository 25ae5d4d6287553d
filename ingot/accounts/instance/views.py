"""Response structs of the instance."""

from hashlib import sha1

import msgspec

from ingot.accounts.instance.all_settings import AllSettings, decode_all_settings
from ingot.accounts.instance.ports import RunnerRegistration
from ingot.accounts.instance.queries import current_broadcasts
from ingot.accounts.instance.tables import BroadcastMessage, StoredSettings
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.nodes.queries import Node
from ingot.core.version import product_version


class VersionView(View):
    """Reported version of the server; clients adapt their behavior to it."""

    version: str
    revision: str
    ingot_version: str
    """Version of this program."""


class NodeView(View):
    """Machine that serves the instance."""

    name: str
    roles: list[str]
    address: str
    version: str
    clock_offset: float
    """Seconds by which its clock is ahead of the database server's."""
    started_at: Timestamp
    last_seen_at: Timestamp
    online: bool


class AgentServerView(View, rename="camel"):
    """Kubernetes agent server of the specification, which this server does not have."""

    enabled: bool
    external_url: str | None
    version: str | None


class MetadataView(View):
    """Version in the format of later clients."""

    version: str
    revision: str
    ingot_version: str
    kas: AgentServerView
    enterprise: bool


class SettingsView(AllSettings, frozen=True, kw_only=True):
    """All settings, some of them also under the names of later clients."""

    id: int
    polling_interval_multiplier: str  # type: ignore[assignment] # Strictly typed clients expect a string.
    asset_proxy_whitelist: tuple[str, ...]
    domain_allowlist: tuple[str, ...]
    domain_denylist: tuple[str, ...]
    domain_denylist_enabled: bool
    password_authentication_enabled_for_web: bool
    runners_registration_token: str | None
    created_at: Timestamp
    updated_at: Timestamp


class BroadcastMessageView(View):
    """A broadcast message."""

    id: int
    message: str
    starts_at: Timestamp
    ends_at: Timestamp
    color: str
    font: str
    active: bool


def version_view(version: str) -> VersionView:
    """Return the version with a revision that depends only on the version."""
    revision = sha1(version.encode(), usedforsecurity=False).hexdigest()[:7]
    return VersionView(version, revision, product_version())


def metadata_view(version: str) -> MetadataView:
    """Return the version with the fields that later clients expect."""
    return MetadataView(
        **msgspec.structs.asdict(version_view(version)), kas=AgentServerView(False, None, None), enterprise=False
    )


def settings_view(db: Connection, stored: StoredSettings) -> SettingsView:
    """Return the current settings."""
    settings = decode_all_settings(stored)
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
        runners_registration_token=db.ports[RunnerRegistration].registration_token(db),
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def node_view(node: Node) -> NodeView:
    """Return the view of a node."""
    return NodeView(
        name=node.name,
        roles=list(node.roles),
        address=node.address,
        version=node.version,
        clock_offset=node.clock_offset,
        started_at=node.started_at,
        last_seen_at=node.last_seen_at,
        online=node.online,
    )


def broadcast_message_view(message: BroadcastMessage, now: Timestamp) -> BroadcastMessageView:
    """Return a message and whether pages show it now."""
    return BroadcastMessageView(
        message.id,
        message.message,
        message.starts_at,
        message.ends_at,
        message.color,
        message.font,
        message.starts_at <= now < message.ends_at,
    )


def current_broadcast_views(db: Connection) -> list[BroadcastMessageView]:
    """Return the broadcast messages that every page shows now."""
    return [broadcast_message_view(message, db.now) for message in current_broadcasts(db)]
