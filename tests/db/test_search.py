"""Indexed search finds the same rows as a full scan, for all texts and changes."""

import random
from typing import Any

import pytest
from sqlalchemy import bindparam, or_, select

from ingot.accounts.users.tables import emails, users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, like_pattern
from ingot.core.db.search import MIN_INDEXED_LENGTH, is_indexed, search_term, text_search
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.tables import projects
from tests.client import Api, Make
from tests.factories import ids, make_group, make_project

# Letters with case folding, special characters of patterns and query languages, and characters of two to four bytes.
ALPHABET = "abAB12-_%.\\\"'*(){}:^+ äßİıſΣςé中文字🚀👩‍🚀\u200b\u0301"
SEARCHED: list[tuple[Any, tuple[Any, ...]]] = [
    (projects, (projects.c.name_key, projects.c.full_path_key)),
    (projects, (projects.c.name_key,)),
    (namespaces, (namespaces.c.name_key, namespaces.c.full_path_key)),
    (users, (users.c.username_key, users.c.name_key, users.c.email)),
    (emails, (emails.c.email,)),
]
_ROW = select(projects).where(projects.c.id == bindparam("project"))


def _compare(db: Connection, sought: list[str], *places: tuple[Any, tuple[Any, ...]]) -> int:
    """Return the number of rows found by the index, which must equal those found by ``LIKE``."""
    found = 0
    for table, columns in places:
        by_index = select(table.c.id).where(text_search(table.c.id, "needle", *columns)).order_by(table.c.id)
        by_rows = select(table.c.id).where(or_(*(contains(column, "pattern") for column in columns)))
        for text in filter(is_indexed, sought):
            indexed = db.rows(by_index, needle=search_term(text))
            assert indexed == db.rows(by_rows.order_by(table.c.id), pattern=like_pattern(text)), text
            found += len(indexed)
    return found


def _texts(dice: random.Random, how_many: int, longest: int) -> list[str]:
    return ["".join(dice.choices(ALPHABET, k=dice.randint(1, longest))) for _ in range(how_many)]


def _pieces(dice: random.Random, texts: list[str]) -> list[str]:
    starts = [(text, dice.randrange(len(text))) for text in texts]
    return [text[start : start + dice.randint(MIN_INDEXED_LENGTH, 12)] for text, start in starts]


@pytest.mark.parametrize("seed", range(3))
def test_random_texts(make: Make, seed: int) -> None:
    """Names that the API would reject, inserted, changed and deleted directly."""
    dice = random.Random(seed)
    texts = [*_texts(dice, 60, 30), *_texts(dice, 10, 300)]
    sought = [*_pieces(dice, texts), *_texts(dice, 40, 5), *texts]
    spare = make_project(make)

    def add(db: Connection, number: int, text: str) -> int:
        row = dict(zip(projects.c.keys(), db.rows(_ROW, project=spare.id)[0], strict=True))
        del row["id"]
        own = {
            "name": f"{seed} {number}",
            "name_key": text.casefold(),
            "full_path_key": f"{seed}/{number}/{text[::-1].casefold()}",
            "repository_key": f"search {seed} {number}",
        }
        return db.insert(projects, **{**row, **own})

    def work(db: Connection) -> None:
        made = [add(db, number, text) for number, text in enumerate(texts)]
        at_first = _compare(db, sought, *SEARCHED[:2])
        for row_id in made[::3]:
            db.update(projects, row_id, name_key=dice.choice(texts).casefold()[::-1])
        for row_id in made[1::3]:
            db.delete(projects, row_id)
        then = _compare(db, sought, *SEARCHED[:2])
        for row_id in (*made[::3], *made[2::3]):
            db.delete(projects, row_id)
        assert at_first > then > _compare(db, sought, *SEARCHED[:2])

    make.database.write(work)


def test_rows_created_through_the_api(api: Api, make: Make) -> None:
    """Rows that were created, renamed, moved and deleted."""
    user = make.user(name="Ünïcodé Nämé 中文字")
    api.post(f"/users/{user.id}/emails", make.root, email=f"further-{user.email}", skip_confirmation=True)
    top, group = make_group(make), make_group(make)
    project = make_project(make, group=group, name=make.name("Before"))
    api.put(project.url, make.root, name="Ärger mit Ümläuten", path=make.name("after"))
    api.post(f"{group.url}/transfer", make.root, group_id=top.id)
    api.put(f"/users/{user.id}", make.root, username=make.name("renamed"))
    gone = make.user()
    make_project(make, gone)
    api.delete(f"/users/{gone.id}", make.root, hard_delete=True)

    sought = ["before", "after", "ümläut", "UMLÄ", "中文字", "ünïc", "further", "example", gone.username, user.username]
    sought += [top.name, f"{top.path}/{group.name}", group.path, "renamed", "group", "project", "person"]
    assert make.database.read(lambda db: _compare(db, sought, *SEARCHED)) > len(sought)
    assert project.id in ids(api.get("/projects", make.root, search=f"{top.name}/{group.name}"))
    assert ids(api.get("/groups", make.root, search=f"{top.name}/{group.name}")) == [group.id]
    assert ids(api.get("/projects", make.root, search=project.name)) == []
    assert ids(api.get("/users", make.root, search=f"further-{user.email}"[2:-2])) == [user.id]


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_short_queries_find_the_same(api: Api, make: Make, length: int) -> None:
    """Below three characters there are no trigrams."""
    owner = make.user()
    hit = make_project(make, owner, name="zqxw", path="zqxw-path")
    text = "ZqXw"[:length]

    assert ids(api.get("/projects", owner, search=text)) == [hit.id]
    assert ids(api.get("/projects", owner, membership=True, search=text, order_by="name")) == [hit.id]
    assert ids(api.get(f"/projects/search/{text}", owner)) == [hit.id]
    assert ids(api.get("/projects", owner, search=text, pagination="keyset", order_by="id")) == [hit.id]
    api.delete(hit.url, owner)


SPECIAL_CHARACTERS = [
    '"""',
    "'''",
    "a OR b",
    "NEAR(a b)",
    "-abc",
    "abc*",
    "^abc",
    "{name_key} : abc",
    "(((",
    "%%%",
    "___",
    "\\\\\\",
]


@pytest.mark.parametrize("text", [*SPECIAL_CHARACTERS, "x" * 8000])
@pytest.mark.parametrize("path", ["/projects", "/groups", "/users", "/namespaces"])
def test_special_characters_are_literal(api: Api, make: Make, path: str, text: str) -> None:
    found = api.get(path, make.root, search=text)

    assert found.status_code == 200
    assert found.json() == []


@pytest.mark.parametrize("path", ["/projects", "/groups", "/users", "/namespaces"])
def test_too_long_queries_are_rejected(api: Api, make: Make, path: str) -> None:
    assert api.get(path, make.root, search="x" * 8001).status_code == 400


@pytest.mark.parametrize("most_looked_up", [250, 0])
def test_few_and_many_matches(api: Api, make: Make, monkeypatch: pytest.MonkeyPatch, most_looked_up: int) -> None:
    """A query with very many matches takes another plan, with the same rows in the same order."""
    monkeypatch.setattr("ingot.projects.projects.queries.MAX_LOOKUP_IDS", most_looked_up)
    owner, word = make.user(), make.name("many")
    made = [make_project(make, owner, name=f"{word} {number:03}").id for number in range(12)]

    for sort, expected in (("asc", made), ("desc", made[::-1])):
        found = api.get("/projects", owner, search=word, order_by="name", sort=sort, per_page=5, page=2)
        assert ids(found) == expected[5:10]
        assert found.headers["x-total"] == "12"
