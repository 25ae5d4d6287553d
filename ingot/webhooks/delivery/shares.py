"""Fair shares of the workers: hanging receivers of one namespace or user do not delay the deliveries of others."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

MAX_WORKERS = 256
MAX_FAILING_WORKERS = 192
"""Limit for failing hooks, whose deliveries take long; the rest of the workers is reserved for the others."""
FREE_PER_OCCUPIED = 4
"""Number of workers that must be free for each one that a namespace, its owner or a receiver occupies already."""


class DueHook(NamedTuple):
    """Hook with due deliveries."""

    id: int
    failing: bool
    root_namespace_id: int | None
    """Top-level group or personal namespace that contains the project or group; None for system hooks."""
    receiver: str
    """Host and port."""
    owner_id: int | None = None
    """Owner of that namespace, for a group its first one: a user may have any number of groups."""

    @property
    def shares(self) -> tuple[int | str | None, ...]:
        """Return the namespace, its owner and the receiver, each of which gets a share of the workers."""
        owner = () if self.owner_id is None else (f"user {self.owner_id}",)
        return self.root_namespace_id, self.receiver, *owner


def choose_hooks(due: Sequence[DueHook], running: Collection[DueHook]) -> list[DueHook]:
    """Return the due hooks for which workers can be started beside the running ones.

    A share shrinks as fewer workers are free: one namespace or user occupies at most a fifth of all workers, and one
    that occupies none gets the last free one.
    """
    occupied = Counter(share for hook in running for share in hook.shares)
    free = MAX_WORKERS - len(running)
    free_for_failing = MAX_FAILING_WORKERS - sum(hook.failing for hook in running)
    chosen = []
    for hook in due:
        if free <= 0:
            break
        if hook.failing and free_for_failing <= 0:
            continue
        if any(occupied[share] * FREE_PER_OCCUPIED >= free for share in hook.shares):
            continue
        chosen.append(hook)
        occupied.update(hook.shares)
        free -= 1
        free_for_failing -= hook.failing
    return chosen
