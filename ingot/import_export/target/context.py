"""Context of one batch: the database, the project, mapped users, rewritten texts, and collected problems."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ingot.core.db.connection import Connection
from ingot.import_export.links import RowLink, delete_links, linked, store_links
from ingot.import_export.records import ProjectRecord
from ingot.import_export.target.files import FileStore
from ingot.import_export.target.preparation import Preparation
from ingot.import_export.target.text import RewrittenText, TextRewriter
from ingot.import_export.work_item_records import UserRecord
from ingot.projects.projects.tables import Project


class Change(NamedTuple):
    """Record that is new or was changed; ``local_id`` is the row that an earlier run has created for it."""

    key: str
    record: Any
    fingerprint: str
    local_id: int | None


class StoreContext:
    """Everything that the families need to store the records of a batch."""

    def __init__(
        self,
        db: Connection,
        import_id: int,
        project: Project,
        importer_id: int,
        files: FileStore,
        users: Mapping[str, int],
        texts: TextRewriter,
        preparation: Preparation,
        uploads: Mapping[str, str],
    ) -> None:
        self.db = db
        self.import_id = import_id
        self.project = project
        self.importer_id = importer_id
        self.files = files
        self.uploads = uploads
        """Paths of uploads by the address of the file at the source."""
        self.preparation = preparation
        self.problems: list[str] = []
        self._users = users
        self._texts = texts

    @property
    def base_url(self) -> str:
        """The public URL of this instance."""
        return self.files.base_url

    def user(self, user: UserRecord) -> int:
        """Return the id of the local user of a source user."""
        return self._users[user.key]

    def user_or_none(self, user: UserRecord | None) -> int | None:
        """Return the id of the local user, or None."""
        return self._users[user.key] if user is not None else None

    def user_ids(self, users: Iterable[UserRecord]) -> list[int]:
        """Return the ids of the local users, each once: two source users may be mapped to one."""
        return list(dict.fromkeys(self._users[user.key] for user in users))

    def rewrite(self, text: str | None) -> RewrittenText:
        """Return a text of the source as it is stored here."""
        return self._texts.rewrite(text)

    def problem(self, text: str) -> None:
        """Add a sentence to the report."""
        self.problems.append(text)

    def linked(self, kind: str, keys: Iterable[str]) -> dict[str, RowLink]:
        """Return the rows of earlier records."""
        return linked(self.db, self.import_id, kind, list(dict.fromkeys(keys)))

    def store_links(self, kind: str, rows: Sequence[tuple[str, int, str]]) -> None:
        """Store the rows that were created for records, with the fingerprints of the records."""
        if rows:
            store_links(self.db, self.import_id, kind, rows)

    def delete_links(self, kind: str, keys: Sequence[str]) -> None:
        """Delete the links of objects that no longer exist."""
        delete_links(self.db, self.import_id, kind, keys)


StoredIds = Mapping[str, int | None]
"""Row of each record by its key; None if the record was refused, which the context's problems explain."""


def texts_of(record: ProjectRecord) -> list[str]:
    """Return the texts of a record that can refer to users or attachments."""
    texts: list[str | None] = [getattr(record, name, None) for name in ("description", "body")]
    for discussion in getattr(record, "discussions", ()):
        texts += [note.body for note in discussion.notes]
    return [text for text in texts if text]
