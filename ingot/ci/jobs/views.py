"""Response structs of resource groups."""

from ingot.ci.job_records.tables import ProcessMode, ResourceGroup
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp


class ResourceGroupView(View):
    """Group of jobs of which one runs at a time."""

    id: int
    key: str
    process_mode: ProcessMode
    created_at: Timestamp
    updated_at: Timestamp


def resource_group_view(group: ResourceGroup) -> ResourceGroupView:
    """Return the view of a resource group."""
    return ResourceGroupView(group.id, group.key, group.process_mode, group.created_at, group.updated_at)
