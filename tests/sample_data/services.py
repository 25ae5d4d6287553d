"""Integrations in the sample data."""

from typing import TYPE_CHECKING

from ingot.integrations.registry import REGISTRY

if TYPE_CHECKING:
    from tests.sample_data.records import SampleData

_CHOSEN = {
    "subdomain": "team",
    "server_host": "chat.example",
    "recipients": "ada@example.org",
    "branches_to_be_notified": "all",
}


def fill_services(samples: "SampleData") -> None:
    """Fill in every text field of every service."""
    for slug, integration in REGISTRY.items():
        texts = {
            each.name: samples.words.plain("x") for each in integration.properties if each.kind in ("text", "secret")
        }
        texts |= {
            each.name: samples.words.address("https://chat.example/")
            for each in integration.properties
            if each.kind.endswith("address")
        }
        texts |= {name: _CHOSEN[name] for name in texts.keys() & _CHOSEN.keys()}
        if slug == "irker":
            texts["recipients"] = "irc://chat.example/#one"
        for place in (samples.project, samples.group):
            samples.put(f"{place.url}/integrations/{slug}", **texts)
