"""Symbols of files, the blame before a change, and the switch of wrapped lines."""

import pytest

from ingot.web.code.symbols import MAX_SYMBOLS, file_symbols
from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History
from tests.web.browser import Browser
from tests.web.hostile import HOSTILE, is_safe


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("py", "class A(B):\n    async def run(self):\n        def inner(): ...\n# def no\n", ["A", ".run", "..inner"]),
        ("go", "func (s *Server) Serve(x int) {\n\treturn foo(x)\n}\ntype T struct {", ["Serve", "T"]),
        ("ts", "export class A {\nconst run = async (x) => {\nconst a = 1\ntype X = {\n", ["A", "run", "X"]),
        ("js", "export default async function* f(a) {\nreturn f(a)\n", ["f"]),
        (
            "c",
            "static char *name(int x) {\n  return f(x);\n  else if (x) {\nint declared(int);\nstruct s {",
            ["name", "s"],
        ),
        ("java", "public class A {\n  static void main(String[] a) {\n    new Foo(a) {\n", ["A", ".main"]),
        ("rs", "pub(crate) async fn run() {\nmacro_rules! m {\nimpl X for Y {", ["run", "m"]),
        ("rb", "class A::B\n  def self.x?\n", ["A::B", ".self.x?"]),
        ("sql", 'CREATE TABLE IF NOT EXISTS "x" (', ['"x"']),
        ("sh", "run() {\nrun\n", ["run"]),
        ("unknown", "def x():", []),
        ("py", f"def {'x' * 400}():\n", []),
    ],
)
def test_symbols_of_languages(language: str, text: str, names: list[str]) -> None:
    found = file_symbols(text, language)
    assert [f"{'.' * symbol.depth}{symbol.name}" for symbol in found] == names


def test_many_symbols_are_limited() -> None:
    assert len(file_symbols("def f(): ...\n" * (MAX_SYMBOLS + 1), "python")) == MAX_SYMBOLS


def test_pages_of_a_file(browser: Browser, instance: Instance, make: Make) -> None:
    project = make_project(make, visibility="public")
    history = History()
    filler = "# line\n" * 500
    old = 'odd "name"/é.py'
    first = history.commit(files={old: f"def first():\n    pass\n{filler}", "moved.py": "a\nb\nc\nd\ne\nf\n"})
    second = history.commit(
        files={
            old: f"def second():\n    pass\n{filler}def last(): ...\n",
            "new.py": "a\nb\nc\nd\nx\nf\n",
        },
        message=f"Second {HOSTILE}",
        removed=("moved.py",),
    )
    made = history.fill(instance, project)
    here, name = f"/{project.path}/-", "odd%20%22name%22/%C3%A9.py"

    shown = browser.get(f"{here}/blob/master/{name}").text
    assert 'href="#L1">second</a>' in shown and 'href="?all=1#L503">last</a>' in shown
    assert 'data-wrap="lines"' in shown
    blame = browser.get(f"{here}/blame/master/{name}").text
    assert is_safe(blame)
    before = f'{here}/blame/{made[first]}/{name}#L1"'
    assert before in blame and blame.count('class="before"') == 2
    earlier = browser.get(before.partition("#")[0])
    assert earlier.status_code == 200 and ">first" in earlier.text and 'class="before"' not in earlier.text
    # The change of a renamed file leads to its former name.
    assert f"{here}/blame/{made[first]}/moved.py#L5" in browser.get(f"{here}/blame/master/new.py").text
    assert 'data-wrap="diff" checked' in browser.get(f"{here}/commit/{made[second]}").text
