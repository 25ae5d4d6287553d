"""Routes of the project pages."""

from ingot.web.projects import (
    deletion,
    forks,
    home,
    integrations,
    mirrors,
    namespaces,
    new,
    push_rules,
    repository_settings,
    settings,
)

PAGES = (
    home.pages,
    new.pages,
    deletion.pages,
    forks.pages,
    namespaces.pages,
    settings.pages,
    repository_settings.pages,
    integrations.pages,
    mirrors.pages,
    push_rules.pages,
)
