"""Events of services."""

from ingot.core.events.bus import Event
from ingot.integrations.tables import Service


class ServiceChanged(Event, frozen=True):
    """Creation or change of a service of a project or group."""

    service: Service
