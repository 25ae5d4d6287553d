"""Job that updates a pull mirror; it compares all refs, so that it can be repeated at any time."""

import shutil
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ingot.accounts.users.actors import active_actor
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Denied, Invalid, NotFound
from ingot.core.log import log_failure
from ingot.core.outgoing.errors import RequestFailed, RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.remotes import find_repository
from ingot.core.outgoing.ssh_urls import pin_ssh_url
from ingot.core.outgoing.urls import strip_credentials
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.maintenance.mirror_remote import MirrorAddress
from ingot.git.maintenance.ssh_connection import ssh_connection
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.mirror_fetch import PullOptions, fetch_changes
from ingot.git.writing.ref_updates import RefUpdate
from ingot.projects.imports.jobs import RESERVED_BYTES
from ingot.projects.projects.branch_patterns import branch_matcher
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.tables import Project
from ingot.repositories.protection.policy import matching_branch_rules
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.pull_mirrors.queries import pull_mirror_to_update_or_none
from ingot.repositories.pull_mirrors.service import finish_pull, start_pull
from ingot.repositories.pull_mirrors.tables import PullMirror
from ingot.repositories.ref_changes.apply import change_refs

TIMEOUT_SECONDS = 1800.0
MAX_SINGLE_CHANGES = 100
"""Refs that are changed one by one after a change of all of them was refused."""
DIVERGED = "Some branches or tags have diverged and have not been updated"


class _PullContext(NamedTuple):
    project: Project
    actor: Actor | None
    includes: Callable[[str], bool]


class PullMirrorJobs:
    """Handler of the updates of pull mirrors."""

    def __init__(self, store: RepositoryStore, guard: SsrfGuard) -> None:
        self._store = store
        self._guard = guard

    def run(self, database: Database, payload: Any) -> None:
        """Fetch the branches and tags that differ, and record the result."""
        mirror = database.read(partial(pull_mirror_to_update_or_none, mirror_id=payload["mirror_id"]))
        if mirror is None:
            return
        database.write(partial(start_pull, mirror=mirror))
        error, known_hosts = self._pull(database, mirror)
        database.write(partial(finish_pull, mirror=mirror, error=error, known_hosts=known_hosts))

    def _pull(self, database: Database, mirror: PullMirror) -> tuple[str | None, str | None]:
        """Return the reason of a failure, and the host keys of a connection over SSH."""
        context = database.read(partial(_load_context, mirror=mirror))
        if context.actor is None:
            return "The user who configured the mirror is not active", None
        try:
            if mirror.auth_method == "ssh_public_key" and mirror.sealed_private_key is not None:
                return self._pull_over_ssh(database, mirror, context, database.vault.unseal(mirror.sealed_private_key))
            url, username, password = strip_credentials(database.vault.unseal(mirror.sealed_url))
            remote = find_repository(self._guard, url, username, password)
            address = MirrorAddress(remote.url, remote.pinned, remote.username, remote.password)
            return self._fetch(database, context, address), None
        except (RequestRefused, RequestFailed) as error:
            return error.reason, None
        except (OSError, MissingRepository, GitError) as error:
            log_failure("pull mirror not updated", error, mirror=mirror.id)
            return "The repository could not be changed", None

    def _pull_over_ssh(
        self, database: Database, mirror: PullMirror, context: _PullContext, private_key: str
    ) -> tuple[str | None, str | None]:
        location = pin_ssh_url(self._guard, database.vault.unseal(mirror.sealed_url))
        with ssh_connection(private_key, mirror.known_hosts or "", location.host, location.address) as connection:
            address = MirrorAddress(location.url, location, "", "", connection.environment)
            return self._fetch(database, context, address), connection.known_hosts()

    def _fetch(self, database: Database, context: _PullContext, address: MirrorAddress) -> str | None:
        options = context.project.ci_options
        repository = self._store.open(context.project.repository_key)
        free = max(0, shutil.disk_usage(repository.path).free - RESERVED_BYTES)
        pull = PullOptions(
            context.includes,
            options.mirror_overwrites_diverged_branches,
            not options.only_mirror_protected_branches,
            repository.size_bytes() + free,
        )
        fetched = fetch_changes(repository, address, pull, TIMEOUT_SECONDS)
        refusal = _apply(database, repository, context, fetched.updates)
        return fetched.error or refusal or (DIVERGED if fetched.diverged else None)


def _load_context(db: Connection, mirror: PullMirror) -> _PullContext:
    project = existing_project(db, mirror.project_id)
    options = project.ci_options
    if options.only_mirror_protected_branches:
        rules = branch_rules(db, project.id)
        return _PullContext(
            project, active_actor(db, mirror.user_id), lambda branch: bool(matching_branch_rules(rules, branch))
        )
    matches = branch_matcher(options.mirror_branch_regex) if options.mirror_branch_regex else lambda _: True
    return _PullContext(project, active_actor(db, mirror.user_id), matches)


def _apply(database: Database, repository: Repository, context: _PullContext, updates: list[RefUpdate]) -> str | None:
    """Change the refs as the user of the mirror; return the reason why one of them was refused."""
    if not updates:
        return None
    refusal = _change(database, repository, context, updates)
    if refusal is None or len(updates) == 1:
        return refusal
    refusals = [_change(database, repository, context, [update]) for update in updates[:MAX_SINGLE_CHANGES]]
    return next((each for each in refusals if each is not None), None)


def _change(database: Database, repository: Repository, context: _PullContext, updates: list[RefUpdate]) -> str | None:
    options = [] if context.project.ci_options.mirror_trigger_builds else ["ci.skip"]
    try:
        change_refs(database, repository, context.actor or Actor(), context.project, updates, push_options=options)
    except NotFound:  # Shown as the reason of the failed update.
        return "The user who configured the mirror has no access to the project"
    except (Denied, Invalid, Conflict) as error:  # Likewise.
        return str(error)
    return None
