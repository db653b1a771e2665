"""Pages of the codes that are found while bytes become a tree (FW1xx)."""

from __future__ import annotations

from fwctl.errors import Severity
from fwctl.spec.rules.registry import page

_E = Severity.ERROR

page(
    "FW101",
    _E,
    """Not valid YAML.

    What it checks: the file can be read as YAML. The place is where the parser stopped, or where a quote
    or bracket was opened that is never closed.

    Why it is bad: nothing behind that place is known.

    Example::

        display_name: Chat: production

    Use instead::

        display_name: "Chat: production"
    """,
)
page(
    "FW102",
    _E,
    """Not UTF-8, or a character that no text file has.

    What it checks: the file is UTF-8, or UTF-16 with a byte order mark; it has no control characters.

    Why it is bad: other tools read other text out of the same bytes.

    Example: a file saved as Latin-1 or Windows-1252, or one with a NUL byte.

    Use instead: save the file as UTF-8. Inside double quotes an escape such as \\x07 is allowed where a
    field takes such text.
    """,
)
page(
    "FW103",
    _E,
    """A tab indents a line.

    What it checks: indentation is made of spaces.

    Why it is bad: YAML forbids tabs there, because their width depends on the editor.

    Example::

        autoscaling:
        \\tscale_up_window: 30s

    Use instead::

        autoscaling:
          scale_up_window: 30s
    """,
)
page(
    "FW104",
    _E,
    """A key twice.

    What it checks: no mapping has the same key twice. A key that a merge key (`<<`) brings in may be
    given again.

    Why it is bad: most YAML readers silently keep the last one.

    Example::

        precision: FP8
        precision: FP16

    Use instead::

        precision: FP8
    """,
)
page(
    "FW105",
    _E,
    """A YAML trap.

    What it checks: unquoted text that YAML readers take for something else, or for different things: NO,
    on, yes (booleans), 010 (octal), 0x1F, 1_000, 1:30 (base 60), 1.10 (a number that loses its zero),
    1e3, dates, =; in keys too.

    Why it is bad: the value that arrives is not the one that was written, and depends on the reader.

    Example::

        display_name: NO

    Use instead::

        display_name: "NO"
    """,
)
page(
    "FW106",
    _E,
    """More than one YAML document.

    What it checks: a file holds one document.

    Why it is bad: many readers see only the first one.

    Example::

        apiVersion: fwctl/v1
        account: acme
        deployments:
          chat:
            model: accounts/fireworks/models/llama-v3p1-8b-instruct
            shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
            replicas: {min: 1, max: 2}
        ---
        apiVersion: fwctl/v1

    Use instead: one file each. A folder is read as the union of its files.
    """,
)
page(
    "FW107",
    _E,
    """A YAML tag.

    What it checks: no `!tag` stands before a value.

    Why it is bad: tags convert values, and some readers run code for them. Specs need neither.

    Example::

        display_name: !!str 42

    Use instead::

        display_name: "42"
    """,
)
page(
    "FW108",
    _E,
    """An environment variable that is not set.

    What it checks: every `${env:NAME}` names a variable that is set. For a sensitive field it is a note
    where the value is not needed (validate and fit-check) and an error in plan and apply.

    Why it is bad: the text would be sent with the reference in it.

    Example::

        display_name: ${env:FWCTL_EXAMPLE_NOT_SET}

    Use instead::

        display_name: Chat
    """,
)
page(
    "FW109",
    _E,
    """An alias that cannot be used.

    What it checks: an alias names an anchor above it, does not stand inside the value it names, and the
    aliases of a file do not expand to more than a million values.

    Why it is bad: a few lines of aliases of aliases can stand for more values than any memory holds.

    Example::

        accelerator: *gpu

    Use instead::

        accelerator: &gpu {type: NVIDIA_H100_80GB, count: 1}
    """,
)
page(
    "FW110",
    _E,
    """Too large or nested too deep.

    What it checks: a file has at most 16 MiB and 100 levels.

    Why it is bad: nobody wrote it by hand; reading it would cost time and memory for nothing.

    Example: a generated file of more than 16 MiB.

    Use instead: several files in one folder.
    """,
)
page(
    "FW111",
    _E,
    """The file is empty.

    What it checks: a spec file has content besides comments.

    Why it is bad: it is mostly the result of a failed template or redirect.

    Example::

        # nothing here yet

    Use instead::

        apiVersion: fwctl/v1
        account: acme
        deployments:
          chat:
            model: accounts/fireworks/models/llama-v3p1-8b-instruct
            shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
            replicas: {min: 1, max: 2}
    """,
)
page(
    "FW112",
    _E,
    """The file cannot be read.

    What it checks: every path exists, may be read, and is a regular file or a folder with specs in it.

    Why it is bad: a spec that is silently left out looks like a deployment that should go.

    Example: `fwctl validate configs/typo.yaml`

    Use instead: the right path, or none: the default is `configs/`.
    """,
)
page(
    "FW113",
    _E,
    """A merge key without a mapping.

    What it checks: `<<` takes a mapping, an alias of one, or a list of them.

    Why it is bad: there is nothing to merge.

    Example::

        <<: common

    Use instead::

        <<: {precision: FP8}
    """,
)
page(
    "FW114",
    _E,
    """A key that is not text.

    What it checks: keys are text, not lists or mappings.

    Why it is bad: no field has such a name; it is mostly an unquoted template such as {{ name }}.

    Example::

        {precision}: FP8

    Use instead::

        precision: FP8
    """,
)
