"""Files that are downloaded from a source, and their names."""

import mimetypes
import tempfile
from email.message import Message

from ingot.core.outgoing.client import HttpResponse


class DownloadedFile(tempfile.SpooledTemporaryFile[bytes]):
    """File of a source, with the name that the response has for it."""

    file_name: str | None = None


def file_name_of(response: HttpResponse) -> str | None:
    """Return the name of a file by its response: given, or at least with the extension of its type."""
    message = Message()
    message["content-disposition"] = response.header("content-disposition") or ""
    name = message.get_filename()
    if name:
        return name
    media_type = (response.header("content-type") or "").partition(";")[0].strip().lower()
    extension = mimetypes.guess_extension(media_type) if media_type != "application/octet-stream" else None
    return f"file{extension}" if extension else None
