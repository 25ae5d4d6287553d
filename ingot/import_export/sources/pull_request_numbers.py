"""References to pull requests in texts of GitHub and Gitea, where issues and pull requests share their numbers."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeVar

import msgspec

from ingot.core.markup.references import extract_references
from ingot.import_export.work_item_records import DiscussionRecord, NoteRecord, WorkItemRecord

_RecordT = TypeVar("_RecordT", bound=WorkItemRecord)


class PullRequestNumbers:
    """Numbers of the pull requests of a repository, which are requested with the first text that names a number."""

    def __init__(self, full_name: str, load: Callable[[], Iterable[int]]) -> None:
        self._full_name = full_name.lower()
        self._load = load

    @cached_property
    def _numbers(self) -> frozenset[int]:
        return frozenset(self._load())

    def rewrite(self, text: str) -> str:
        """Return the text with ``!12`` instead of ``#12`` for pull requests, and without the repository's own name."""
        if "#" not in text:
            return text
        pieces: list[str] = []
        position = 0
        for reference in extract_references(text):
            own = reference.project is None or reference.project.lower() == self._full_name
            if reference.kind != "issue" or reference.number is None or not own:
                continue
            sign = "!" if reference.number in self._numbers else "#"
            pieces.append(f"{text[position : reference.start]}{sign}{reference.name}")
            position = reference.end
        return "".join([*pieces, text[position:]])

    def rewrite_record(self, record: _RecordT) -> _RecordT:
        """Return an issue or merge request with the references of its texts rewritten."""
        description = None if record.description is None else self.rewrite(record.description)
        discussions = [self._discussion(discussion) for discussion in record.discussions]
        return msgspec.structs.replace(record, description=description, discussions=discussions)

    def _discussion(self, discussion: DiscussionRecord) -> DiscussionRecord:
        return msgspec.structs.replace(discussion, notes=[self._note(note) for note in discussion.notes])

    def _note(self, note: NoteRecord) -> NoteRecord:
        # System notes are written by the converters, with the right sign.
        return note if note.system else msgspec.structs.replace(note, body=self.rewrite(note.body))
