"""What a run leaves to be read in a browser."""
