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
            texts |= {"recipients": "irc://chat.example/#one", "server_host": "gateway.example"}
        for place in (samples.project, samples.group):
            samples.put(f"{place.url}/integrations/{slug}", **texts)


def open_chat_link(samples: "SampleData") -> None:
    """Send a slash command of an unknown chat user, and remember the link to connect an account."""
    here, plain = f"{samples.project.url}/integrations", samples.words.plain
    samples.put(f"{here}/slack-slash-commands", token="chat")
    command = {"token": "chat", "team_id": plain("T"), "user_id": plain("U"), "command": plain("/ingot")}
    command |= {"team_domain": plain("team"), "user_name": plain("ann"), "text": plain("help")}
    reply = samples.post(f"{here}/slack_slash_commands/trigger", **command)
    samples.named["chat link"] = reply["text"].partition("token=")[2].partition("|")[0]
