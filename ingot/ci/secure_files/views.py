"""Response structs of secure files."""

from typing import Any

from ingot.ci.secure_files.details import file_extension
from ingot.ci.secure_files.tables import SecureFile
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp


class SecureFileView(View):
    """A secure file; its content is not part of the response."""

    id: int
    name: str
    checksum: str
    checksum_algorithm: str
    created_at: Timestamp
    expires_at: Timestamp | None
    metadata: dict[str, Any] | None
    file_extension: str | None


def secure_file_view(file: SecureFile) -> SecureFileView:
    """Return the view of a secure file."""
    return SecureFileView(
        file.id,
        file.name,
        file.checksum,
        "sha256",
        file.created_at,
        file.expires_at,
        file.metadata,
        file_extension(file.name),
    )
