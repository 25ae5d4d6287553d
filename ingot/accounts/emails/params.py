"""What callers may send about addresses."""

from ingot.core.api.params import Params


class CreateEmail(Params):
    """A further address of the caller."""

    email: str


class CreateEmailOfUser(Params):
    """A further address of somebody, for whom an administrator may vouch."""

    email: str
    skip_confirmation: bool = False
