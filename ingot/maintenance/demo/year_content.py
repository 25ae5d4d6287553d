"""Content of the projects on which the demo users worked for a year."""

from typing import NamedTuple


class DemoTopic(NamedTuple):
    """A piece of work: its issue and the change that completes it."""

    title: str
    description: str
    label: str
    file: str
    code: str


class DemoProject(NamedTuple):
    """A project with its team; the first member owns it."""

    path: str
    name: str
    description: str
    visibility: str
    team: tuple[str, ...]
    topics: tuple[DemoTopic, ...]
    unfinished: int = 2
    """Number of topics that are still open today."""
    last_day: int = 10
    """Age of the last topic in days."""


LABELS = (
    ("bug", "#c0392b", "Something does the wrong thing"),
    ("feature", "#1f7a4d", "Something that it could do"),
    ("docs", "#2465a8", "Texts for users"),
    ("doing", "#8e44ad", "Work has started"),
    ("review", "#b4690e", "Waits for a review"),
)
REVIEWS = (
    "Clear and small, thank you. One question: what happens with an empty list?",
    "I tried it on my machine and it works. Could you add a test for the second case?",
    "Nice. The name could say that it returns minutes.",
    "Looks good to me.",
)


def _function(name: str, text: str, body: str) -> str:
    return f'def {name}:\n    """{text}"""\n    {body}\n'


