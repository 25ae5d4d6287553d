"""What stands beside an issue or a merge request, and is changed there: who has it to do, labels, plans and time."""
