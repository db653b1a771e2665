"""The rules across fields: one small function for each code, its docstring is its page."""
