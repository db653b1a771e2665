"""Every kind of file that holds firectl lines is read in its own way, to the right line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fwctl.importing.from_script import draft_of
from fwctl.importing.model import Draft

MODEL = "accounts/acme/models/m"
CREATE = f"firectl deployment create {MODEL} --deployment-id chat --deployment-shape fast"
WHOLE = {"model": MODEL, "shape": "fast", "replicas.min": 0, "replicas.max": 1}


def draft(name: str, text: str) -> Draft:
    return draft_of([(name, text)], None, None)


def values(name: str, text: str) -> list[dict[str, Any]]:
    return [entry.values for entry in draft(name, text).entries]


def codes(name: str, text: str) -> list[str]:
    return [item.code for item in draft(name, text).remarks]


def line_of_first(name: str, text: str) -> int:
    (entry,) = draft(name, text).entries
    place = next(comment for comment in entry.comments if comment.startswith("from "))
    return int(place.rsplit(":", 1)[-1])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", f"set -e\nif ! {CREATE} >log 2>&1; then exit 1; fi"),
        ("a.sh", f"set -e\nID=$({CREATE} | grep Name)"),
        ("a.sh", f"set -e\nID=`{CREATE}`"),
        ("a.sh", f'set -e\nbash -c "{CREATE}"'),
        ("a.sh", f"set -e\ncat <<EOF | bash\n{CREATE}\nEOF"),
        ("a.sh", f"set -e\nFIREWORKS_API_KEY=fw_abcdef sudo -E $HOME/bin/{CREATE} &"),
        ("a.sh", "set -e\r\n" + CREATE.replace(" --", " \\\r\n  --") + "\r\n"),
        ("a.sh", f"FC=firectl\n{CREATE.replace('firectl', '$FC')}"),
        ("a.sh", f"CLI=$(command -v firectl)\n{CREATE.replace('firectl', '${CLI}')}"),
        ("Makefile", f"deploy:\n\t@{CREATE}"),
        ("Makefile", f"deploy:\n\t-{CREATE}"),
        ("Dockerfile", f"FROM x\nRUN {CREATE}"),
        ("Dockerfile", "FROM x\nCMD " + json.dumps(CREATE.split())),
        ("a.ps1", "#\n" + CREATE.replace(" --", " `\n  --")),
        ("a.bat", "@echo off\n" + CREATE.replace("firectl", "firectl.exe").replace(" --", " ^\n  --")),
        ("main.go", "\nexec.Command(" + ", ".join(f'"{word}"' for word in CREATE.split()) + ")"),
        ("a.js", '\nspawn("firectl", ' + json.dumps(CREATE.split()[1:]) + ")"),
        ("a.js", f"\nexecSync(`{CREATE}`);"),
        ("a.rb", "\nsystem(" + ", ".join(f"'{word}'" for word in CREATE.split()) + ")"),
        ("main.tf", f'x {{\n  command = "{CREATE}"\n}}'),
        ("package.json", '{"scripts":\n {"deploy": "' + CREATE + '"}}'),
        ("w.yml", f"jobs:\n  - run: {CREATE}"),
        ("w.yml", f"jobs:\n  - run: '{CREATE}'"),
        ("w.yml", "command:\n  - firectl\n" + "".join(f"  - {word}\n" for word in CREATE.split()[1:])),
        ("README.md", f"Use it:\n`{CREATE}` and wait."),
        ("README.md", f"Use it:\n    {CREATE}"),
        ("README.md", f"Use it:\n- {CREATE}"),
        ("README.md", f"<pre>\n{CREATE}</pre>"),
        ("README.md", f"Prompt:\n$ {CREATE}"),
        ("notes.rst", f"Run::\n    {CREATE}"),
    ],
)
def test_the_same_call_is_read_from_any_file(name: str, text: str) -> None:
    assert values(name, text) == [WHOLE]
    assert line_of_first(name, text) == 2 + text.startswith("set -e\ncat")


def test_a_fenced_block_counts_its_lines() -> None:
    call = f"$ firectl deployment create {MODEL} \\\n>   --deployment-id chat"
    text = f"# Title\n\n```sh\n{call}\n```\n"
    assert line_of_first("README.md", text) == 4


@pytest.mark.parametrize(
    "prose",
    [
        "firectl is a tool that can create deployments.",
        "The firectl deployment create command takes a model.",
        "It is easy; firectl deployment create is described elsewhere.",
        "Use firectl to deploy accounts/acme/models/m",
    ],
)
def test_a_sentence_about_firectl_is_no_call(prose: str) -> None:
    assert values("README.md", prose) == []
    assert codes("README.md", prose) == ["nothing_found"]


def test_a_line_of_help_is_no_call() -> None:
    for text in ("firectl deployment create MODEL [flags]", "firectl deployment create <MODEL> [--wait]"):
        assert codes("README.md", text) == ["usage_line"]


def test_a_folded_step_of_a_workflow_is_one_line() -> None:
    call = f"firectl deployment create {MODEL}\n        --deployment-id chat"
    text = f"jobs:\n  x:\n    - run: >-\n        {call}\n"
    assert values("w.yaml", text) == [{"model": MODEL, "replicas.min": 0, "replicas.max": 1}]
    assert line_of_first("w.yaml", text) == 4


def test_a_workflow_has_expressions_with_defaults_and_variables_of_its_own() -> None:
    text = (
        "env:\n  MAX: 4\nsteps:\n  - run: |\n      firectl deployment create ${{ vars.MODEL }} \\\n"
        "        --deployment-id ${{ github.event.inputs.id || 'chat' }} --max-replica-count ${{ env.MAX }}\n"
    )
    (found,) = values("w.yml", text)
    assert found["model"] == "${env:MODEL}"
    assert found["id"] == "${env:id}"
    assert found["replicas.max"] == 4


def test_a_template_has_variables_in_two_braces() -> None:
    (found,) = values(
        "a.sh", "firectl deployment create {{ model }} --region {{ region | default('US') }} -a acme"
    )
    assert found["model"] == "${env:model}"
    assert found["region"] == "${env:region}"


def python(*lines: str) -> list[dict[str, Any]]:
    return values("a.py", "\n".join(['M = "accounts/acme/models/m"', *lines]))


@pytest.mark.parametrize(
    "line",
    [
        'run("firectl deployment create " + M + " --deployment-id chat --deployment-shape fast", shell=True)',
        'run(f"firectl deployment create {M} --deployment-id chat --deployment-shape fast", shell=True)',
        'run("firectl deployment create %s --deployment-id chat --deployment-shape fast" % M)',
        'run("firectl deployment create {} --deployment-id {} --deployment-shape fast".format(M, "chat"))',
        'run(shlex.split(f"firectl deployment create {M} --deployment-id chat --deployment-shape fast"))',
        'run(["firectl", "deployment", "create", M] + ["--deployment-id=chat", "--deployment-shape=fast"])',
        'run(("firectl", "deployment", "create", M, "--deployment-id=chat", "--deployment-shape=fast"))',
        'run([self.firectl, "deployment", "create", M, "--deployment-id=chat", "--deployment-shape=fast"])',
        'run("firectl", "deployment", "create", M, "--deployment-id=chat", "--deployment-shape=fast")',
        'run_firectl("deployment", "create", M, "--deployment-id=chat", "--deployment-shape=fast")',
        'firectl(["deployment", "create", M, "--deployment-id=chat", "--deployment-shape=fast"])',
    ],
)
def test_python_has_many_ways_to_call_it(line: str) -> None:
    assert python(line) == [WHOLE | {"model": "${env:M}"}]


def test_a_list_that_grows_later_is_one_call() -> None:
    found = draft(
        "a.py",
        'cmd = ["firectl", "deployment", "create", M, "--deployment-id", "chat"]\n'
        'cmd += ["--deployment-shape", "fast"]\ncmd.extend(["--max-replica-count", "3"])\n'
        'cmd.append("--long-prompt")\ncmd += extra\n',
    )
    (entry,) = found.entries
    assert entry.values["shape"] == "fast"
    assert entry.values["replicas.max"] == 3
    assert entry.values["long_prompt"] is True
    assert "array" in [item.code for item in found.remarks]


def test_a_command_in_a_string_over_several_lines_keeps_its_line() -> None:
    text = f'x = 1\ncmd = """\nset -e\n{CREATE}\n"""\n'
    assert line_of_first("a.py", text) == 4
    text = f'x = 1\nrun(\n    "{CREATE[:40]}"\n    "{CREATE[40:]}")\n'
    assert line_of_first("a.py", text) == 3


def test_a_comment_of_a_program_is_told_and_not_imported() -> None:
    assert codes("a.py", f"x = 1\n# {CREATE}\n") == ["commented_out"]


def test_a_notebook_mixes_shell_and_python() -> None:
    cells = [
        {"cell_type": "markdown", "source": "Then `firectl deployment list` shows it"},
        {"cell_type": "code", "source": ["import os\n", f"!{CREATE} \\\n", "  --long-prompt\n", "x = 1"]},
        {"cell_type": "code", "source": f"%%bash\n{CREATE.replace('chat', 'b')}"},
        {"cell_type": "code", "source": f'run("{CREATE.replace("chat", "c")}", shell=True)'},
    ]
    text = json.dumps({"cells": cells}, indent=1)
    found = draft("a.ipynb", text)
    assert [entry.name for entry in found.entries] == ["chat", "b", "c"]
    assert found.entries[0].values["long_prompt"] is True
    lines = text.splitlines()
    assert [item.code for item in found.remarks] == ["reads_only"]
    assert "deployment list" in lines[found.remarks[0].line - 1]
    for entry, mark in zip(found.entries, ("chat", "bash", " c "), strict=True):
        place = next(comment for comment in entry.comments if comment.startswith("from "))
        assert mark in lines[int(place.rsplit(":", 1)[-1]) - 1]


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("N=3\n", 3),
        ('export N="${N:-3}"\n', 3),
        (': "${N:=3}"\n', 3),
        ("MAX=3\nN=$MAX\n", 3),
        ("N=3\nN=4\n", None),
        ("N=$(nproc)\n", None),
        ("", None),
    ],
)
def test_a_number_that_the_script_sets_is_written_down(text: str, known: int | None) -> None:
    found = draft("a.sh", f"{text}{CREATE} --max-replica-count $N")
    assert found.entries[0].values.get("replicas.max") == known
    assert "variable" in [item.code for item in found.remarks]


def test_a_default_on_the_line_itself_counts_too() -> None:
    (found,) = values("a.sh", f"{CREATE} --max-replica-count ${{N:-5}} --min-replica-count ${{1:-2}}")
    assert (found["replicas.min"], found["replicas.max"]) == (2, 5)


def test_a_variable_is_told_once_with_what_the_script_says_about_it() -> None:
    text = (
        "MODEL=accounts/acme/models/m\nfor s in fast minimal; do\n"
        'firectl deployment create "$MODEL" --deployment-id a --deployment-shape $s\ndone\n'
        'firectl deployment create "$MODEL" --deployment-id b --display-name "$TITLE"\n'
    )
    told = [item.message for item in draft("a.sh", text).remarks if item.code == "variable"]
    assert told == [
        "${env:MODEL} must be set when fwctl runs; line 1 sets it to accounts/acme/models/m",
        "${env:s} must be set when fwctl runs; line 2 runs it over fast minimal: one entry for all of them",
        "${env:TITLE} must be set when fwctl runs; nothing here sets it",
    ]


def test_the_value_of_a_variable_that_holds_a_secret_is_not_told() -> None:
    text = (
        f'ROUTE_TOKEN=t0psecret\n{CREATE} --display-name "$ROUTE_TOKEN" --direct-route-api-keys $ROUTE_TOKEN'
    )
    found = draft("a.sh", text)
    assert "t0psecret" not in repr(found)


def test_quotes_and_dashes_of_a_text_program_are_read_as_they_were() -> None:
    flags = "\u2014deployment-id \u201cchat\u201d \u2013-deployment-shape\u00a0fast"
    text = f"firectl deployment create {MODEL} {flags}"
    assert values("a.sh", text) == [WHOLE]
    assert "retyped" in codes("a.sh", text)


def test_a_lora_that_is_taken_off_again_is_not_written() -> None:
    text = f"""{CREATE} --enable-addons
