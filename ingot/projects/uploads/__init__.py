"""Files that people attach to what they write."""
