"""What callers may upload."""

from ingot.api.params import Params, Upload


class UploadFile(Params):
    """Any file."""

    file: Upload
