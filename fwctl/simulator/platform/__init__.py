"""What the platform does with resources, over dicts in REST shape; shared by the CLI and the server."""
