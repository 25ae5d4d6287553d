"""What callers may send about templates."""

from ingot.core.api.params import Params


class ListLicenses(Params):
    """Filters of the list."""

    popular: bool = False


class GetLicense(Params):
    """What to fill into a licence."""

    project: str = ""
    fullname: str = ""
