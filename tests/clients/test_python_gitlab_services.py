"""python-gitlab's managers for services, under both of their names, unmodified, against the server."""

from typing import Any

import pytest
from gitlab import Gitlab, GitlabGetError, GitlabUpdateError

from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project

WEBHOOK = "https://hooks.example.com/services/T/B/x"


def test_services_and_integrations(instance: Instance, make: Make) -> None:
    """Set, read, list, save and delete."""
    with Gitlab(instance.url, private_token=make.root.token) as client:
        project = client.projects.get(make_project(make).id)
        managers: list[Any] = [project.services, project.integrations]
        for manager in managers:
            assert manager.get("slack").active is False
            manager.update("slack", {"webhook": WEBHOOK, "channel": "#general", "push_events": 0})
            service = manager.get("slack")
            assert (service.slug, service.active, service.push_events) == ("slack", True, False)
            assert service.properties == {"channel": "#general"}
            service.webhook, service.channel, service.note_events = WEBHOOK, "#other", False
            service.save()
            assert (manager.get("slack").properties, manager.get("slack").note_events) == ({"channel": "#other"}, False)
            assert [each.slug for each in manager.list(get_all=True)] == ["slack"]
            with pytest.raises(GitlabUpdateError, match='"token" not given'):
                manager.update("flowdock", {})
            with pytest.raises(GitlabGetError):
                manager.get("nothing")
            manager.delete("slack")
            assert manager.list(get_all=True) == []


def test_required_attributes_of_the_client_are_sufficient(instance: Instance, make: Make) -> None:
    """Every service known to both, with the attributes that the client calls required."""
    with Gitlab(instance.url, private_token=make.root.token) as client:
        project: Any = client.projects.get(make_project(make).id)
        known = [each for each in project.integrations.available() if each not in UNSUPPORTED]
        for slug in known:
            needed, _ = project.integrations._service_attrs[slug]
            values = {name: "https://example.com/:id" if _is_url(name) else "a@example.com" for name in needed}
            if slug == "irker":
                values |= {"recipients": "irc://irc.example.com/#channel", "server_host": "gateway.example.com"}
            project.integrations.update(slug, values)
        assert {each.slug for each in project.services.list(get_all=True)} == set(known)


UNSUPPORTED = {"circuit", "github", "hangouts-chat", "packagist", "jenkins", "youtrack"}


def _is_url(name: str) -> bool:
    return name.endswith("url") or name == "webhook"
