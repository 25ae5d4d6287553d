"""Uploads of Python packages, as twine sends them."""

import re
from typing import NamedTuple

from ingot.core.api.params import MissingParameter
from ingot.core.api.routes import BodyContext
from ingot.core.errors import Invalid
from ingot.packages.files.store import ReceivedFile, package_store_of
from ingot.packages.files.uploads import publish, receive_form
from ingot.packages.pypi.simple_index import normalized_name
from ingot.packages.records.upload_access import allowed_upload_bytes

MAX_LENGTH = 255
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+!-]*")


class PythonUpload(NamedTuple):
    """An uploaded file of a Python package."""

    name: str
    version: str
    file_name: str
    requires_python: str
    received: ReceivedFile

    @property
    def name_key(self) -> str:
        """The normalized name."""
        return normalized_name(self.name)


async def receive_python_file(context: BodyContext) -> PythonUpload:
    """Store the file of a form after the permission was checked; verify its digests."""
    limit = await allowed_upload_bytes(context, lambda settings: settings.pypi_max_file_size, "pypi")
    form = await receive_form(context, limit, ("sha256", "md5"), "content")
    if form is None:
        raise MissingParameter("content")
    try:
        fields = form.fields
        for name in ("name", "version"):
            if not fields.get(name):
                raise MissingParameter(name)
        checks = [
            ("name", fields["name"], _NAME),
            ("version", fields["version"], _VERSION),
            ("content", form.filename, _FILE_NAME),
        ]
        for field, value, pattern in checks:
            if not pattern.fullmatch(value) or len(value) > MAX_LENGTH:
                raise Invalid(**{field: ["is invalid"]})
        for field, algorithm in (("sha256_digest", "sha256"), ("md5_digest", "md5")):
            if fields.get(field) and fields[field].lower() != form.incoming.digest(algorithm):
                raise Invalid(**{field: ["does not match the content"]})
        requires = fields.get("requires_python", "")
        if len(requires) > MAX_LENGTH or not requires.isprintable():
            raise Invalid(requires_python=["is invalid"])
        received = await publish(context, package_store_of(context.settings), form.incoming)
        return PythonUpload(fields["name"], fields["version"], form.filename, requires, received)
    finally:
        form.incoming.close()
