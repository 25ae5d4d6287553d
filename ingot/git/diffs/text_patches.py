"""Patches of texts that are in no repository yet."""

from ingot.git.core.library import pygit2_module


def patch_of_texts(old: bytes, new: bytes) -> str:
    """Return the hunks that turn one text into another; empty if they are equal."""
    patch = pygit2_module().Patch.create_from(old, new)
    text = patch.data.decode(errors="replace")
    return text[text.find("\n@@") + 1 :] if "\n@@" in text else ""
