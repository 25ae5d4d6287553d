"""JSON documents of runs and entities: options, credentials and progress."""

import msgspec

from ingot.import_export.source import Inventory
from ingot.import_export.tables import ImportEntity, ImportRun

NOTE_KINDS: dict[str, str] = {
    "issues": "issue notes",
    "merge_requests": "merge_request notes",
    "snippets": "snippet notes",
}
"""Names under which the notes of a kind are linked and counted."""


class RunOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Choices of the importing user.

    ``users`` maps usernames, keys or e-mail addresses of the source to usernames of this instance.
    """

    users: dict[str, str] = {}
    # Keys of the groups that are imported without their projects, and of entities without their members.
    without_projects: list[str] = []
    without_members: list[str] = []
    visibility: str | None = None
    # Attributes that replace those of the source, by the names of ``PUT /projects/:id``.
    overrides: dict[str, str] = {}
    # Name of the archive in the folder of imports, and the one that the user gave it.
    archive: str | None = None
    file_name: str | None = None


class SourceCredentials(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Secrets of a source; stored encrypted until the run ends."""

    token: str = ""
    # Address of a remote archive, which often contains a signature.
    archive_url: str | None = None


class KindProgress(msgspec.Struct, omit_defaults=True):
    """Numbers of records of a kind: at the source, received, and written in this run."""

    source: int = 0
    exact: bool = True
    fetched: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0

    @property
    def imported(self) -> int:
        """Number of records that exist here after the run."""
        return self.created + self.updated + self.unchanged


class EntityProgress(msgspec.Struct, omit_defaults=True):
    """Progress of an entity; stored in the transaction of each batch."""

    kinds: dict[str, KindProgress] = {}
    requests: int = 0
    message: str | None = None
    # Number of times that the source was waited for since the last progress.
    waits: int = 0
    # Objects in this instance, counted at the end.
    stored: dict[str, int] = {}
    # Beginning of the run, from which a repeated one continues.
    started_at: str | None = None
    seconds: float = 0.0


def options_of(run: ImportRun) -> RunOptions:
    """Return the options of a run."""
    return msgspec.json.decode(run.options_document, type=RunOptions)


def progress_of(entity: ImportEntity) -> EntityProgress:
    """Return a new copy of the progress of an entity."""
    return msgspec.json.decode(entity.progress_document, type=EntityProgress)


def inventory_of(entity: ImportEntity) -> Inventory | None:
    """Return the plan of an entity, or None before it exists."""
    document = entity.inventory_document
    return None if document is None else msgspec.json.decode(document, type=Inventory)


def encoded(document: msgspec.Struct) -> str:
    """Return the stored form of a document."""
    return msgspec.json.encode(document).decode()
