"""Clone URLs of a project, for the protocols that the administrators enabled."""

from ingot.accounts.instance.settings import GitProtocol, allows_protocol
from ingot.core.db.connection import Connection
from ingot.projects.projects.views import ProjectView

_SUFFIX = ".git"


def clone_urls(db: Connection, project: ProjectView, *, wiki: bool = False) -> dict[str, str]:
    """Return the clone URLs by protocol name, the recommended one first."""
    urls: tuple[tuple[GitProtocol, str], ...] = (("http", project.http_url_to_repo), ("ssh", project.ssh_url_to_repo))
    ending = f".wiki{_SUFFIX}" if wiki else _SUFFIX
    return {
        protocol.upper(): url.removesuffix(_SUFFIX) + ending for protocol, url in urls if allows_protocol(db, protocol)
    }
