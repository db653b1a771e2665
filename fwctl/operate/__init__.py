"""What the running account tells: questions about live state that need no change of it."""
