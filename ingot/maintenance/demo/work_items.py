"""Content of the current work on the project Tidewatch: labels, a milestone and issues."""

from typing import NamedTuple

GROUP, GROUP_NAME = "harbour-works", "Harbour Works"
PROJECT = "tidewatch"
FURTHER_LABELS = (
    ("good first issue", "#428bca", "Small, and explained well"),
    ("urgent", "#ff0000", "People wait for it"),
)
"""Labels besides those that all demo projects have."""
MILESTONE = "Spring tide"


class DemoComment(NamedTuple):
    """A comment and its age."""

    days_ago: int
    author: str
    text: str


class DemoIssue(NamedTuple):
    """An issue with its comments; references count the issues of this list from 1."""

    days_ago: int
    author: str
    title: str
    description: str
    comments: tuple[DemoComment, ...] = ()


DEMO_ISSUES = (
    DemoIssue(
        34,
        "wanjiru.mbatia",
        "Alarm rings twice at midnight",
        "Both the gauge and the forecast ring it.\n\n- [x] gauge\n- [ ] forecast\n\n/label ~bug ~urgent\n"
        f'/assign @teun.dijkgraaf\n/milestone %"{MILESTONE}"\n/estimate 3h\n',
        (
            DemoComment(
                33, "teun.dijkgraaf", "The day changes between the two checks. I have a test that fails.\n/spend 1h 30m"
            ),
            DemoComment(32, "wanjiru.mbatia", "Thank you! It woke the whole harbour.\n/award :clap:"),
        ),
    ),
    DemoIssue(
        30,
        "suvi.rantala",
        "Show the tide as a curve",
        f'A table is hard to read on a phone.\n\n/label ~feature ~doing\n/milestone %"{MILESTONE}"\n/due in 6 weeks\n',
        (
            DemoComment(14, "ines.calderon", "The data for it is there since last week, see #5."),
            DemoComment(13, "marlene.okafor", "Yes please. @suvi.rantala will you draw it?\n/assign @suvi.rantala"),
        ),
    ),
    DemoIssue(
        26,
        "lior.abendstern",
        "Say in the README how to run the tests",
        'I had to ask three people :books:\n\n/label ~"good first issue"\n/assign me\n',
        (DemoComment(25, "marlene.okafor", "Good question. Write down what they said!"),),
    ),
    DemoIssue(22, "kaito.minamoto", "Translate the warnings into Japanese", "/label ~feature\n"),
    DemoIssue(
        21,
        "ines.calderon",
        "Keep ten years of measurements",
        "They fit, if hours older than a year are kept as days.\n\n/label ~feature\n/estimate 2d\n/spend 2d\n",
        (DemoComment(20, "ines.calderon", "Done, and measured: 40 MB.\n/close"),),
    ),
    DemoIssue(12, "marlene.okafor", "The siren's key is in the repository", "/confidential\n/label ~urgent\n"),
    DemoIssue(
        9,
        "teun.dijkgraaf",
        "Midnight alarm again",
        "/label ~bug\n",
        (DemoComment(8, "marlene.okafor", "/duplicate #1"),),
    ),
)
