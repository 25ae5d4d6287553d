"""Ordinary and hostile texts of users."""

from dataclasses import dataclass

MARK = "zqx"
"""Part of the names of elements, attributes and functions that hostile texts try to inject."""
_TAGS = (
    "\"'><zqx onzqx=1 zqx=1><script>zqx()</script><img src=x onerror=zqx() zqx=1>`${zqx}{{7*7}}"
    "</title></textarea></select></script><!--"
)
_MARKDOWN = """

<zqx onzqx=1></zqx><script>zqx()</script><img src=x onerror=zqx() zqx=1><p style="color: red" zqx=1 onclick=zqx()>p</p>
[a](javascript:zqx()) [b](data:text/html,zqx) [c](JaVa&#9;Script:zqx()) ![d](javascript:zqx())
<https://x.example/"onzqx='zqx()'> https://x.example/"onzqx=1> [e](https://x.example "\\" onzqx=1 zqx=\\"")

```"><zqx onzqx=1>
</code></pre><script>zqx()</script>
```

# "'><zqx onzqx=1>

| <zqx onzqx=1> |
|---|
| "><svg/onload=zqx()> |

<form action="javascript:zqx()"><button formaction="javascript:zqx()">x</button></form><style>*{color:url(zqx)}</style>
<a href="javascript:zqx()" hx-get="/zqx" hx-on:click="zqx()" data-color="url(zqx)">x</a>
<base href="//zqx"><iframe src="x">
"""


@dataclass(frozen=True)
class SampleTexts:
    """Texts, with an attack appended if hostile."""

    hostile: bool

    def plain(self, text: str, most: int = 255) -> str:
        """Return a text that is shown unformatted."""
        return f"{text} {_TAGS}"[:most] if self.hostile else text

    def markdown(self, text: str) -> str:
        """Return a text that is rendered."""
        return text + _MARKDOWN if self.hostile else text

    def ref(self, text: str) -> str:
        """Return the name of a branch or a tag, without spaces."""
        return f"{text}\"'><img/src=x/onerror=zqx()><zqx/onzqx=1>`${{zqx}}" if self.hostile else text

    def file(self, text: str) -> str:
        """Return the name of a file or a folder."""
        start, dot, end = text.rpartition(".")
        return f"{start}\"'><img src=x onerror=zqx()><zqx onzqx=1>{dot}{end}" if self.hostile else text

    def address(self, text: str) -> str:
        """Return an HTTP URL; others are rejected."""
        return f"{text}?a='onzqx=1'&b=);zqx" if self.hostile else text
