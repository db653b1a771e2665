"""`fwctl completion`: the script that a shell needs."""

from __future__ import annotations

from typing import Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.cli.options import one_of
from fwctl.report.model import Report

# Each script asks `fwctl __complete` and falls back on file names when it answers nothing.
SCRIPTS = {
    "bash": """\
_fwctl() {
    local line
    COMPREPLY=()
    while IFS='' read -r line; do
        COMPREPLY+=("${line%%$'\\t'*}")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _fwctl fwctl
""",
    "zsh": """\
#compdef fwctl
_fwctl() {
    local -a found
    local value text
    while IFS=$'\\t' read -r value text; do
        found+=("${value//:/\\\\:}${text:+:$text}")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#found} )); then
        _describe 'fwctl' found
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _fwctl ]]; then  # loaded by the first completion, which still waits
    _fwctl "$@"
else
    compdef _fwctl fwctl
fi
""",
    "fish": """\
function __fwctl_complete
    set -l found (fwctl __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c fwctl -f -a '(__fwctl_complete)'
""",
}


@command(
    "fwctl completion bash > ~/.local/share/bash-completion/completions/fwctl",
    'fwctl completion zsh > "${fpath[1]}/_fwctl"',
    "fwctl completion fish > ~/.config/fish/completions/fwctl.fish",
)
def completion(
    call: Call,  # noqa: ARG001 - every command takes the call
    *,
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell.")],
) -> Report:
    """Print a completion script for a shell.

    It completes commands, options, their values, and the names of deployments found in the specs.
    """
    one_of(tuple(SCRIPTS))(shell, "SHELL")
    return Report("completion", {"shell": shell, "script": SCRIPTS[shell]}, text=SCRIPTS[shell])
