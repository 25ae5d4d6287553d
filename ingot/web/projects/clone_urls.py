"""Clone URLs of projects and wikis, for the protocols that the administrators enabled."""

from ingot.accounts.instance.settings import GitProtocol, allows_protocol
from ingot.core.db.connection import Connection
from ingot.projects.namespaces.group_rules import allows_group_protocol
from ingot.projects.projects.views import InstanceUrls, ProjectView

_SUFFIX = ".git"


def clone_urls(db: Connection, project: ProjectView, *, wiki: bool = False) -> dict[str, str]:
    """Return the clone URLs of a project or its wiki by protocol name, the recommended one first."""
    urls = project.http_url_to_repo, project.ssh_url_to_repo
    ending = f".wiki{_SUFFIX}" if wiki else _SUFFIX
    return _allowed(db, project.namespace.id, *(url.removesuffix(_SUFFIX) + ending for url in urls))


def group_wiki_urls(db: Connection, group_id: int, full_path: str, urls: InstanceUrls) -> dict[str, str]:
    """Return the clone URLs of a group's wiki by protocol name, the recommended one first."""
    return _allowed(db, group_id, *(f"{start}{full_path}.wiki{_SUFFIX}" for start in (urls.clone, urls.ssh)))


def _allowed(db: Connection, namespace_id: int, http: str, ssh: str) -> dict[str, str]:
    urls: tuple[tuple[GitProtocol, str], ...] = (("http", http), ("ssh", ssh))
    return {
        protocol.upper(): url
        for protocol, url in urls
        if allows_protocol(db, protocol) and allows_group_protocol(db, namespace_id, protocol)
    }
