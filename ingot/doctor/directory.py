"""Whether the directory answers by which people sign in."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from ingot.doctor.findings import Finding
from ingot.settings import Settings
from ingot.users.providers.directory import DirectoryTrouble, directory_of

_NOBODY = "ingot-doctor"


def check_directory(settings: Settings) -> Iterator[Finding]:
    """Look somebody up, as a sign-in would."""
    directory = directory_of(settings)
    if directory is None:
        return
    try:
        directory.find(_NOBODY)
    except DirectoryTrouble as trouble:
        yield Finding(f"The directory {urlsplit(settings.ldap_url).hostname} cannot be used: {trouble}")
