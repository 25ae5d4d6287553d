"""Request parameters of secure files."""

from ingot.core.api.params import Params, Upload


class CreateSecureFile(Params):
    """A new secure file."""

    name: str
    file: Upload
