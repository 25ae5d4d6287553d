"""Who is told by mail of what happens to what people talk about."""
