"""Labels of projects and groups, and what carries them."""
