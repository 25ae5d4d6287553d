"""Archives of GitLab 9 to 12: one document with the whole project."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

from ingot.import_export.records import KINDS
from ingot.import_export.sources.archive.opening import open_archive
from tests.transfers.exports.archives import write_archive

ADA = {"id": 7, "username": "ada", "email": "ada@example.org"}
NOTE = {"note": "Again\nand again", "author_id": 7, "created_at": "2017-08-01T10:00:00.000Z", "noteable_type": "Issue"}
DOCUMENT: dict[str, Any] = {
    "description": "A tool",
    "visibility_level": 20,
    "tag_list": ["metal"],
    "labels": [{"id": 1, "title": "bug", "color": "#ff0000"}],
    "milestones": [{"id": 1, "iid": 1, "title": "First", "state": "active"}],
    "issues": [
        {"iid": 1, "title": "It breaks", "state": "reopened", "author_id": 7, "assignee_id": 7, "notes": [NOTE]},
        {"iid": 2, "title": 7, "author_id": 7},
        {"iid": 3, "title": "Third", "state": "closed", "author_id": 7, "issue_assignees": [{"user_id": 7}]},
    ],
    "merge_requests": [
        {
            "iid": 1,
            "title": "Better",
            "state": "opened",
            "source_branch": "feature",
            "target_branch": "master",
            "author_id": 7,
            "assignee_id": 7,
            "merge_request_diff": {"id": 1, "merge_request_diff_files": [{"diff": "+1"}]},
        }
    ],
    "project_members": [{"access_level": 40, "user_id": 7, "user": ADA}],
    "project_feature": {"wiki_access_level": 0},
    "pipelines": [],
}


def _archive(folder: Path, version: bytes) -> Path:
    content = json.dumps(DOCUMENT, indent=1).encode()
    return write_archive(folder / "old.tar.gz", {"VERSION": version, "project.json": content})


def test_an_archive_with_one_document_is_read(tmp_path: Path) -> None:
    """A record that is not valid is reported with its place; the others are read like those of later versions."""
    for version in (b"0.1.6", b"0.1.8\n", b"0.2.4"):
        with closing(open_archive(_archive(tmp_path, version))) as source:
            read: dict[str, list[Any]] = {
                kind: [record for batch in source.batches(kind, None, None) for record in batch.records]
                for kind in KINDS
            }
            (problem,) = source.take_problems()
            counted = {each.kind: each.count for each in source.inventory().counts}
        assert "issues.ndjson" in problem and "line 2" in problem
        first, third = read["issues"]
        assert (first.title, first.state) == ("It breaks", "opened")
        assert first.discussions[0].notes[0].body == "Again\nand again"
        assert (third.title, third.state) == ("Third", "closed")
        (request,) = read["merge_requests"]
        for item in (first, third, request):
            assert [user.username for user in item.assignees] == ["ada"]
        assert [label.title for label in read["labels"]] == ["bug"]
        (settings,) = read["settings"]
        assert settings.attributes["visibility"] == "public"
        assert settings.attributes["wiki_access_level"] == "disabled"
        assert counted["issues"] == 3 and counted["merge_requests"] == 1


def test_a_reading_that_was_interrupted_begins_again(tmp_path: Path) -> None:
    path = _archive(tmp_path, b"0.1.8")
    first = open_archive(path)
    with closing(open_archive(path)) as source:
        count = sum(len(batch.records) for batch in source.batches("issues", None, None))
    first.close()
    assert count == 2
