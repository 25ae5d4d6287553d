"""What is true of the whole instance: settings, version, broadcast messages."""
