"""What callers may upload."""

from ingot.core.api.params import Params, Upload


class UploadFile(Params):
    """Any file."""

    file: Upload
