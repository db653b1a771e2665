"""How `make docs` builds the site. The pages are plain Markdown and read well without it."""

import re

project = "fwctl"
copyright = "the fwctl authors"  # noqa: A001 - the name that Sphinx reads
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
nitpicky = True
myst_heading_anchors = 3
# A block in a language that cannot be coloured is no problem.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "fwctl"
html_show_sphinx = False
html_extra_path = ["fwctl.schema.json"]


def contents(_app, docname, source):
    """Tables of contents from the lists of the index, so that the page needs no syntax of Sphinx."""
    if docname == "index":
        for section in source[0].split("\n## ")[1:]:
            title, _, text = section.partition("\n")
            pages = [
                link.removesuffix(".md") for link in re.findall(r"^- \[.*?\]\((.*?)\)", text, re.MULTILINE)
            ]
            source[0] += _toctree(pages, f":caption: {title}")
    if docname == "rules/README":
        source[0] += _toctree(["FW*"], ":glob:")


def _toctree(pages, option):
    return "\n".join(["\n```{toctree}", ":hidden:", option, "", *pages, "```", ""])


def setup(app):
    app.connect("source-read", contents)
