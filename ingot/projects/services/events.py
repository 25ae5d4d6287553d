"""Events of services."""

from ingot.core.events.bus import Event
from ingot.projects.services.tables import Service


class ServiceChanged(Event, frozen=True):
    """Creation or change of a project's service."""

    service: Service
