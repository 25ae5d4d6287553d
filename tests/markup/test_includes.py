"""Inclusion of other files in Markdown files."""

from ingot.core.markup.includes import MAX_FILES, expand_includes

FILES = {"a.md": "# A\n", "self.md": "::include{file=self.md}\n", "large.md": "x" * 1_000_001}


def test_lines_are_replaced_by_files_outside_of_code() -> None:
    text = "one\n\n::include{file=a.md}\n\n```\n::include{file=a.md}\n```\n\nnot ::include{file=a.md}"
    assert expand_includes(text, FILES.get) == text.replace("\n\n::include{file=a.md}\n", "\n\n# A\n", 1)
    assert expand_includes("::include{file=self.md}", FILES.get) == "::include{file=self.md}"


def test_missing_large_and_too_many_files_become_links() -> None:
    assert expand_includes("::include{file=none.md}", FILES.get) == "[none.md](<none.md>)"
    assert expand_includes("::include{file=large.md}", FILES.get) == "[large.md](<large.md>)"
    expanded = expand_includes("::include{file=a.md}\n" * (MAX_FILES + 5), FILES.get)
    assert (expanded.count("# A"), expanded.count("[a.md]")) == (MAX_FILES, 5)
