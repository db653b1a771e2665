"""How `make docs` builds the site. The pages are plain Markdown and read well without it."""

project = "fwctl"
copyright = "the fwctl authors"  # noqa: A001 - the name that Sphinx reads
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["ci/*.yml"]
nitpicky = True

myst_heading_anchors = 3
# `$VAR` and `<NAME>` are text here; a code block in a language that cannot be coloured is no problem.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "fwctl"
html_show_sphinx = False
html_static_path: list[str] = []
html_extra_path = ["fwctl.schema.json"]
