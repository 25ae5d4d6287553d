"""Request parameters of secondary email addresses."""

from ingot.core.api.params import Params


class CreateEmail(Params):
    """A secondary email address of the caller."""

    email: str


class CreateEmailOfUser(Params):
    """A secondary email address of a user, which an administrator may mark as verified."""

    email: str
    skip_confirmation: bool = False
