"""Permission to upload a package, checked before the body is read and again in the transaction."""

from collections.abc import Callable

from ingot.accounts.instance.all_settings import AllSettings, all_settings
from ingot.core.access.actor import Actor
from ingot.core.access.rules import require
from ingot.core.api.routes import BodyContext
from ingot.core.db.connection import Connection
from ingot.packages.access.finders import find_writable_project
from ingot.packages.files.uploads import size_limit
from ingot.packages.records.policy import may_write_packages
from ingot.packages.records.rules import require_push_allowed
from ingot.packages.records.tables import PackageType


async def allowed_upload_bytes(
    context: BodyContext, limit: Callable[[AllSettings], int], package_type: PackageType, name: str | None = None
) -> int:
    """Return the largest file that the caller may upload to the project in the path.

    Raise Denied, NotFound or Unauthenticated if the caller may upload no package, or none with this name.
    """

    def check(db: Connection) -> int:
        access, project = find_writable_project(db, context.actor, context.path["id"])
        require(may_write_packages(context.actor, access, project))
        if name is not None:
            require_push_allowed(db, context.actor, access, project.id, package_type, name)
        return size_limit(limit(all_settings(db)))

    allowed = await context.read(check)
    # The limit of anonymous bodies does not apply to deploy tokens.
    context.charge.anonymous = False
    return allowed


def require_push_to(db: Connection, actor: Actor, project_id: int, package_type: PackageType, name: str) -> None:
    """Raise Denied if a rule protects packages with this name from pushes of the caller."""
    access, _ = find_writable_project(db, actor, project_id)
    require_push_allowed(db, actor, access, project_id, package_type, name)
