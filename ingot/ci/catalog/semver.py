"""Semantic versions."""

import re
from typing import NamedTuple

_VERSION = re.compile(
    r"v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([0-9A-Za-z.-]{1,200}))?(?:\+[0-9A-Za-z.-]{1,200})?"
)


class SemanticVersion(NamedTuple):
    """The parts of a version; None as the name of a pre-release stands for a release."""

    major: int
    minor: int
    patch: int
    prerelease: str | None


def parse_version_or_none(text: str) -> SemanticVersion | None:
    """Return the parts of a semantic version, which may begin with ``v``."""
    match = _VERSION.fullmatch(text)
    return None if match is None else SemanticVersion(int(match[1]), int(match[2]), int(match[3]), match[4])
