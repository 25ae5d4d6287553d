"""Who they are: none of them exists."""

from typing import NamedTuple


class DemoUser(NamedTuple):
    """A person of the demo."""

    username: str
    name: str
    bio: str
    location: str
    organization: str
    status: tuple[str, str]
    """An emoji's name and a few words; without words there is no status."""
    follows: tuple[str, ...]
    admin: bool = False
    external: bool = False

    @property
    def email(self) -> str:
        """Their address, which leads nowhere."""
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
