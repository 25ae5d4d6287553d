"""The pages of this room, for the door."""

from ingot.web.projects import creating, deleting, forking, home, namespaces, repository_settings, services, settings

PAGES = (
    home.pages,
    creating.pages,
    deleting.pages,
    forking.pages,
    namespaces.pages,
    settings.pages,
    repository_settings.pages,
    services.pages,
)
