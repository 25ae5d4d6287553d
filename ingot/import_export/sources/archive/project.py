"""Project of an export archive as a source of imports."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from typing import IO, Any, TypeVar

import msgspec

from ingot.git.maintenance.bundles import KEPT_REFS, MERGE_REQUEST_HEADS
from ingot.import_export.records import KINDS, Kind, ProjectRecord, SettingsRecord
from ingot.import_export.source import Batch, Inventory, KindCount, RepositoryLocation, SourceError
from ingot.import_export.sources.archive import resources
from ingot.import_export.sources.archive.people import People
from ingot.import_export.sources.archive.resource_rows import (
    TreeBadge,
    TreeBoard,
    TreeDeployKey,
    TreeHook,
    TreeIssueLink,
    TreePipeline,
    TreeProtectedEnvironment,
    TreeProtectedRef,
    TreeRelease,
    TreeSchedule,
    TreeSnippet,
)
from ingot.import_export.sources.archive.tree import (
    TreeCommitNote,
    TreeIssue,
    TreeLabel,
    TreeMember,
    TreeMergeRequest,
    TreeMilestone,
    TreePlanning,
    TreeUser,
)
from ingot.import_export.sources.archive.unpacked_archive import UnpackedArchive
from ingot.import_export.sources.archive.work_items import (
    commit_note_record,
    issue_record,
    merge_request_record,
    milestone_key,
)
from ingot.projects.projects.params import EditProject

BATCH_RECORDS = 100
BATCH_BYTES = 4 * 2**20
"""Size of the rows of a batch, beyond which it ends early."""
MAX_ATTRIBUTES_BYTES = 2**20
_ALL = "all"
"""Cursor after the last record."""
T = TypeVar("T")
_RELATIONS: dict[Kind, str] = {
    "members": "project_members",
    "labels": "labels",
    "milestones": "milestones",
    "issues": "issues",
    "merge_requests": "merge_requests",
    "issue_links": "issue_links",
    "boards": "boards",
    "releases": "releases",
    "snippets": "snippets",
    "commit_notes": "commit_notes",
    "protected_branches": "protected_branches",
    "protected_tags": "protected_tags",
    "protected_environments": "protected_environments",
    "hooks": "hooks",
    "deploy_keys": "deploy_keys",
    "badges": "project_badges",
    "statuses": "ci_pipelines",
    "schedules": "pipeline_schedules",
}
"""Relation of each kind; variables are never exported, because they are secrets."""
_LEVEL_NAMES = {0: "disabled", 10: "private", 20: "enabled"}
_LFS_NAME = re.compile(r"lfs-objects/([0-9a-f]{64})")
_UPLOAD = re.compile(r"(?:.*/)?uploads/([0-9a-f]{32}/[^/]+)")
_OMITTED = [
    "Secret values (CI variables, tokens of webhooks, variables and inputs of schedules) are not part of an archive.",
]


class ArchiveProject:
    """Project of an archive."""

    def __init__(self, archive: UnpackedArchive) -> None:
        self._archive = archive
        self._problems: list[str] = []
        content = archive.read("tree/project.json", MAX_ATTRIBUTES_BYTES)
        if content is None:
            raise SourceError("The file is not the export of a project: tree/project.json is missing")
        self._attributes: dict[str, Any] = decode_row(content, dict[str, Any], "tree/project.json")

    def inventory(self) -> Inventory:
        """Count the lines of each relation."""
        path = _text(self._attributes.get("path")) or "project"
        counts = [KindCount("settings", 1)]
        for kind in KINDS:
            if kind in _RELATIONS:
                exact = kind not in ("labels", "milestones", "statuses")
                counts.append(KindCount(kind, sum(1 for _ in self._lines(_RELATIONS[kind])), exact))
        return Inventory(
            name=_text(self._attributes.get("name")) or path,
            path=path,
            full_path=_text(self._attributes.get("full_path")) or path,
            counts=counts,
            omitted=_OMITTED,
        )

    def repository(self) -> RepositoryLocation | None:
        """Return the bundle of the repository, or None if it is empty."""
        return self._bundle("project.bundle")

    def wiki(self) -> RepositoryLocation | None:
        """Return the bundle of the wiki, or None if there is none."""
        return self._bundle("project.wiki.bundle")

    def batches(self, kind: Kind, cursor: str | None, since: str | None) -> Iterator[Batch]:  # noqa: ARG002 - An archive cannot tell what has changed.
        """Yield the records of a kind; a cursor is the position in the file of the relation."""
        if cursor == _ALL:
            return
        if kind == "settings":
            yield Batch(self._settings(), _ALL)
        if kind not in _RELATIONS:
            return
        position, index = _parsed_cursor(cursor)
        name = f"tree/project/{_RELATIONS[kind]}.ndjson"
        records: list[ProjectRecord] = []
        size = 0
        for end, line in self._archive.lines(name, position):
            try:
                records.extend(self._records(kind, line, name, index))
            except SourceError as error:
                self._problems.append(f"Not imported: {error.reason.rstrip('.')}.")
            size, index, position = size + len(line), index + 1, end
            if len(records) >= BATCH_RECORDS or size >= BATCH_BYTES:
                yield Batch(records, f"{end} {index}")
                records, size = [], 0
        # Those of groups come last, so that those of the project get their own numbers.
        if kind == "labels":
            records.extend(self._group_labels())
        if kind == "milestones":
            records.extend(self._group_milestones())
        if records or (kind == "protected_branches" and cursor is None and self._archive.size_of(name) is not None):
            yield Batch(records, _ALL)

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open an upload by its link in a text, or another file by its name in the archive."""
        match = _UPLOAD.fullmatch(link)
        name = f"uploads/{match[1]}" if match else link
        if not name.startswith(("uploads/", "avatar/", "lfs-objects/")) or self._archive.size_of(name) is None:
            return None
        return self._archive.opened(name)

    def lfs_objects(self) -> Iterator[tuple[str, int]]:
        """Yield the object id and the size of each file of Git LFS."""
        for name in self._archive.names("lfs-objects/"):
            match = _LFS_NAME.fullmatch(name)
            if match is not None:
                yield match[1], self._archive.size_of(name) or 0

    def request_count(self) -> int:
        """Return 0: nothing is requested from a server."""
        return 0

    def take_problems(self) -> list[str]:
        """Return sentences about the lines that could not be read since the last call."""
        problems, self._problems = self._problems, []
        return problems

    def skip_failures(self) -> None:
        """Do nothing: reading a file does not fail temporarily."""

    def close(self) -> None:
        """Delete the decompressed archive."""
        self._archive.close()

    @cached_property
    def _people(self) -> People:
        users = self._rows("user_contributions", TreeUser)
        return People(users, self._rows("project_members", TreeMember))

    def _bundle(self, name: str) -> RepositoryLocation | None:
        if self._archive.size_of(name) is None:
            return None
        return RepositoryLocation(
            url=str(self._archive.extract(name)),
            bundle=True,
            merge_request_refs=MERGE_REQUEST_HEADS,
            further_refs=[KEPT_REFS],
        )

    def _lines(self, relation: str) -> Iterator[tuple[int, bytes]]:
        return self._archive.lines(f"tree/project/{relation}.ndjson")

    def _rows(self, relation: str, row: type[T]) -> Iterator[T]:
        for _, line in self._lines(relation):
            yield decode_row(line, row, f"tree/project/{relation}.ndjson")

    def _settings(self) -> list[ProjectRecord]:
        given = dict(self._attributes)
        given.setdefault("visibility", resources.VISIBILITIES.get(given.get("visibility_level", 0), "private"))
        if "merge_method" not in given and given.get("merge_requests_ff_only_enabled") is True:
            given["merge_method"] = "ff"
        for _, line in self._lines("project_feature"):
            for name, level in decode_row(line, dict[str, Any], "tree/project/project_feature.ndjson").items():
                if name.endswith("_access_level") and level in _LEVEL_NAMES:
                    given[name] = _LEVEL_NAMES[level]
        names = frozenset(EditProject.__struct_fields__) - {"name", "path", "avatar", "topics", "tag_list"}
        topics = given.get("topics")
        if isinstance(topics, str):
            topics = [topic.strip() for topic in topics.split(",") if topic.strip()]
        avatars = self._archive.names("avatar/")
        return [
            SettingsRecord(
                attributes={name: value for name, value in given.items() if name in names and value is not None},
                topics=[topic for topic in topics if isinstance(topic, str)] if isinstance(topics, list) else [],
                avatar=avatars[0] if avatars else None,
                created_at=_text(given.get("created_at")),
                archived=given.get("archived") is True,
            )
        ]

    def _planning(self) -> Iterator[TreePlanning]:
        for relation in ("issues", "merge_requests"):
            yield from self._rows(relation, TreePlanning)

    def _group_labels(self) -> list[ProjectRecord]:
        """Return the labels of groups, which occur only where they are used."""
        used: dict[str, TreeLabel] = {}
        for row in self._planning():
            labels: Iterable[TreeLabel | None] = (
                *(link.label for link in row.label_links),
                *(event.label for event in row.resource_label_events),
            )
            for label in labels:
                if label is not None and label.type == "GroupLabel":
                    used.setdefault(label.title, label)
        for board in self._rows("boards", TreeBoard):
            for each in board.lists:
                if each.label is not None and each.label.type == "GroupLabel":
                    used.setdefault(each.label.title, each.label)
        return [resources.label_record(label) for label in used.values()]

    def _group_milestones(self) -> list[ProjectRecord]:
        """Return the milestones of groups, which occur only where they are used."""
        used: dict[str, TreeMilestone] = {}
        for row in self._planning():
            for milestone in (row.milestone, *(event.milestone for event in row.resource_milestone_events)):
                if milestone is not None and milestone.group_id is not None:
                    used.setdefault(milestone_key(milestone), milestone)
        for release in self._rows("releases", TreeRelease):
            for link in release.milestone_releases:
                if link.milestone is not None and link.milestone.group_id is not None:
                    used.setdefault(milestone_key(link.milestone), link.milestone)
        return [resources.milestone_record(milestone) for milestone in used.values()]

    def _records(self, kind: Kind, line: bytes, name: str, index: int) -> Iterable[ProjectRecord]:
        row_type, convert = _CONVERSIONS[kind]
        row = decode_row(line, row_type, f"{name}, line {index + 1}")
        if kind == "hooks":
            return [resources.hook_record(row, decode_row(line, dict[str, Any], name))]
        converted = convert(row, self._people, index)
        if kind == "statuses":
            records: Iterable[ProjectRecord] = converted
            return records
        return [] if converted is None else [converted]


