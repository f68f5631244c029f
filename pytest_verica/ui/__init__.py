"""The local web page, a door beside the command and pytest's: pages over saved runs and label files."""
