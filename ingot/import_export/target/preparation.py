"""Work before the transaction of a batch: copies of files, and comparison and retention of commits by git."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ingot.collaboration.merge_requests.reviews.file_lines import lines_at
from ingot.collaboration.merge_requests.versions.inspection import MAX_MESSAGES, MAX_RECORDED_COMMITS
from ingot.core.markup.references import can_mention_issues
from ingot.git.core.errors import GitError
from ingot.git.core.repository import Repository
from ingot.git.diffs.patches import patch_id_or_none
from ingot.git.diffs.tree_changes import EMPTY_TREE
from ingot.git.history.commits import NO_OID, branch_tip, commit_or_none, read_commits, tag_tip
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.writing.merge_request_commits import commits_not_in, count_files, merge_request_head_ref
from ingot.git.writing.pinned_commits import pin_commits
from ingot.git.writing.ref_updates import RefMoved, RefUpdate, update_refs
from ingot.import_export.target.files import CopiedFiles
from ingot.import_export.target.rows import moment_or_none
from ingot.import_export.work_item_records import MergeRequestRecord, NoteRecord, VersionRecord

MAX_VERSIONS = 1_000
_OID = re.compile("[0-9a-f]{40}")


class ComparedVersion(NamedTuple):
    """Version of a merge request whose commits exist, with the result of its comparison."""

    head_oid: str
    base_oid: str | None
    start_oid: str | None
    created_at: str
    commits_count: int
    files_count: str
    patch_id: str | None
    commits: tuple[str, ...]


class PreparedMergeRequest(NamedTuple):
    """Commits of a merge request in the repository."""

    head_oid: str | None
    versions: tuple[ComparedVersion, ...]
    messages: tuple[str, ...]
    # Commits that occur in positions of notes and do not exist here.
    missing: frozenset[str]
    # Lines of the files of notes with suggestions, by commit and path.
    lines: Mapping[tuple[str, str], list[str]]


class Preparation(NamedTuple):
    """Results of the work before a transaction."""

    copied: CopiedFiles = CopiedFiles({}, [])
    merge_requests: Mapping[str, PreparedMergeRequest] = {}
    # Commits of statuses that exist, and their refs that are tags.
    commits: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    avatar: bytes | None = None


def existing_commits(repository: Repository, oids: Iterable[str | None], *, pin: bool = False) -> frozenset[str]:
    """Return those of the commits that the repository has, and retain them if ``pin`` is set."""
    given = {oid for oid in oids if oid and _OID.fullmatch(oid)}
    found = frozenset(oid for oid in given if commit_or_none(repository, oid) is not None)
    if pin:
        pin_commits(repository, sorted(found))
    return found


def tags_among(repository: Repository, refs: Iterable[str | None]) -> frozenset[str]:
    """Return those of the names that are tags and not branches."""
    names = {ref for ref in refs if ref}
    return frozenset(
        name for name in names if branch_tip(repository, name) is None and tag_tip(repository, name) is not None
    )


def prepare_merge_requests(
    repository: Repository, records: Sequence[MergeRequestRecord]
) -> dict[str, PreparedMergeRequest]:
    """Compare the versions of merge requests, retain their commits, and set the refs that clients fetch."""
    exist = existing_commits(repository, (oid for record in records for oid in _commits_of(record)))
    prepared = {record.key: _prepare(repository, record, exist) for record in records}
    pinned = {
        oid
        for each in prepared.values()
        for version in each.versions
        for oid in (version.head_oid, version.start_oid)
        if oid
    }
    positions = {oid for record in records for note in _notes(record) for oid in _position_oids(note)}
    pin_commits(repository, sorted(pinned | (positions & exist)))
    _set_head_refs(repository, records, prepared)
    return prepared


def _prepare(repository: Repository, record: MergeRequestRecord, exist: Collection[str]) -> PreparedMergeRequest:
    head = record.head_sha if record.head_sha in exist else None
    if head is None and record.state == "opened" and record.source_project is None:
        head = branch_tip(repository, record.source_branch)
    ordered = sorted(record.versions, key=lambda version: moment_or_none(version.created_at) or "")
    given = [version for version in ordered[-MAX_VERSIONS:] if version.head_sha in exist]
    if head is not None and (not given or given[-1].head_sha != head):
        shas = {"base_sha": record.base_sha, "start_sha": record.start_sha}
        given.append(VersionRecord(key="", head_sha=head, created_at=record.created_at, **shas))
    versions = tuple(_compare(repository, record, version, exist) for version in given)
    if not versions:
        versions = _empty_version(repository, record)
    newest = versions[-1] if versions else None
    commits = read_commits(repository, list(newest.commits[:MAX_MESSAGES])) if newest else []
    return PreparedMergeRequest(
        head or (given[-1].head_sha if given else None),
        versions,
        tuple(commit.message for commit in commits if can_mention_issues(commit.message)),
        frozenset(oid for note in _notes(record) for oid in _position_oids(note) if oid not in exist),
        _suggested_lines(repository, record, exist),
    )


def _empty_version(repository: Repository, record: MergeRequestRecord) -> tuple[ComparedVersion, ...]:
    """Return a version without changes for a merge request whose commits are lost, so that it can still be shown."""
    tip = branch_tip(repository, record.target_branch) or branch_tip(repository, repository.head_branch())
    return (ComparedVersion(tip, tip, tip, record.created_at, 0, "0", None, ()),) if tip else ()


def _compare(
    repository: Repository, record: MergeRequestRecord, version: VersionRecord, exist: Collection[str]
) -> ComparedVersion:
    head = version.head_sha
    start, base = (oid if oid in exist else None for oid in (version.start_sha, version.base_sha))
    if start is None:
        start = base or _start_of(repository, record, exist)
    if base is None and start is not None:
        base = merge_base_or_none(repository, [start, head])
    excluded = [oid for oid in (start, base) if oid is not None]
    commits = tuple(commits_not_in(repository, head, excluded, MAX_RECORDED_COMMITS))
    files = count_files(repository, base or EMPTY_TREE, head)
    patch_id = patch_id_or_none(repository, base, head)
    return ComparedVersion(head, base, start, version.created_at, len(commits), files, patch_id, commits)


def _start_of(repository: Repository, record: MergeRequestRecord, exist: Collection[str]) -> str | None:
    """Return the tip of the target: before the merge if it was merged, else the current one."""
    if record.merge_commit_sha in exist:
        merge = commit_or_none(repository, record.merge_commit_sha or "")
        if merge is not None and len(merge.parents) > 1:
            return merge.parents[0]
    return branch_tip(repository, record.target_branch)


def _suggested_lines(
    repository: Repository, record: MergeRequestRecord, exist: Collection[str]
) -> dict[tuple[str, str], list[str]]:
    lines: dict[tuple[str, str], list[str]] = {}
    for note in _notes(record):
        position = note.position
        if position is None or note.suggestions or "```suggestion" not in note.body or position.head_sha not in exist:
            continue
        key = position.head_sha, position.new_path
        try:
            found = lines[key] if key in lines else lines_at(repository, *key)
        except GitError:  # The note is more important than its suggestions.
            continue
        if found is not None:
            lines[key] = found
    return lines


def _set_head_refs(
    repository: Repository, records: Sequence[MergeRequestRecord], prepared: Mapping[str, PreparedMergeRequest]
) -> None:
    """Set the refs of the heads; a ref that another process moves at the same time is set by its transaction."""
    updates = []
    for record in records:
        ref, head = merge_request_head_ref(record.iid), prepared[record.key].head_oid
        tip = repository.tip(ref)
        if head is not None and tip != head:
            updates.append(RefUpdate(ref, tip or NO_OID, head))
    if updates:
        try:
            update_refs(repository, updates)
        except RefMoved:
            for update in updates:
                _set_one_ref(repository, update)


def _set_one_ref(repository: Repository, update: RefUpdate) -> None:
    try:
        update_refs(repository, [RefUpdate(update.ref, repository.tip(update.ref) or NO_OID, update.new)])
    except RefMoved:
        pass


def _notes(record: MergeRequestRecord) -> Iterable[NoteRecord]:
    return (note for discussion in record.discussions for note in discussion.notes)


def _position_oids(note: NoteRecord) -> list[str]:
    position = note.position
    return [position.base_sha, position.start_sha, position.head_sha] if position is not None else []


def _commits_of(record: MergeRequestRecord) -> Iterable[str | None]:
    yield from (record.head_sha, record.base_sha, record.start_sha, record.merge_commit_sha)
    for version in record.versions:
        yield from (version.head_sha, version.base_sha, version.start_sha)
    for note in _notes(record):
        yield from _position_oids(note)
