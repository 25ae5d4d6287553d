"""Expensive texts for renderers, each of about a million characters."""

SIZE = 1_000_000

KNOWN = ("images without an end", "insertions", "mentions in a row", "issues in a row", "backticks", "nested brackets")
"""Payloads known from other forges, which are tried at greater length than the others."""


def _filled(piece: str, before: str = "", after: str = "") -> str:
    return before + piece * ((SIZE - len(before) - len(after)) // len(piece)) + after


PAYLOADS = {
    "images without an end": _filled("![l"),
    "insertions": _filled("{++}"),
    "mentions in a row": _filled("@a"),
    "issues in a row": _filled("#1"),
    "issues": _filled("#1 "),
    "closing": _filled("closes #1, "),
    "brackets": _filled("["),
    "nested brackets": "[" * (SIZE // 2) + "]" * (SIZE // 2),
    "links without an end": _filled("[a]("),
    "links in paragraphs": _filled("[a](" * 1000 + "\n\n"),
    "images in paragraphs": _filled("![l" * 3000 + "\n\n"),
    "backticks": "`" * 250_000,
    "backticks of every length": " ".join("`" * length for length in range(1, 1400)),
    "lines": _filled("a\n"),
    "emphasis": _filled("*a "),
    "emphasis in paragraphs": _filled("**a*" * 2000 + "\n\n"),
    "strikethrough": _filled("~~a~" * 2000 + "\n\n"),
    "underscores": _filled("_a " * 2000 + "\n\n"),
    "quotes": _filled(">"),
    "quoted lines": _filled("> a\n"),
    "quotes in quotes": _filled(">" * 50 + "a\n"),
    "items": _filled("- a\n"),
    "tasks": _filled("- [ ] a\n"),
    "items in items": _filled("".join("  " * depth + "- a\n" for depth in range(40))),
    "dashes": _filled("* * * a\n"),
    "pipes": _filled("|a"),
    "a long table": _filled("|a|b|\n", before="|a|b|\n|-|-|\n"),
    "a wide table": _filled("x\n", before="|" + "a|" * 3000 + "\n|" + "-|" * 3000 + "\n"),
    "tags without an end": _filled("<a "),
    "comments without an end": _filled("<!--"),
    "nested tags": _filled("<b><div><p>"),
    "nested blocks": _filled("<div>\n\n"),
    "ampersands": _filled("&"),
    "entities": _filled("&amp;" * 3000 + "\n\n"),
    "escapes": _filled("\\#" * 5000 + "\n\n"),
    "definitions": "".join(f"[a{number}]: b\n" for number in range(90_000)),
    "footnotes": "".join(f"[^{number}]: a\n" for number in range(80_000)),
    "one footnote": _filled("[^1]" * 2000 + "\n\n", after="[^1]: x"),
    "one link": _filled("[a]" * 3000 + "\n\n", after="[a]: b"),
    "headings": _filled("a\n=\n"),
    "tabs": _filled("\t"),
    "blanks": _filled(" "),
    "line ends": _filled("\r\n"),
    "fences": _filled("```\na\n```\n"),
    "code without an end": _filled("x = {'a': 1}\n", before="```python\n"),
    "code": _filled("```python\n" + "x = {'a': '" + "\n```\n"),
    "addresses": _filled("http://a "),
    "addresses in a row": _filled("http://"),
    "parentheses": _filled(")", before="http://a"),
    "colons": _filled(":a"),
    "quoted labels": _filled('~"'),
    "percents": _filled("%"),
    "a path": _filled("a/"),
    "a hash": _filled("abcdef1.."),
}
