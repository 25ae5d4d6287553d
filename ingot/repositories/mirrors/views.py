"""Response structs of push mirrors; credentials are never shown."""

from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.repositories.mirrors.tables import RemoteMirror


class RemoteMirrorView(View):
    """A push mirror and its last update."""

    id: int
    enabled: bool
    url: str
    auth_method: str
    update_status: str
    last_update_at: Timestamp | None
    last_update_started_at: Timestamp | None
    last_successful_update_at: Timestamp | None
    last_error: str | None
    only_protected_branches: bool
    keep_divergent_refs: bool


class MirrorKeyView(View):
    """Public key of a push mirror, for the other server."""

    public_key: str


def remote_mirror_view(mirror: RemoteMirror) -> RemoteMirrorView:
    """Return the view of a mirror."""
    return RemoteMirrorView(
        mirror.id,
        mirror.enabled,
        mirror.url,
        mirror.auth_method,
        mirror.update_status,
        mirror.last_update_at,
        mirror.last_update_started_at,
        mirror.last_successful_update_at,
        mirror.last_error,
        mirror.only_protected_branches,
        mirror.keep_divergent_refs,
    )
