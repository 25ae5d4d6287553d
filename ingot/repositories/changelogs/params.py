"""Request parameters of changelogs."""

import msgspec

from ingot.core.api.params import Params
from ingot.core.db.times import Date


class GetChangelog(Params):
    """Version and range of commits of release notes."""

    version: str
    from_ref: str | None = msgspec.field(default=None, name="from")
    to: str | None = None
    date: Date | None = None
    trailer: str = "Changelog"
    config_file: str = ".gitlab/changelog_config.yml"
    config_file_ref: str | None = None


class AddChangelog(Params):
    """Version and range of commits, and the file to which the release notes are added."""

    version: str
    from_ref: str | None = msgspec.field(default=None, name="from")
    to: str | None = None
    date: Date | None = None
    trailer: str = "Changelog"
    config_file: str = ".gitlab/changelog_config.yml"
    config_file_ref: str | None = None
    branch: str | None = None
    file: str = "CHANGELOG.md"
    message: str | None = None
