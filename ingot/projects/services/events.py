"""What is announced of services."""

from ingot.core.events.bus import Event
from ingot.projects.services.tables import Service


class ServiceChanged(Event, frozen=True):
    """A project is connected to a service, or in another way than before."""

    service: Service
