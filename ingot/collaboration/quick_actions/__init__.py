"""Quick actions: commands in descriptions and notes, such as ``/close``."""
