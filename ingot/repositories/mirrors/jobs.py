"""Job that updates a push mirror; it compares all refs, so that it can be repeated at any time."""

from functools import partial
from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.log import log_failure
from ingot.core.outgoing.errors import RequestFailed, RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.remotes import find_repository
from ingot.core.outgoing.ssh_urls import is_ssh_url, pin_ssh_url
from ingot.core.outgoing.urls import strip_credentials
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.maintenance.mirror_remote import MirrorAddress
from ingot.git.maintenance.ssh_connection import ssh_connection
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.mirror_push import MirrorOptions, push_to_mirror
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project
from ingot.repositories.mirrors.queries import mirror_to_update_or_none
from ingot.repositories.mirrors.service import finish_update, start_update
from ingot.repositories.mirrors.tables import RemoteMirror
from ingot.repositories.protection.policy import matching_branch_rules
from ingot.repositories.protection.queries import branch_rules

TIMEOUT_SECONDS = 1800.0


class MirrorJobs:
    """Handler of the updates of mirrors."""

    def __init__(self, store: RepositoryStore, guard: SsrfGuard) -> None:
        self._store = store
        self._guard = guard

    def update(self, database: Database, payload: Any) -> None:
        """Push the branches and tags that differ, and record the result."""
        mirror = database.read(partial(mirror_to_update_or_none, mirror_id=payload["mirror_id"]))
        if mirror is None:
            return
        database.write(partial(start_update, mirror=mirror))
        error, known_hosts = self._push(database, mirror, payload["visited"])
        database.write(partial(finish_update, mirror=mirror, error=error, known_hosts=known_hosts))

    def _push(self, database: Database, mirror: RemoteMirror, visited: list[str]) -> tuple[str | None, str | None]:
        """Return the reason of a failure, and the host keys of a connection over SSH."""

        def read(db: Connection) -> tuple[Project, MirrorOptions]:
            rules = branch_rules(db, mirror.project_id)

            def includes(branch: str) -> bool:
                return not mirror.only_protected_branches or bool(matching_branch_rules(rules, branch))

            return existing_project(db, mirror.project_id), MirrorOptions(
                includes, mirror.keep_divergent_refs, not mirror.only_protected_branches, tuple(visited)
            )

        project, options = database.read(read)
        url = database.vault.unseal(mirror.sealed_url)
        try:
            repository = self._store.open(project.repository_key)
            if mirror.sealed_private_key is not None and is_ssh_url(url):
                key = database.vault.unseal(mirror.sealed_private_key)
                return self._push_over_ssh(repository, url, key, mirror.known_hosts or "", options)
            address, username, password = strip_credentials(url)
            remote = find_repository(self._guard, address, username, password)
            target = MirrorAddress(remote.url, remote.pinned, remote.username, remote.password)
            return push_to_mirror(repository, target, options, TIMEOUT_SECONDS), None
        except (RequestRefused, RequestFailed) as error:
            return error.reason, None
        except (OSError, MissingRepository, GitError) as error:
            log_failure("mirror not updated", error, mirror=mirror.id)
            return "The repository could not be read", None

    def _push_over_ssh(
        self, repository: Repository, url: str, private_key: str, known_hosts: str, options: MirrorOptions
    ) -> tuple[str | None, str | None]:
        location = pin_ssh_url(self._guard, url)
        with ssh_connection(private_key, known_hosts, location.host, location.address) as connection:
            target = MirrorAddress(location.url, location, "", "", connection.environment)
            reason = push_to_mirror(repository, target, options, TIMEOUT_SECONDS)
            return reason, connection.known_hosts()