DEMO_PROJECTS = (
    DemoProject(
        "lighthouse",
        "Lighthouse",
        "Controls the lamps of the coast, and reports the ones that fail.",
        "public",
        ("marlene.okafor", "teun.dijkgraaf", "wanjiru.mbatia", "ines.calderon"),
        (
            DemoTopic(
                "Switch the lamp on at dusk",
                "By the sun, not by the clock.",
                "feature",
                "lamp.py",
                _function(
                    "is_dark(sun_height: float)", "Return whether the lamp must burn.", "return sun_height < -0.83"
                ),
            ),
            DemoTopic(
                "Report a lamp that stays dark",
                "The keeper wants a message within a minute.",
                "feature",
                "report.py",
                _function("message(lamp: str)", "Return the message for the keeper.", 'return f"{lamp} is dark"'),
            ),
            DemoTopic(
                "Sunrise is an hour late in summer",
                "It ignores daylight saving time.",
                "bug",
                "sun.py",
                _function(
                    "local_hour(utc_hour: int, offset: int)",
                    "Return the hour on the wall clock.",
                    "return (utc_hour + offset) % 24",
                ),
            ),
            DemoTopic(
                "Keep the last hundred reports",
                "More than that fills the disk of the buoys.",
                "feature",
                "history.py",
                _function("newest(reports: list[str])", "Return the reports that are kept.", "return reports[-100:]"),
            ),
            DemoTopic(
                "Describe the wiring of the old lamps",
                "Only Wanjirũ knows it.",
                "docs",
                "wiring.md",
                "# Wiring\n\n| wire | purpose |\n|---|---|\n| red | 24 V |\n| black | ground |\n",
            ),
            DemoTopic(
                "Lamps flicker during updates",
                "The relay opens while the program restarts.",
                "bug",
                "relay.py",
                _function(
                    "hold(seconds: float)",
                    "Return the time for which the relay stays closed.",
                    "return max(seconds, 5.0)",
                ),
            ),
            DemoTopic(
                "Show all lamps on one map",
                "With their state as an icon, not only as a color.",
                "feature",
                "map.py",
                _function(
                    "mark(state: str)", "Return the mark of a lamp on the map.", 'return "●" if state == "on" else "○"'
                ),
            ),
            DemoTopic(
                "Measure the current of each lamp",
                "A rising current announces a failure.",
                "feature",
                "current.py",
                _function(
                    "is_failing(amperes: list[float])",
                    "Return whether the current rises.",
                    "return amperes[-1] > 1.2 * amperes[0]",
                ),
            ),
        ),
    ),
    DemoProject(
        "ferry-timetable",
        "Ferry timetable",
        "Departures of all ferries, for signs, phones and the radio.",
        "internal",
        ("ines.calderon", "suvi.rantala", "kaito.minamoto", "teun.dijkgraaf"),
        (
            DemoTopic(
                "Import the winter timetable",
                "As CSV from the shipping company.",
                "feature",
                "timetable.csv",
                "line,departs,arrives\nNorth,06:10,06:45\nNorth,07:10,07:45\nIslands,08:00,10:20\n",
            ),
            DemoTopic(
                "Next departure after midnight is missing",
                "The day changes, the line does not.",
                "bug",
                "departures.py",
                _function(
                    "next_departure(times: list[int], now: int)",
                    "Return the next departure in minutes.",
                    "return min(times, key=lambda time: (time - now) % 1440)",
                ),
            ),
            DemoTopic(
                "Read the timetable aloud",
                "For the telephone line.",
                "feature",
                "speech.py",
                _function(
                    "spoken(minutes: int)",
                    "Return a time as it is spoken.",
                    'return f"{minutes // 60} hours {minutes % 60}"',
                ),
            ),
            DemoTopic(
                "Mark ferries that take bicycles",
                "Asked for by every second caller.",
                "feature",
                "bicycles.py",
                _function(
                    "takes_bicycles(ferry: str)", "Return whether bicycles may board.", 'return ferry != "Express"'
                ),
            ),
            DemoTopic(
                "Explain the symbols of the signs",
                "In two languages.",
                "docs",
                "symbols.md",
                "# Symbols\n\n- ⛴ ferry\n- 🚲 bicycles\n- ♿ without steps\n",
            ),
            DemoTopic(
                "Delays are shown twice",
                "Once from the radio, once from the harbour.",
                "bug",
                "delays.py",
                _function(
                    "delay(radio: int, harbour: int)", "Return the delay in minutes.", "return max(radio, harbour)"
                ),
            ),
            DemoTopic(
                "Warn when the last ferry leaves soon",
                "Thirty minutes before.",
                "feature",
                "last_ferry.py",
                _function(
                    "warns(minutes_left: int)", "Return whether the sign warns.", "return 0 < minutes_left <= 30"
                ),
            ),
        ),
    ),
    DemoProject(
        "handbook",
        "Handbook",
        "How we work: on call, releases, travel and the coffee machine.",
        "public",
        ("suvi.rantala", "marlene.okafor", "lior.abendstern", "kaito.minamoto"),
        (
            DemoTopic(
                "Write down who is on call",
                "And how to swap a week.",
                "docs",
                "on-call.md",
                "# On call\n\nA week begins on Monday at nine. Swap it in the calendar.\n",
            ),
            DemoTopic(
                "Checklist for releases",
                "The one in our heads differs.",
                "docs",
                "releases.md",
                "# Releases\n\n- [ ] changelog\n- [ ] tag\n- [ ] tell the harbour\n",
            ),
            DemoTopic(
                "Typo in the address of the office",
                "The parcel went to Utrecht.",
                "bug",
                "office.md",
                "# Office\n\nPier 4, second floor.\n",
            ),
            DemoTopic(
                "First day of new colleagues",
                "Lior knows what was missing.",
                "docs",
                "first-day.md",
                "# First day\n\n1. Keys\n2. Account\n3. Coffee\n",
            ),
            DemoTopic(
                "Diagram of the build",
                "For the wall.",
                "docs",
                "build.md",
                "# Build\n\n```mermaid\ngraph LR\n  push --> build --> test --> deploy\n```\n",
            ),
            DemoTopic(
                "Rules for travel",
                "Trains first.",
                "docs",
                "travel.md",
                "# Travel\n\nTake the train if it needs less than eight hours.\n",
            ),
        ),
    ),
    DemoProject(
        "buoy-firmware",
        "Buoy firmware",
        "Measures waves for two years on one battery.",
        "private",
        ("teun.dijkgraaf", "wanjiru.mbatia", "ines.calderon", "marlene.okafor"),
        (
            DemoTopic(
                "Sleep between two measurements",
                "The battery lasts a month, not two years.",
                "feature",
                "sleep.c",
                "int sleep_seconds(int minutes) {\n    return minutes * 60;\n}\n",
            ),
            DemoTopic(
                "Wave height is negative in calm water",
                "The sensor drifts.",
                "bug",
                "wave.c",
                "double wave_height(double raw, double zero) {\n    return raw > zero ? raw - zero : 0.0;\n}\n",
            ),
            DemoTopic(
                "Send readings as one packet an hour",
                "Each connection costs energy.",
                "feature",
                "packet.c",
                "int packet_size(int readings) {\n    return 4 + 2 * readings;\n}\n",
            ),
            DemoTopic(
                "Restart after a brown-out",
                "The watchdog must be on.",
                "bug",
                "watchdog.c",
                "void watchdog_start(void) {\n    WDT->CTRL = 1;\n}\n",
            ),
            DemoTopic(
                "Document the pins of the new board",
                "Revision C.",
                "docs",
                "pins.md",
                "# Pins\n\n| pin | signal |\n|---|---|\n| 1 | 3.3 V |\n| 2 | sensor |\n",
            ),
            DemoTopic(
                "Update over the air",
                "Signed, and with a way back.",
                "feature",
                "update.c",
                "int update_is_newer(int installed, int offered) {\n    return offered > installed;\n}\n",
            ),
        ),
    ),
    DemoProject(
        "tidewatch",
        "Tidewatch",
        "Tells ships when the water is high enough, and people when it is too high.",
        "public",
        ("marlene.okafor", "ines.calderon", "teun.dijkgraaf", "suvi.rantala"),
        (
            DemoTopic(
                "Ask a gauge again that does not answer",
                "The radio of the north mole is weak.",
                "bug",
                "tidewatch/attempts.py",
                _function("pause(attempt: int)", "Return the seconds before the next attempt.", "return 2.0**attempt"),
            ),
            DemoTopic(
                "Ignore impossible readings",
                "Forty metres was a seagull.",
                "bug",
                "tidewatch/limits.py",
                _function(
                    "is_plausible(metres: float)", "Return whether water can be so high.", "return -1 < metres < 8"
                ),
            ),
            DemoTopic(
                "Forecast the next high water",
                "From the last two, that is good enough for ships.",
                "feature",
                "tidewatch/forecast.py",
                _function(
                    "next_high_water(last: float, previous: float)",
                    "Return the hour of the next high water.",
                    "return last + (last - previous)",
                ),
            ),
            DemoTopic(
                "Offer the readings as CSV",
                "The university asks every month.",
                "feature",
                "tidewatch/export.py",
                _function("line(hour: int, metres: float)", "Return a line.", 'return f"{hour},{metres:.2f}"'),
            ),
            DemoTopic(
                "Explain how to add a gauge",
                "With a picture of the cable.",
                "docs",
                "docs/gauges.md",
                "# Add a gauge\n\n1. Connect the cable.\n2. Enter its address in `gauges.toml`.\n3. Compare.\n",
            ),
            DemoTopic(
                "Send warnings as text messages",
                "The bell is too quiet in a storm.",
                "feature",
                "tidewatch/messages.py",
                _function("text(metres: float)", "Return the warning.", 'return f"High water: {metres:.2f} m"'),
            ),
        ),
        unfinished=0,
        last_day=50,
    ),
)
