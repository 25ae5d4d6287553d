"""One file that holds all that must last, whichever engine it came from and whichever it goes to."""
