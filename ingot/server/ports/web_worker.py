"""Ports that only a web worker can fill, because what answers them writes in its writer thread."""

from concurrent.futures import Executor
from typing import TYPE_CHECKING

from ingot.core.db.database import Database
from ingot.core.db.ports import PortFillers
from ingot.core.settings import Settings

if TYPE_CHECKING:
    from ingot.accounts.sessions.ports import SessionExtension
    from ingot.packages.files.ports import PackageDownloads


def web_worker_ports(database: Database, writer: Executor) -> PortFillers:
    """Return the ports of a worker."""
    ports = PortFillers()

    @ports.fill
    def package_downloads(_: Settings) -> "PackageDownloads":
        from ingot.packages.files.downloads import download_tracker
        from ingot.packages.files.ports import PackageDownloads

        return PackageDownloads(download_tracker(database, writer).note)

    @ports.fill
    def session_extension(_: Settings) -> "SessionExtension":
        from ingot.accounts.sessions.extension import SessionExtender
        from ingot.accounts.sessions.ports import SessionExtension

        return SessionExtension(SessionExtender(database, writer).extend)

    return ports