firectl load-lora accounts/acme/models/a --deployment chat
firectl load-lora accounts/acme/models/b --deployment chat
firectl unload-lora a --deployment chat
"""
    (found,) = values("a.sh", text)
    assert found["addons.load"] == ["accounts/acme/models/b"]
    assert "addons.load" not in values("a.sh", f"{text}firectl unload-lora b --deployment chat\n")[0]
    assert "not_loaded" in codes("a.sh", f"{text}firectl unload-lora c --deployment chat\n")


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ("--dry-run", "trial"),
        ("--validate-only", "trial"),
        ("another-word", "extra_word"),
        ("--max-replica-count 2 ...", "left_open"),
    ],
)
def test_what_stands_beside_the_model_is_told(flags: str, code: str) -> None:
    assert code in codes("a.sh", f"{CREATE} {flags}")


def test_a_deployment_that_the_script_deletes_again_says_so() -> None:
    (entry,) = draft("a.sh", f"{CREATE}\nfirectl deployment delete chat\n").entries
    assert any("deployment delete" in comment for comment in entry.comments)


@pytest.mark.parametrize(
    "name", ["a.yml", "a.json", "README.md", "a.ps1", "a.bat", "a.go", "a.ipynb", "a.py"]
)
def test_hostile_text_is_read_to_its_end(name: str) -> None:
    for text in (
        "firectl " + "[" * 3000,
        "- " * 3000 + "firectl",
        "{" * 3000 + '"firectl"',
        '"firectl", ' + "(" * 3000,
        "x: &a [*a, firectl deployment create]",
        "firectl deployment create ${" + "{" * 300,
        "`" * 999 + "firectl deployment create x",
        json.dumps({"cells": [{"cell_type": "code", "source": ["%%bash", 7]}]}),
        json.dumps({"cells": [{"cell_type": "code", "source": "!firectl deployment create 'x"}]}),
    ):
        draft(name, text)
