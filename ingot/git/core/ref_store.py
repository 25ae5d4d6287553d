"""Interface of the place that holds the refs of a repository whose directory is only a copy."""

from collections.abc import Callable, Sequence
from typing import Protocol

from ingot.core.db.connection import Connection

TransactionStep = Callable[[Connection], object]


class ProposedUpdate(Protocol):
    """Update of one ref from an old object to a new one."""

    @property
    def ref(self) -> str:
        """Return the full name."""

    @property
    def old(self) -> str:
        """Return the old object; zeros if the ref is created."""

    @property
    def new(self) -> str:
        """Return the new object; zeros if the ref is deleted."""


class RefStore(Protocol):
    """Refs of one repository outside of its directory."""

    def update(
        self,
        updates: Sequence[ProposedUpdate],
        *,
        check: TransactionStep | None = None,
        record: TransactionStep | None = None,
        first_head: str | None = None,
        packs: Sequence[str] = (),
    ) -> None:
        """Store new objects and update refs, all or none.

        ``check`` runs at the beginning of the transaction, ``record`` at its end. HEAD is pointed at the branch
        ``first_head`` if that of HEAD does not exist. ``packs`` are the names of the packs that a push has brought.
        """

    def set_head(self, branch: str) -> None:
        """Point HEAD at a branch."""

    def publish(self) -> None:
        """Store the refs and objects that git has fetched into the directory."""

    def has_branches(self, db: Connection) -> bool:
        """Return whether there is a branch, as the transaction sees it."""

    def tidy(self) -> None:
        """Combine small packs."""
