"""Relations that are exported to files of their own, by GitLab's names."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import BinaryIO

from ingot.import_export.exports.archive_writer import ExportWriter, scratch_folder, write_compressed_rows
from ingot.import_export.exports.group_archive import GROUP_RELATIONS, GroupArchive
from ingot.import_export.exports.project_archive import ProjectArchive
from ingot.import_export.exports.project_tree import PROJECT_RELATIONS
from ingot.import_export.exports.queries import Exported
from ingot.import_export.exports.rows import Row
from ingot.import_export.exports.store import ExportStore
from ingot.projects.projects.tables import Project

SELF, CONTRIBUTORS = "self", "user_contributions"
_FILE_RELATIONS = ("repository", "uploads", "lfs_objects")


def relations_of(subject: Exported) -> list[str]:
    """Return the names of the relations of a project or group; the users come after the rows that refer to them."""
    if isinstance(subject, Project):
        return [SELF, *PROJECT_RELATIONS, CONTRIBUTORS, *_FILE_RELATIONS]
    return [SELF, *GROUP_RELATIONS, CONTRIBUTORS]


def relation_file_name(relation: str) -> str:
    """Return the name of the file of a relation."""
    if relation in _FILE_RELATIONS:
        return f"{relation}.tar.gz"
    return f"{relation}.json.gz" if relation == SELF else f"{relation}.ndjson.gz"


def relation_writer(
    source: ProjectArchive | GroupArchive, relation: str, store: ExportStore
) -> Callable[[BinaryIO], int]:
    """Return the function that writes the file of a relation."""
    if relation in _FILE_RELATIONS and isinstance(source, ProjectArchive):
        return partial(_write_files, source, relation, store)
    return partial(write_compressed_rows, rows=_rows(source, relation))


def _rows(source: ProjectArchive | GroupArchive, relation: str) -> Iterable[Row]:
    if relation == SELF:
        return [source.attributes()]
    return source.contributors() if relation == CONTRIBUTORS else source.relation(relation)


def _write_files(source: ProjectArchive, relation: str, store: ExportStore, target: BinaryIO) -> int:
    writers = {
        "repository": source.write_repository,
        "uploads": source.write_uploads,
        "lfs_objects": source.write_lfs_objects,
    }
    with scratch_folder(store.scratch) as folder:
        archive = ExportWriter(target, folder)
        writers[relation](archive)
        archive.close()
    return 1
