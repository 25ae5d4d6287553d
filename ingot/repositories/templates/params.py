"""Request parameters of templates."""

from ingot.core.api.params import Params


class ListLicenses(Params):
    """Filter of the licenses."""

    popular: bool = False


class GetLicense(Params):
    """Values for the placeholders of a license."""

    project: str = ""
    fullname: str = ""
