"""The fictional users of the demo."""

from typing import NamedTuple


class DemoUser(NamedTuple):
    """A fictional user."""

    username: str
    name: str
    bio: str
    location: str
    organization: str
    status: tuple[str, str]
    """Emoji name and message; no status if the message is empty."""
    follows: tuple[str, ...]
    admin: bool = False
    external: bool = False

    @property
    def email(self) -> str:
        """Return an email address in a reserved domain."""
        return f"{self.username}@demo.example"


DEMO_USERS = (
    DemoUser(
        "marlene.okafor",
        "Marlene Okafor",
        "Keeps the build green and the coffee strong.",
        "Lagos",
        "Harbour Works",
        ("coffee", "Reviewing until noon"),
        ("teun.dijkgraaf", "suvi.rantala"),
        admin=True,
    ),
    DemoUser(
        "teun.dijkgraaf",
        "Teun Dijkgraaf",
        "Writes parsers for fun, and tests for peace of mind.",
        "Utrecht",
        "Harbour Works",
        ("bug", "Chasing a race condition"),
        ("marlene.okafor", "ines.calderon"),
    ),
    DemoUser(
        "suvi.rantala",
        "Suvi Rantala",
        "Design, documentation, and the space in between.",
        "Tampere",
        "Northlight Studio",
        ("pencil2", "Drawing the new navigation"),
        ("marlene.okafor",),
    ),
    DemoUser(
        "ines.calderon",
        "Inés Calderón",
        "Databases. Mostly the parts that nobody sees.",
        "Valparaíso",
        "Harbour Works",
        ("palm_tree", "Back on Monday"),
        ("teun.dijkgraaf", "wanjiru.mbatia", "suvi.rantala"),
    ),
    DemoUser(
        "wanjiru.mbatia",
        "Wanjirũ Mbatia",
        "On call this week.",
        "Nairobi",
        "Savanna Systems",
        ("rotating_light", "On call"),
        ("ines.calderon",),
    ),
    DemoUser(
        "kaito.minamoto",
        "Kaito Minamoto",
        "Translates release notes, and sometimes managers.",
        "Kanazawa",
        "Northlight Studio",
        ("", ""),
        ("suvi.rantala", "marlene.okafor"),
    ),
    DemoUser(
        "petra.vondrova",
        "Petra Vondrová",
        "Audits what others ship.",
        "Brno",
        "Lindenhof Security",
        ("lock", "Reading your diffs"),
        ("wanjiru.mbatia",),
        external=True,
    ),
    DemoUser(
        "lior.abendstern",
        "Lior Abendstern",
        "Summer student. Asks the good questions.",
        "Haifa",
        "",
        ("books", "Learning to rebase"),
        ("teun.dijkgraaf", "kaito.minamoto", "marlene.okafor"),
    ),
)
