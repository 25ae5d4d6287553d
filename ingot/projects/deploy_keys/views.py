"""Response structs of deploy keys."""

from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.projects.deploy_keys.queries import AvailableDeployKey, list_available_deploy_keys
from ingot.projects.deploy_keys.tables import DeployKey


class DeployKeyView(View):
    """Deploy key."""

    id: int
    title: str
    key: str
    fingerprint: str
    fingerprint_sha256: str
    created_at: Timestamp
    expires_at: Timestamp | None
    last_used_at: Timestamp | None
    can_push: bool


def deploy_key_view(key: DeployKey) -> DeployKeyView:
    """Return the view of a deploy key."""
    return DeployKeyView(
        key.id,
        key.title,
        key.key,
        key.fingerprint_md5,
        key.fingerprint_sha256,
        key.created_at,
        key.expires_at,
        key.last_used_at,
        bool(key.can_push),
    )


def keys_of_other_projects(db: Connection, actor: Actor, project_id: int) -> list[AvailableDeployKey]:
    """Return the deploy keys that the caller knows from other projects and could enable for this one."""
    return list_available_deploy_keys(db, actor, project_id)
