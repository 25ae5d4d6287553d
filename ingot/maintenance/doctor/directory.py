"""Check of the LDAP connection."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from ingot.accounts.identity_providers.directory import DirectoryError
from ingot.accounts.identity_providers.ldap import configured_directory
from ingot.core.settings import Settings
from ingot.maintenance.doctor.findings import DoctorFinding

_UNKNOWN_LOGIN = "ingot-doctor"


def check_directory(settings: Settings) -> Iterator[DoctorFinding]:
    """Look up a user, as a sign-in does."""
    directory = configured_directory(settings)
    if directory is None:
        return
    try:
        directory.find(_UNKNOWN_LOGIN)
    except DirectoryError as error:
        yield DoctorFinding(f"The directory {urlsplit(settings.ldap_url).hostname} cannot be used: {error}")
