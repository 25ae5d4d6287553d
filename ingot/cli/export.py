"""``ingot export``: write the archive of a project or group to a file, whether or not the server runs."""

import argparse
import os
import sys
from pathlib import Path

from ingot.cli.options import add_instance_options, prepare_instance, require_instance, settings_from_arguments
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound, Unavailable
from ingot.import_export.exports.archive_writer import ExportWriter, scratch_folder
from ingot.import_export.exports.group_archive import GroupArchive
from ingot.import_export.exports.project_archive import ProjectArchive, ProjectFiles
from ingot.import_export.exports.rows import RowReader
from ingot.projects.groups.queries import find_group
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import find_project
from ingot.projects.uploads.files import upload_files
from ingot.repositories.lfs.files import lfs_files_of
from ingot.server.app import open_database

_OPERATOR = Actor(admin=True)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("path", metavar="PROJECT", help="id or full path of the project, or of a group with --group")
    parser.add_argument("file", metavar="FILE", help="file to write, for example project.tar.gz")
    parser.add_argument("--group", action="store_true", help="export a group and its subgroups, without projects")
    parser.epilog = (
        "The archive has GitLab's format and contains the addresses of users, but no secrets; "
        "docs/export-format.md describes it."
    )
    add_instance_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Write the archive; exit with a one-line message on failure."""
    settings = require_instance(settings_from_arguments(arguments))
    prepare_instance(settings)
    target = Path(arguments.file)
    if target.exists():
        sys.exit(f"ingot: {target} already exists; an export never overwrites a file")
    database = open_database(settings)

    def find(db: Connection) -> int:
        finder = find_group if arguments.group else find_project
        return finder(db, _OPERATOR, arguments.path)[1].id

    try:
        number = database.read(find)
        reader = RowReader(database)
        files = ProjectFiles(repository_store(settings), upload_files(settings), lfs_files_of(settings))
        source: ProjectArchive | GroupArchive = (
            GroupArchive(reader, files.repositories, number, with_emails=True)
            if arguments.group
            else ProjectArchive(reader, files, number, with_emails=True)
        )
        with scratch_folder(target.absolute().parent) as folder:
            partial = folder / "archive"
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                archive = ExportWriter(file, folder)
                rows = source.write(archive)
                archive.close()
            size = partial.stat().st_size
            partial.rename(target)
    except NotFound:  # The message names what was searched for.
        sys.exit(f"ingot: there is no {'group' if arguments.group else 'project'} {arguments.path}")
    except Unavailable as error:
        sys.exit(f"ingot: {error}")
    finally:
        database.close()
    print(f"Wrote {target}: {rows} rows, {size} bytes.")
