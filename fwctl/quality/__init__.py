"""Are the answers still right? Graders, judges, paired gates, and what a suite can show before it runs."""
