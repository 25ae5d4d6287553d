"""Groups of an export archive as a source of imports; such an archive contains no projects."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import IO, Any, TypeVar

import msgspec

from ingot.import_export.records import GROUP_ATTRIBUTES, GroupRecord
from ingot.import_export.source import RepositoryLocation, SourceError
from ingot.import_export.sources.archive import resources
from ingot.import_export.sources.archive.people import People
from ingot.import_export.sources.archive.project import MAX_ATTRIBUTES_BYTES, decode_row
from ingot.import_export.sources.archive.resource_rows import TreeBadge, TreeBoard, TreeGroup, TreeHook
from ingot.import_export.sources.archive.tree import TreeLabel, TreeMember, TreeMilestone, TreeUser
from ingot.import_export.sources.archive.unpacked_archive import UnpackedArchive

MAX_GROUPS = 10_000
T = TypeVar("T")


class ArchiveGroup:
    """Group of an archive with its subgroups."""

    def __init__(self, archive: UnpackedArchive) -> None:
        self._archive = archive
        self._problems: list[str] = []
        self._ids = [self._id(line) for _, line in archive.lines("tree/groups/_all.ndjson")]
        if not 0 < len(self._ids) <= MAX_GROUPS:
            raise SourceError("The file is not the export of a group: tree/groups/_all.ndjson is missing or too long")

    def groups(self) -> Iterator[GroupRecord]:
        """Yield the group and its subgroups, parents first."""
        users = list(self._rows("tree/groups/user_contributions.ndjson", TreeUser))
        rows = {number: self._group(number) for number in self._ids}
        paths: dict[int, str] = {}
        waiting = list(rows.values())
        while waiting:
            ready = [row for row in waiting if row.parent_id is None or row.parent_id in paths or not paths]
            ready = ready if paths else ready[:1]
            if not ready:
                raise SourceError("The archive contains a group whose parent is missing")
            for row in ready:
                parent = paths.get(row.parent_id or 0)
                paths[row.id] = f"{parent}/{row.path}" if parent else row.path
                yield self._record(row, paths[row.id], users)
            done = {row.id for row in ready}
            waiting = [row for row in waiting if row.id not in done]

    def project_keys(self) -> Iterator[tuple[str, str]]:
        """Yield nothing: projects have archives of their own."""
        return iter(())

    def open_file(self, link: str) -> AbstractContextManager[IO[bytes]] | None:
        """Open the avatar of a group by its name in the archive."""
        if not link.startswith("tree/groups/") or "/avatar/" not in link or self._archive.size_of(link) is None:
            return None
        return self._archive.opened(link)

    def wiki_of(self, key: str) -> RepositoryLocation | None:
        """Return the bundle of a group's wiki, or None if there is none."""
        name = f"repositories/{key}.wiki.bundle"
        if self._archive.size_of(name) is None:
            return None
        return RepositoryLocation(url=str(self._archive.extract(name)), bundle=True)

    def take_problems(self) -> list[str]:
        """Return sentences about the lines that could not be read since the last call."""
        problems, self._problems = self._problems, []
        return problems

    def skip_failures(self) -> None:
        """Do nothing: reading a file does not fail temporarily."""

    def close(self) -> None:
        """Delete the decompressed archive."""
        self._archive.close()

    def _id(self, line: bytes) -> int:
        number = line.strip()
        if not number.isdigit() or len(number) > 18:
            raise SourceError("tree/groups/_all.ndjson in the archive is not valid")
        return int(number)

    def _group(self, number: int) -> TreeGroup:
        name = f"tree/groups/{number}.json"
        content = self._archive.read(name, MAX_ATTRIBUTES_BYTES)
        if content is None:
            raise SourceError(f"{name} is missing in the archive")
        return decode_row(content, TreeGroup, name)

    def _rows(self, name: str, row: type[T]) -> Iterator[T]:
        for _, line in self._archive.lines(name):
            try:
                yield decode_row(line, row, name)
            except SourceError as error:
                self._problems.append(f"Not imported: {error.reason.rstrip('.')}.")

    def _record(self, row: TreeGroup, full_path: str, users: list[TreeUser]) -> GroupRecord:
        folder = f"tree/groups/{row.id}"
        members = list(self._rows(f"{folder}/members.ndjson", TreeMember))
        people = People(users, members)
        hooks = self._rows(f"{folder}/hooks.ndjson", dict[str, Any])
        avatars = self._archive.names(f"{folder}/avatar/")
        badges = enumerate(self._rows(f"{folder}/badges.ndjson", TreeBadge))
        boards = enumerate(self._rows(f"{folder}/boards.ndjson", TreeBoard))
        records = (resources.member_record(member, people) for member in members)
        return GroupRecord(
            key=str(row.id),
            full_path=full_path,
            name=row.name,
            description=row.description,
            visibility=resources.VISIBILITIES.get(row.visibility_level, "private"),
            avatar=avatars[0] if avatars else None,
            members=[record for record in records if record is not None],
            labels=[resources.label_record(label) for label in self._rows(f"{folder}/labels.ndjson", TreeLabel)],
            milestones=[
                resources.milestone_record(milestone)
                for milestone in self._rows(f"{folder}/milestones.ndjson", TreeMilestone)
            ],
            badges=[resources.badge_record(badge, index) for index, badge in badges],
            hooks=[resources.hook_record(decoded, hook) for hook in hooks if (decoded := self._hook(hook, folder))],
            boards=[resources.board_record(board, index) for index, board in boards],
            attributes={name: value for name in GROUP_ATTRIBUTES if (value := getattr(row, name)) is not None},
        )

    def _hook(self, row: dict[str, Any], folder: str) -> TreeHook | None:
        try:
            return msgspec.convert(row, TreeHook)
        except msgspec.ValidationError as error:
            self._problems.append(f"Not imported: {folder}/hooks.ndjson in the archive is not valid: {error}.")
            return None
