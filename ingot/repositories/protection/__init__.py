"""Which branches and tags are protected, and against whom."""
