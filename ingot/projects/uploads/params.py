"""Request parameters of uploads."""

from ingot.core.api.params import Params, Upload


class UploadFile(Params):
    """File to upload."""

    file: Upload
