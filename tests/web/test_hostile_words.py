"""D24, D25: words that are to run in others' browsers, in every text that people write, stay words on every page."""

import html
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.client import Make
from tests.conftest import House
from tests.everywhere.addresses import addresses, parts
from tests.everywhere.elements import alive
from tests.everywhere.fields import ELSEWHERE, free_texts, noun_of
from tests.everywhere.words import MARK, Words
from tests.everywhere.world import World, open_world
from tests.web.browser import Browser

SCRIPT = "javascript:zqx()"
# What pages read from their address.
ASKED = ["at", "back", "file", "file_name", "filter", "label_name", "namespace_id", "note_id", "order_by", "only"]
ASKED += [
    "path",
    "redirect_to",
    "ref",
    "scope",
    "search",
    "sort",
    "state",
    "status",
    "tag_name",
    "topic",
    "view",
    "word",
]
ASKED += ["author_username", "assignee_username", "milestone_title", "issue[title]", "issue[description]", "with"]
ASKED += ["merge_request[source_branch]", "merge_request[title]", "issuable_template", "start", "diff_id", "member"]


@pytest.fixture(scope="module")
def world(house: House, make: Make) -> Iterator[World]:
    """Everything in it is hostile; addresses that are scripts are offered wherever an address is taken."""
    with open_world(house, make, Words(hostile=True)) as world:
        for method, path, sent in _scripts(world):
            answer = make.api.request(method, path, make.root, json=sent)
            assert answer.status_code in (200, 201, 400, 422), (path, answer.text)
        yield world


def _scripts(world: World) -> list[tuple[str, str, dict[str, Any]]]:
    here, link = world.project.url, {"link_url": SCRIPT, "image_url": SCRIPT}
    return [
        ("PUT", f"/users/{world.owner.id}", {"website_url": SCRIPT}),
        ("PUT", f"/users/{world.owner.id}", {"linkedin": SCRIPT, "twitter": SCRIPT, "skype": SCRIPT}),
        ("POST", f"{here}/badges", link),
        ("POST", f"{world.group.url}/badges", link),
        ("POST", f"{here}/environments", {"name": "script", "external_url": SCRIPT}),
        ("POST", f"{here}/hooks", {"url": SCRIPT}),
        ("POST", "/hooks", {"url": SCRIPT}),
        ("POST", "/applications", {"name": "x", "redirect_uri": SCRIPT, "scopes": "api"}),
        ("POST", f"{here}/statuses/master", {"state": "success", "name": "script", "target_url": SCRIPT}),
        ("POST", f"{here}/releases/{quote(world.named[':tag'], safe='')}/assets/links", {"name": "x", "url": SCRIPT}),
        ("PUT", f"{here}/integrations/external-wiki", {"external_wiki_url": SCRIPT}),
        ("PUT", "/application/settings", {"help_page_support_url": SCRIPT}),
        ("POST", f"{here}/labels", {"name": "coloured", "color": "#fff;background:url(zqx)"}),
        ("PUT", f"/broadcast_messages/{world.named['message']}", {"color": "url(zqx)", "font": "red;zqx"}),
    ]


@pytest.fixture(scope="module")
def browsers(house: House, world: World) -> Iterator[dict[str, Browser]]:
    """One for each who visits pages."""
    with ExitStack() as stack:
        found = {name: stack.enter_context(Browser(house.url)) for name in ("owner", "colleague", "root", "nobody")}
        for name, person in world.people.items():
            found[name].signed_in_as(person)
        yield found


def _troubles(answer: httpx.Response) -> list[str]:
    assert answer.status_code < 500, answer.request.url
    return alive(answer.text) if answer.headers.get("content-type", "").startswith("text/html") else []


def test_every_text_of_the_api_is_hostile(world: World) -> None:
    """Whoever adds one gives it hostile words in the world of these tests, or says why there is no need."""
    given = {(noun_of(call), name) for call, name in world.said}

    assert sorted(free_texts() - given - ELSEWHERE.keys()) == []
    assert sorted(ELSEWHERE.keys() - free_texts()) == []


def test_no_page_lets_words_live(browsers: dict[str, Browser], world: World) -> None:
    found: dict[str, list[str]] = {}
    held = 0
    for address in addresses(world):
        if address.sent is None:
            answer = browsers[address.visitor].get(address.path, follow_redirects=True)
            found[address.path] = _troubles(answer)
            held += MARK in answer.text

    assert {path: troubles for path, troubles in found.items() if troubles} == {}
    assert held > 180, "The words have come to nearly all pages, those of empty projects aside."


def test_no_part_does(browsers: dict[str, Browser], world: World) -> None:
    """Nor what scripts ask for; whole pages answer them with a part of themselves."""
    found = {}
    for address in [*parts(world), *(each for each in addresses(world) if "/:path/-/" in each.route and not each.sent)]:
        answer = browsers[address.visitor].get(address.path, headers={"HX-Request": "true"})
        found[address.path] = _troubles(answer)

    assert {path: troubles for path, troubles in found.items() if troubles} == {}


def test_nor_does_what_an_address_asks_for(browsers: dict[str, Browser], world: World) -> None:
    query = "&".join(f"{quote(name)}={quote(world.words.say('x', 160))}" for name in ASKED)
    found, seen = {}, set()
    for address in addresses(world):
        if address.sent is None and address.route not in seen:
            seen.add(address.route)
            path = f"{address.path}{'&' if '?' in address.path else '?'}{query}"
            found[address.path] = _troubles(browsers[address.visitor].get(path))

    assert {path: troubles for path, troubles in found.items() if troubles} == {}


def test_nor_does_what_a_form_gives_back(browsers: dict[str, Browser], world: World) -> None:
    """All that was typed is given back by a form that refuses it, passwords and keys aside."""
    tokens = {name: browser.token() for name, browser in browsers.items()}
    found = {}
    for address in addresses(world):
        if address.sent is not None:
            typed = {name: world.words.say(value) for name, value in address.sent.items()}
            sent = {"authenticity_token": tokens[address.visitor], **typed}
            answer = browsers[address.visitor].post(address.path, data=sent)
            found[address.path] = _troubles(answer)
            if answer.status_code == 422:
                shown = html.unescape(answer.text)
                found[address.path] += [
                    f"lost {name}" for name, value in typed.items() if value not in shown and "password" not in name
                ]

    assert {path: troubles for path, troubles in found.items() if troubles} == {}


def test_who_looks_sees_what_lives() -> None:
    """Each way in which words come alive is told; as words they are not."""
    words = Words(hostile=True)
    assert alive('<!doctype html><p title="&quot;&gt;&lt;zqx onzqx=1&gt;">&lt;script&gt;zqx()&lt;/script&gt;</p>') == []
    assert len(alive(words.say("x"))) >= 5
    for page in (
        '<a href="javascript:zqx()">',
        '<a href=" JaVascript:zqx()">',
        '<img src="data:text/html,zqx">',
        "<p style='color: red'>",
        "<p onclick=x>",
        "<p zqx=1>",
        "<form action='//evil.example'>",
        "<button formaction='javascript:zqx()'>",
        "<i data-color='url(zqx)'>",
        "<i class='zqx'>",
        "<i hx-vals='zqx'>",
        "<style></style>",
        "<script>zqx()</script>",
        "<base href='/'>",
        "<!-- zqx -->",
        "<meta http-equiv=refresh>",
    ):
        assert alive(page), page
