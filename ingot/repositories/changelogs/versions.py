"""Semantic versions: order, the tag of the previous release, and the place of a section in a changelog."""

import re
from collections.abc import Iterable

from ingot.core.errors import Invalid

TAG_REGEX = (
    r"^v?(?P<major>\d+)\.(?P<minor>\d+)\.(?P<patch>\d+)(-(?P<pre>[0-9A-Za-z.-]+))?(\+(?P<meta>[0-9A-Za-z.-]+))?$"
)
_VERSION = re.compile(
    r"v?(?P<major>\d{1,9})\.(?P<minor>\d{1,9})\.(?P<patch>\d{1,9})(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
_HEADING = re.compile(r"^##[ \t]+(\S+)", re.MULTILINE)
Version = tuple[int, int, int, bool, str]
"""Numbers, whether it is a release, and the name of a version before the release."""


def parse_version(text: str) -> Version | None:
    """Return a version in a form that sorts, or None."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    return int(match["major"]), int(match["minor"]), int(match["patch"]), match["pre"] is None, match["pre"] or ""


def require_version(text: str) -> Version:
    """Return a version; raise Invalid for other texts."""
    version = parse_version(text)
    if version is None:
        raise Invalid(version=["is not a semantic version"])
    return version


def previous_tag(tags: Iterable[str], version: Version, tag_regex: str) -> str | None:
    """Return the tag of the newest release before a version; the expression names the parts of a version."""
    import re2  # Few processes write changelogs, and the library takes 4 MB.

    options = re2.Options()
    options.log_errors = False
    try:
        pattern = re2.compile(tag_regex, options)
    except re2.error as error:
        raise Invalid("The tag_regex of the changelog configuration is not valid") from error
    if not {"major", "minor", "patch"} <= set(pattern.groupindex):
        raise Invalid("The tag_regex of the changelog configuration must have the groups major, minor and patch")
    releases = []
    for tag in tags:
        match = pattern.search(tag)
        if match is None or ("pre" in pattern.groupindex and match["pre"]):
            continue
        number = parse_version(f"{match['major']}.{match['minor']}.{match['patch']}")
        if number is not None and number < version:
            releases.append((number, tag))
    return max(releases)[1] if releases else None


def insert_section(changelog: str, section: str, version: Version) -> str:
    """Insert a section before that of the newest older version; at the end if there is none."""
    for heading in _HEADING.finditer(changelog):
        other = parse_version(heading[1])
        if other is not None and other < version:
            return f"{changelog[: heading.start()]}{section}\n{changelog[heading.start() :]}"
    before = changelog.rstrip("\n")
    return f"{before}\n\n{section}" if before else section
