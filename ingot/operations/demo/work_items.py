"""Content of the demo project: labels, a milestone and issues."""

from typing import NamedTuple

GROUP, GROUP_NAME = "harbour-works", "Harbour Works"
PROJECT, PROJECT_NAME = "tidewatch", "Tidewatch"
DESCRIPTION = "Tells ships when the water is high enough, and people when it is too high."
LABELS = (
    ("bug", "#d9534f", "Something does the wrong thing"),
    ("feature", "#5cb85c", "Something that it could do"),
    ("good first issue", "#428bca", "Small, and explained well"),
    ("urgent", "#ff0000", "People wait for it"),
)
MILESTONE = "Spring tide"


class DemoIssue(NamedTuple):
    """An issue with its comments."""

    author: str
    title: str
    description: str
    comments: tuple[tuple[str, str], ...] = ()


DEMO_ISSUES = (
    DemoIssue(
        "wanjiru.mbatia",
        "Alarm rings twice at midnight",
        "Both the gauge and the forecast ring it.\n\n- [x] gauge\n- [ ] forecast\n\n/label ~bug ~urgent\n"
        f'/assign @teun.dijkgraaf\n/milestone %"{MILESTONE}"\n/estimate 3h\n',
        (
            ("teun.dijkgraaf", "The day changes between the two checks. I have a test that fails.\n/spend 1h 30m"),
            ("wanjiru.mbatia", "Thank you! It woke the whole harbour.\n/award :clap:"),
        ),
    ),
    DemoIssue(
        "suvi.rantala",
        "Show the tide as a curve",
        f'A table is hard to read on a phone.\n\n/label ~feature\n/milestone %"{MILESTONE}"\n/due in 3 weeks\n',
        (
            ("ines.calderon", "The data for it is there since last week, see #5."),
            ("marlene.okafor", "Yes please. @suvi.rantala will you draw it?\n/assign @suvi.rantala"),
        ),
    ),
    DemoIssue(
        "lior.abendstern",
        "Say in the README how to run the tests",
        'I had to ask three people :books:\n\n/label ~"good first issue"\n/assign me\n',
        (("marlene.okafor", "Good question. Write down what they said!"),),
    ),
    DemoIssue("kaito.minamoto", "Translate the warnings into Japanese", "/label ~feature\n", ()),
    DemoIssue(
        "ines.calderon",
        "Keep ten years of measurements",
        "They fit, if hours older than a year are kept as days.\n\n/label ~feature\n/estimate 2d\n/spend 2d\n",
        (("ines.calderon", "Done, and measured: 40 MB.\n/close"),),
    ),
    DemoIssue("marlene.okafor", "The siren's key is in the repository", "/confidential\n/label ~urgent\n", ()),
    DemoIssue("teun.dijkgraaf", "Midnight alarm again", "/label ~bug\n", (("marlene.okafor", "/duplicate #1"),)),
)
