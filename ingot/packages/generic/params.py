"""Request parameters of generic packages."""

from typing import Literal

from ingot.core.api.params import Params


class UploadGenericFile(Params):
    """Status of a new package, and the kind of response."""

    status: Literal["default", "hidden"] = "default"
    select: Literal["package_file"] | None = None
