"""Limits of the diffs that responses and pages show, from the settings of the instance."""

from functools import lru_cache

import msgspec

from ingot.accounts.instance.settings import cached_stored_settings
from ingot.core.db.connection import Connection
from ingot.git.diffs.diffs import DEFAULT_LIMITS, DiffLimits


class _DiffSettings(msgspec.Struct):
    """The settings that concern diffs; limit_settings.py declares them."""

    diff_max_files: int = DEFAULT_LIMITS.files
    diff_max_lines: int = DEFAULT_LIMITS.lines
    diff_max_patch_bytes: int = DEFAULT_LIMITS.patch_bytes


def diff_limits(db: Connection) -> DiffLimits:
    """Return the current limits; they are at most those with which positions of comments are found."""
    return _limits(cached_stored_settings(db).document)


@lru_cache(4)
def _limits(document: str) -> DiffLimits:
    settings = msgspec.json.decode(document, type=_DiffSettings)
    return DEFAULT_LIMITS._replace(
        files=settings.diff_max_files, lines=settings.diff_max_lines, patch_bytes=settings.diff_max_patch_bytes
    )
