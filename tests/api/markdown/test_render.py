"""Markdown rendering through the API."""

import pytest

from ingot.collaboration.markdown import api as markdown_api
from ingot.core.markup.render_pool import POOL, RendererUnavailable
from tests.client import Api, Make
from tests.factories import make_group, make_project
from tests.markup.hostile import PAYLOADS
from tests.statements import cold_reads, executed


def test_a_text_is_rendered_as_html(api: Api, make: Make) -> None:
    answer = api.post("/markdown", make.user(), text="# Title\n\n**bold** :tada: <script>alert(1)</script>")

    assert answer.status_code == 201
    html = answer.json()["html"]
    assert "<strong>bold</strong>" in html
    assert "🎉" in html
    assert 'id="user-content-title"' in html
    assert "script" not in html


def test_terms_of_description_lists_have_positions(api: Api, make: Make) -> None:
    html = api.post("/markdown", make.user(), text="Term\n: Meaning").json()["html"]
    assert '<dt data-sourcepos="1:1-1:4">Term</dt>' in html


def test_rendering_requires_authentication(api: Api) -> None:
    assert api.post("/markdown", text="a").status_code == 401


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({}, 400),
        ({"text": ["a"]}, 400),
        ({"text": "a", "gfm": "perhaps"}, 400),
        ({"text": "a" * 300_001}, 400),
        ({"text": ""}, 201),
        ({"text": "a" * 300_000}, 201),
        ({"text": "a", "project": "no/such"}, 404),
        ({"text": "🎉 é 漢"}, 201),
    ],
)
def test_valid_and_invalid_parameters(api: Api, make: Make, sent: dict[str, object], status: int) -> None:
    assert api.post("/markdown", make.user(), **sent).status_code == status


def test_long_texts_of_one_user_are_limited(api: Api, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither other users nor short texts are concerned."""
    monkeypatch.setattr(markdown_api, "MAX_LONG_TEXTS", 2)
    user, long_text = make.user(), "a " * 16_001
    statuses = [api.post("/markdown", user, text=long_text).status_code for _ in range(3)]
    assert statuses == [201, 201, 429]
    assert api.post("/markdown", user, text="short").status_code == 201
    assert api.post("/markdown", make.user(), text=long_text).status_code == 201


@pytest.mark.parametrize("gfm", [False, True])
def test_a_text_is_not_returned_unrendered(gfm: bool, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """While no rendering process is free, the caller is asked to retry."""

    def refuse(*_: object) -> None:
        raise RendererUnavailable

    sent = {"text": f"# {make.name()}\n\n" + "**bold**\n" * 1_000, "gfm": gfm}
    with monkeypatch.context() as patch:
        patch.setattr(POOL, "render", refuse)
        refused = api.post("/markdown", make.root, **sent)
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) > 0
    assert "<strong>bold</strong>" in api.post("/markdown", make.root, **sent).json()["html"]


def test_mentions_are_links_only_in_gfm(api: Api, make: Make) -> None:
    reader, other = make.user(), make.user()
    text = f"@{other.username} @nobody-of-this-name `@{other.username}`"

    plain = api.post("/markdown", reader, text=text).json()["html"]
    rich = api.post("/markdown", reader, text=text, gfm=True).json()["html"]

    assert "<a" not in plain
    assert rich.count("<a") == 1
    assert f'data-user="{other.id}"' in rich
    assert f'href="{api.url.rstrip("/")}/{other.username}"' in rich
    assert "@nobody-of-this-name" in rich


def test_links_depend_on_the_readers_permissions(api: Api, make: Make) -> None:
    owner, stranger = make.user(), make.user()
    group = make_group(make, owner, visibility="private")
    unknown = "x" * len(group.path)

    seen = api.post("/markdown", owner, text=f"@{group.path}", gfm=True).json()["html"]
    hidden = api.post("/markdown", stranger, text=f"@{group.path}", gfm=True).json()["html"]
    missing = api.post("/markdown", stranger, text=f"@{unknown}", gfm=True).json()["html"]

    assert f'data-group="{group.id}"' in seen
    assert hidden.replace(group.path, unknown) == missing


def test_the_project_must_be_visible(api: Api, make: Make) -> None:
    owner, stranger = make.user(), make.user()
    project = make_project(make, owner, visibility="private")
    sent = {"text": "@all ![x](/uploads/ab/c.png)", "gfm": True, "project": project.path}

    html = api.post("/markdown", owner, **sent).json()["html"]

    assert f'data-project="{project.id}"' in html
    assert f'/{project.path}/uploads/ab/c.png"' in html
    assert api.post("/markdown", stranger, **sent).status_code == 404


def test_many_mentions_take_constant_statements(api: Api, make: Make) -> None:
    reader = make.user()
    people = [make.user() for _ in range(5)]

    def cost(names: list[str]) -> int:
        before = []
        for _ in range(3):
            start = executed(make.database)
            assert api.post("/markdown", reader, text=" ".join(names), gfm=True).status_code == 201
            before.append(executed(make.database) - start)
        return min(before)

    with cold_reads():
        assert cost([f"@{one.username}" for one in people] * 300) == cost([f"@{people[0].username}"])


@pytest.mark.parametrize("name", ["images without an end", "insertions", "backticks", "nested brackets"])
def test_hostile_texts_are_rendered(api: Api, make: Make, name: str) -> None:
    assert api.post("/markdown", make.user(), text=PAYLOADS[name][:300_000], gfm=True).status_code == 201
