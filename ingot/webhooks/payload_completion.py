"""Completion of payloads with data from repositories, before the first delivery and outside of transactions.

Git objects are immutable, so the data is as of the event, however late it is read.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from ingot.accounts.users.commit_addresses import commit_user_or_none
from ingot.core.db.database import Database
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, commit_id_or_none, commit_or_none, decode_text
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.trees.blobs import read_blob
from ingot.repositories.ref_changes.tables import ref_changes
from ingot.webhooks.outbox import PendingCompletion
from ingot.webhooks.payloads.line_notes import complete_line
from ingot.webhooks.payloads.parts import Payload, commit_part
from ingot.webhooks.payloads.pipelines import with_full_tag_name
from ingot.webhooks.payloads.pushes import complete_push

_MAX_PAGE_BYTES = 1_000_000
# Tip of the branch before its first change since the event.
_WAS = (
    select(ref_changes.c.old)
    .where(
        ref_changes.c.project_id == bindparam("project"),
        ref_changes.c.ref == bindparam("branch"),
        ref_changes.c.id > bindparam("mark"),
    )
    .order_by(ref_changes.c.id)
    .limit(1)
)


class PayloadCompletion:
    """Reads missing payload data from repositories."""

    def __init__(self, database: Database, store: RepositoryStore, log: Callable[..., None]) -> None:
        self._database = database
        self._store = store
        self._log = log

    def finish(self, document: str, unfinished: str) -> str:
        """Return the completed payload; if the repository is missing or damaged, without the missing data."""
        payload: Payload = msgspec.json.decode(document)
        completion = msgspec.json.decode(unfinished, type=PendingCompletion)
        try:
            payload = self._finished(payload, completion, self._store.open(completion.repository_key))
        except Exception as error:  # noqa: BLE001 - The payload is delivered without the data of a damaged repository.
            self._log("webhook payload incomplete", what=completion.what, error=type(error).__name__)
        return msgspec.json.encode(payload).decode()

    def _finished(self, payload: Payload, completion: PendingCompletion, repository: Repository) -> Payload:
        if completion.what == "page":
            payload["object_attributes"]["content"] = _text(repository, completion.oid)
            return payload
        if payload.get("object_kind") == "release" and branch_tip(repository, payload["tag"]) is not None:
            payload = with_full_tag_name(payload)
        if completion.what == "commit":
            return complete_line({**payload, "commit": _commit(payload, repository, completion.oid)}, repository)
        if completion.what == "job":
            payload["commit"] |= self._author(payload, repository, completion.oid)
            return payload
        if completion.what == "head":
            attributes = payload["merge_request" if payload["object_kind"] == "note" else "object_attributes"]
            attributes["last_commit"] = _commit(payload, repository, completion.oid)
            return complete_line(payload, repository)
        base = self._base(repository, completion) if completion.what == "push" else None
        return complete_push(payload, repository, base, commits=completion.what != "system tag")

    def _author(self, payload: Payload, repository: Repository, oid: str) -> Payload:
        """Return the message and author of a commit, with the author's profile URL if they have an account."""
        commit = commit_or_none(repository, oid)
        if commit is None:
            return {}
        email = commit.author.email
        user = self._database.read(lambda db: commit_user_or_none(db, email))
        base = payload["project"]["web_url"].removesuffix(payload["project"]["path_with_namespace"])
        return {
            "message": commit.message,
            "author_name": commit.author.name,
            "author_email": email,
            "author_url": f"{base}{user.username}" if user else f"mailto:{email}",
        }

    def _base(self, repository: Repository, completion: PendingCompletion) -> str | None:
        if completion.base is None:
            return None
        values = {"project": completion.project_id, "branch": completion.base, "mark": completion.mark}
        old_tip: str | None = self._database.read(lambda db: db.value(_WAS, **values))
        tip = old_tip if old_tip is not None else repository.tip(completion.base)
        return tip if tip and tip.strip("0") else None


def _commit(payload: Payload, repository: Repository, name: str) -> Payload | None:
    oid = commit_id_or_none(repository, name)
    commit = commit_or_none(repository, oid) if oid else None
    return None if commit is None else commit_part(commit, payload["project"]["web_url"])


def _text(repository: Repository, oid: str) -> str:
    blob: Any = read_blob(repository, oid)
    return decode_text(blob.body) if blob.body is not None and blob.size <= _MAX_PAGE_BYTES else ""
