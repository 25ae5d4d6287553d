"""Issues: what is wrong, what is wished for, and what becomes of it."""
