"""What must be true of this machine before a graph starts; one file for each kind of thing."""
