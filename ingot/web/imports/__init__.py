"""Pages of imports: source, plan, progress, report and placeholder users."""
