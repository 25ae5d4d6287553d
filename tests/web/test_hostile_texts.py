"""Attack: scripts in every text field stay text on every page."""

import html
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.client import Make
from tests.conftest import Instance
from tests.sample_data.addresses import addresses, parts
from tests.sample_data.injected_elements import injected
from tests.sample_data.records import SampleData, open_sample_data
from tests.sample_data.text_fields import ELSEWHERE, free_texts, noun_of
from tests.sample_data.texts import MARK, SampleTexts
from tests.web.browser import Browser

SCRIPT = "javascript:zqx()"
# Query parameters that pages read.
QUERY_PARAMETERS = [
    "at",
    "back",
    "file",
    "file_name",
    "filter",
    "label_name",
    "namespace_id",
    "note_id",
    "order_by",
    "only",
]
QUERY_PARAMETERS += [
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
QUERY_PARAMETERS += [
    "author_username",
    "assignee_username",
    "milestone_title",
    "issue[title]",
    "issue[description]",
    "with",
]
QUERY_PARAMETERS += [
    "merge_request[source_branch]",
    "merge_request[title]",
    "issuable_template",
    "start",
    "diff_id",
    "member",
]


@pytest.fixture(scope="module")
def samples(instance: Instance, make: Make) -> Iterator[SampleData]:
    """Yield hostile sample data; URL fields are also tried with script URLs."""
    with open_sample_data(instance, make, SampleTexts(hostile=True)) as samples:
        for method, path, sent in _scripts(samples):
            answer = make.api.request(method, path, make.root, json=sent)
            assert answer.status_code in (200, 201, 400, 422), (path, answer.text)
        yield samples


def _scripts(samples: SampleData) -> list[tuple[str, str, dict[str, Any]]]:
    here, link = samples.project.url, {"link_url": SCRIPT, "image_url": SCRIPT}
    return [
        ("PUT", f"/users/{samples.owner.id}", {"website_url": SCRIPT}),
        ("PUT", f"/users/{samples.owner.id}", {"linkedin": SCRIPT, "twitter": SCRIPT, "skype": SCRIPT}),
        ("POST", f"{here}/badges", link),
        ("POST", f"{samples.group.url}/badges", link),
        ("POST", f"{here}/environments", {"name": "script", "external_url": SCRIPT}),
        ("POST", f"{here}/hooks", {"url": SCRIPT}),
        ("POST", "/hooks", {"url": SCRIPT}),
        ("POST", "/applications", {"name": "x", "redirect_uri": SCRIPT, "scopes": "api"}),
        ("POST", f"{here}/statuses/master", {"state": "success", "name": "script", "target_url": SCRIPT}),
        ("POST", f"{here}/releases/{quote(samples.named[':tag'], safe='')}/assets/links", {"name": "x", "url": SCRIPT}),
        ("PUT", f"{here}/integrations/external-wiki", {"external_wiki_url": SCRIPT}),
        ("PUT", f"{samples.group.url}/integrations/external-wiki", {"external_wiki_url": SCRIPT}),
        ("PUT", "/application/settings", {"help_page_support_url": SCRIPT}),
        ("POST", f"{here}/labels", {"name": "coloured", "color": "#fff;background:url(zqx)"}),
        ("PUT", f"/broadcast_messages/{samples.named['message']}", {"color": "url(zqx)", "font": "red;zqx"}),
    ]


@pytest.fixture(scope="module")
def browsers(instance: Instance, samples: SampleData) -> Iterator[dict[str, Browser]]:
    """Yield one browser per visitor."""
    with ExitStack() as stack:
        found = {name: stack.enter_context(Browser(instance.url)) for name in ("owner", "colleague", "root", "nobody")}
        for name, person in samples.people.items():
            found[name].signed_in_as(person)
        yield found


def _violations(answer: httpx.Response) -> list[str]:
    assert answer.status_code < 500, answer.request.url
    return injected(answer.text) if answer.headers.get("content-type", "").startswith("text/html") else []


def test_every_text_of_the_api_is_hostile(samples: SampleData) -> None:
    """A new text field must be filled in the sample data, or listed as an exception."""
    given = {(noun_of(call), name) for call, name in samples.said}

    assert sorted(free_texts() - given - ELSEWHERE.keys()) == []
    assert sorted(ELSEWHERE.keys() - free_texts()) == []


def test_pages_contain_no_injected_elements(browsers: dict[str, Browser], samples: SampleData) -> None:
    found: dict[str, list[str]] = {}
    held = 0
    for address in addresses(samples):
        if address.sent is None:
            answer = browsers[address.visitor].get(address.path, follow_redirects=True)
            found[address.path] = _violations(answer)
            held += MARK in answer.text

    assert {path: troubles for path, troubles in found.items() if troubles} == {}
    assert held > 180, "Hostile texts are on nearly all pages, except those of empty projects."


def test_page_parts_contain_no_injected_elements(browsers: dict[str, Browser], samples: SampleData) -> None:
    """Including pages that return a part of themselves to scripts."""
    found = {}
    for address in [
        *parts(samples),
        *(each for each in addresses(samples) if "/:path/-/" in each.route and not each.sent),
    ]:
        answer = browsers[address.visitor].get(address.path, headers={"HX-Request": "true"})
        found[address.path] = _violations(answer)

    assert {path: troubles for path, troubles in found.items() if troubles} == {}


def test_query_parameters_are_escaped(browsers: dict[str, Browser], samples: SampleData) -> None:
    query = "&".join(f"{quote(name)}={quote(samples.words.plain('x', 160))}" for name in QUERY_PARAMETERS)
    found, seen = {}, set()
    for address in addresses(samples):
        if address.sent is None and address.route not in seen:
            seen.add(address.route)
            path = f"{address.path}{'&' if '?' in address.path else '?'}{query}"
            found[address.path] = _violations(browsers[address.visitor].get(path))

    assert {path: troubles for path, troubles in found.items() if troubles} == {}


def test_redisplayed_form_values_are_escaped(browsers: dict[str, Browser], samples: SampleData) -> None:
    """A rejected form shows all values except passwords and keys."""
    tokens = {name: browser.token() for name, browser in browsers.items()}
    found = {}
    for address in addresses(samples):
        if address.sent is not None:
            typed = {name: samples.words.plain(value) for name, value in address.sent.items()}
            sent = {"authenticity_token": tokens[address.visitor], **typed}
            answer = browsers[address.visitor].post(address.path, data=sent)
            found[address.path] = _violations(answer)
            if answer.status_code == 422:
                shown = html.unescape(answer.text)
                found[address.path] += [
                    f"lost {name}" for name, value in typed.items() if value not in shown and "password" not in name
                ]

    assert {path: troubles for path, troubles in found.items() if troubles} == {}


def test_injected_elements_are_detected() -> None:
    """Each kind of injection is found, and escaped text is not."""
    words = SampleTexts(hostile=True)
    assert (
        injected('<!doctype html><p title="&quot;&gt;&lt;zqx onzqx=1&gt;">&lt;script&gt;zqx()&lt;/script&gt;</p>') == []
    )
    assert len(injected(words.plain("x"))) >= 5
    for page in (
        '<a href="javascript:zqx()">',
        '<a href=" JaVascript:zqx()">',
        '<img src="data:text/html,zqx">',
        "<p style='color: red'>",
        "<p onclick=x>",
        "<p zqx=1>",
        "<form action='//evil.example'>",
        "<button formaction='javascript:zqx()'>",
        "<rect fill='url(zqx)'>",
        "<i class='zqx'>",
        "<i hx-vals='zqx'>",
        "<style></style>",
        "<script>zqx()</script>",
        "<base href='/'>",
        "<!-- zqx -->",
        "<meta http-equiv=refresh>",
    ):
        assert injected(page), page
