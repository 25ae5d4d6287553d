"""Parser of dotenv reports: variables that a job passes to later jobs."""

import re
from typing import BinaryIO

from ingot.ci.artifacts.reports.content import InvalidReport, read_members
from ingot.ci.artifacts.tables import ArtifactFormat

# A report must not choose which programs and credentials a later job uses.
_REFUSED_KEYS = frozenset(
    [
        "PATH",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "SHELLOPTS",
        "IFS",
        "CI_JOB_TOKEN",
        "CI_BUILD_TOKEN",
        "CI_REPOSITORY_URL",
        "CI_REGISTRY_USER",
        "CI_REGISTRY_PASSWORD",
    ]
)
_KEY = re.compile(r"[A-Za-z0-9_]{1,255}")


def parse_dotenv(
    file: BinaryIO, file_format: ArtifactFormat, *, max_bytes: int, max_variables: int
) -> tuple[tuple[str, str], ...]:
    """Return the variables of a report, the last value of each; raise InvalidReport if it breaks a rule."""
    variables: dict[str, str] = {}
    for member in read_members(file, file_format, max_bytes):
        for line in _decode(b"".join(member)).splitlines():
            key, separator, value = line.partition("=")
            if not separator:
                raise InvalidReport("Invalid Format")
            key = key.strip()
            if not _KEY.fullmatch(key):
                raise InvalidReport("Key can contain only letters, digits and '_'.")
            if key.upper() in _REFUSED_KEYS:
                raise InvalidReport(f"Dotenv files cannot set {key}")
            if "\0" in value:
                raise InvalidReport("Invalid Format")
            variables[key] = value.strip()
    if len(variables) > max_variables:
        raise InvalidReport(f"Dotenv files cannot have more than {max_variables} variables")
    return tuple(variables.items())


def _decode(content: bytes) -> str:
    """Decode a report; shells of Windows write UTF-16."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    return content.decode("utf-8-sig", "replace")
