"""Statuses of the last commits of branches and pull requests, as GitHub and Gitea list them for each commit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from ingot.import_export.records import StatusRecord
from ingot.import_export.source import Batch
from ingot.import_export.sources.times import changed_since
from ingot.import_export.work_item_records import UserRecord

BATCH_SIZE = 50


class HeadCommit(NamedTuple):
    """Commit with statuses, and the branch that it is the last one of."""

    sha: str
    branch: str


class BranchCommit(Struct):
    """Commit of a branch; GitHub calls its id ``sha``, Gitea ``id``."""

    sha: str = ""
    id: str = ""


class ListedBranch(Struct):
    """Branch in the list of a repository."""

    name: str
    commit: BranchCommit

    @property
    def head(self) -> HeadCommit:
        """The last commit of the branch."""
        return HeadCommit(self.commit.sha or self.commit.id, self.name)


class HostedStatus(Struct, kw_only=True):
    """Status of a commit; Gitea calls its state ``status``."""

    id: int
    state: str = ""
    status: str = ""
    context: str = "default"
    description: str | None = None
    target_url: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


def head_commits(
    pulls: Iterable[Sequence[Any]],
    branches: Callable[[], Sequence[ListedBranch]],
    default: str | None,
    since: str | None,
) -> Iterator[HeadCommit]:
    """Yield the last commits of all branches and pull requests; with ``since`` those that may have changed.

    ``pulls`` yields pages of pull requests, those that were updated last first.
    """
    for page in pulls:
        changed = [pull for pull in page if changed_since(pull.updated_at, since)]
        yield from (HeadCommit(pull.head.sha, pull.head.ref) for pull in changed)
        if len(changed) < len(page):
            break
    for branch in branches():
        if since is None or branch.name == default:
            yield branch.head


def status_record(status: HostedStatus, head: HeadCommit, author: UserRecord | None) -> StatusRecord:
    """Build the record of a status."""
    state = status.state or status.status
    return StatusRecord(
        key=f"status:{status.id}",
        sha=head.sha,
        ref=head.branch,
        name=status.context,
        state="failed" if state == "warning" else state,
        author=author,
        target_url=status.target_url or None,
        description=status.description or None,
        allow_failure=state == "warning",
        created_at=status.created_at,
        finished_at=status.updated_at,
    )


def status_batches(
    heads: Iterable[HeadCommit], cursor: str | None, read: Callable[[Sequence[HeadCommit]], list[StatusRecord]]
) -> Iterator[Batch]:
    """Yield the statuses of commits in the order of their ids; the cursor is the last one."""
    by_sha = {head.sha: head for head in heads if head.sha}
    ordered = [by_sha[sha] for sha in sorted(by_sha) if sha > (cursor or "")]
    for start in range(0, len(ordered), BATCH_SIZE):
        part = ordered[start : start + BATCH_SIZE]
        yield Batch(read(part), part[-1].sha)
