"""Request parameters of freeze periods."""

from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params


class CreateFreezePeriod(Params):
    """A new freeze period."""

    freeze_start: str
    freeze_end: str
    cron_timezone: str = "UTC"


class EditFreezePeriod(Params):
    """Changes of a freeze period."""

    freeze_start: str | UnsetType = UNSET
    freeze_end: str | UnsetType = UNSET
    cron_timezone: str | UnsetType = UNSET
