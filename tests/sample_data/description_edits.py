"""Changes of descriptions in the sample data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.sample_data.records import SampleData


def edit_description(samples: "SampleData", kind: str, url: str) -> None:
    """Change a description, whose version before is then compared, and remember the note about it."""
    present = samples.call("GET", url)["description"]
    samples.put(url, description=f"{present}\n\nAt the end.")
    note = next(note for note in samples.call("GET", f"{url}/notes") if note["body"] == "changed the description")
    samples.named[f"{kind} description"] = str(note["id"])
