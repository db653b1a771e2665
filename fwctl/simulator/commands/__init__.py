"""firectl's command line: its own flag table, parser, help pages and text."""