_Conversion = Callable[[Any, People, int], Any]
_CONVERSIONS: dict[Kind, tuple[Any, _Conversion]] = {
    "members": (TreeMember, lambda row, people, _: resources.member_record(row, people)),
    "labels": (TreeLabel, lambda row, _, __: resources.label_record(row)),
    "milestones": (TreeMilestone, lambda row, _, __: resources.milestone_record(row)),
    "issues": (TreeIssue, lambda row, people, _: issue_record(row, people)),
    "merge_requests": (TreeMergeRequest, lambda row, people, _: merge_request_record(row, people)),
    "issue_links": (TreeIssueLink, lambda row, _, __: resources.issue_link_record(row)),
    "boards": (TreeBoard, lambda row, _, index: resources.board_record(row, index)),
    "releases": (TreeRelease, lambda row, people, _: resources.release_record(row, people)),
    "snippets": (TreeSnippet, resources.snippet_record),
    "commit_notes": (TreeCommitNote, commit_note_record),
    "protected_branches": (TreeProtectedRef, lambda row, _, __: resources.protected_ref_record(row)),
    "protected_tags": (TreeProtectedRef, lambda row, _, __: resources.protected_ref_record(row)),
    "protected_environments": (TreeProtectedEnvironment, resources.protected_environment_record),
    "hooks": (TreeHook, lambda row, _, __: row),
    "deploy_keys": (TreeDeployKey, lambda row, _, __: resources.deploy_key_record(row)),
    "badges": (TreeBadge, lambda row, _, index: resources.badge_record(row, index)),
    "statuses": (TreePipeline, resources.status_records),
    "schedules": (TreeSchedule, resources.schedule_record),
}
"""Type of the rows of each kind, and the function that makes records of a row, the users and the row's number."""


def decode_row(content: bytes, row: type[T], name: str) -> T:
    """Decode a row; raise SourceError with the place of a value that has another type."""
    try:
        return msgspec.json.decode(content, type=row)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise SourceError(f"{name} in the archive is not valid: {error}") from error


def _parsed_cursor(cursor: str | None) -> tuple[int, int]:
    """Return the position in the file and the number of the next row."""
    position, _, index = (cursor or "0 0").partition(" ")
    return int(position), int(index)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
