"""One frozen script per schema change."""
