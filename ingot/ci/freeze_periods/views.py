"""Response structs of freeze periods."""

from ingot.ci.freeze_periods.tables import FreezePeriod
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp


class FreezePeriodView(View):
    """A freeze period."""

    id: int
    freeze_start: str
    freeze_end: str
    cron_timezone: str
    created_at: Timestamp
    updated_at: Timestamp


def freeze_period_view(period: FreezePeriod) -> FreezePeriodView:
    """Return the view of a freeze period."""
    return FreezePeriodView(
        period.id,
        period.freeze_start,
        period.freeze_end,
        period.cron_timezone,
        period.created_at,
        period.updated_at,
    )
