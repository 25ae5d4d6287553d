"""Parts that the handlers of jobs are built with: settings, stores of files, and guards of outgoing requests."""

from functools import cached_property
from typing import TYPE_CHECKING

from ingot.accounts.instance.outgoing_rules import instance_guard
from ingot.core.db.database import Database
from ingot.core.log import Log
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.settings import Settings

if TYPE_CHECKING:
    from ingot.ci.artifacts.store import ArtifactStore
    from ingot.ci.traces.store import TraceStore
    from ingot.git.maintenance.store import RepositoryStore
    from ingot.packages.files.store import PackageStore
    from ingot.projects.uploads.files import UploadFiles
    from ingot.repositories.lfs.files import LfsFiles
    from ingot.webhooks.payload_completion import PayloadCompletion


class JobContext:
    """Parts of one job worker; each store is imported and built for the first job that needs it."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self.settings = settings
        self.log = log
        self._database = database

    @cached_property
    def guard(self) -> SsrfGuard:
        """Guard of requests that send something."""
        return instance_guard(self.settings, self._database)

    @cached_property
    def import_guard(self) -> SsrfGuard:
        """Guard of requests that only read."""
        return instance_guard(self.settings, self._database, reads_only=True)

    @cached_property
    def store(self) -> "RepositoryStore":
        """All repositories of the instance."""
        from ingot.projects.projects.api import repository_store

        return repository_store(self.settings)

    @cached_property
    def uploads(self) -> "UploadFiles":
        """Files that users attach to texts."""
        from ingot.projects.uploads.files import upload_files

        return upload_files(self.settings)

    @cached_property
    def lfs_files(self) -> "LfsFiles":
        """Objects in Git LFS."""
        from ingot.repositories.lfs.files import lfs_files_of

        return lfs_files_of(self.settings)

    @cached_property
    def artifacts(self) -> "ArtifactStore":
        """Artifacts of CI jobs."""
        from ingot.ci.artifacts.store import artifact_store_of

        return artifact_store_of(self.settings)

    @cached_property
    def traces(self) -> "TraceStore":
        """Logs of CI jobs."""
        from ingot.ci.traces.store import trace_store_of

        return trace_store_of(self.settings)

    @cached_property
    def packages(self) -> "PackageStore":
        """Files of packages and images."""
        from ingot.packages.files.store import package_store_of

        return package_store_of(self.settings)

    @cached_property
    def payload_completion(self) -> "PayloadCompletion":
        """Completion of the payloads of webhooks, which reads repositories."""
        from ingot.webhooks.payload_completion import PayloadCompletion

        return PayloadCompletion(self._database, self.store, self.log)
