"""Every command: its name, the module that implements it, and its line in `fwctl --help`.

Modules are imported when their command runs, so that help and completion stay fast. A function of the
same name as the command (with `_` for `-` and for the space of a group, and behind a word of Python)
stands in the module.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One command. `name` holds a space for a command of a group: `sim reset`."""

    name: str
    module: str
    summary: str
    section: str

    @property
    def function(self) -> str:
        word = self.name.replace("-", "_").replace(" ", "_")
        return f"{word}_" if word == "import" else word


SPECS = "Specs"
DEPLOY = "Deployments"
NAMED = "One deployment by name"
MEASURE = "Measuring"
SERVING = "Serving"
HELP = "Set-up and help"

GROUPS: dict[str, tuple[str, str]] = {
    "bench": ("Measure deployments and compare runs.", MEASURE),
    "eval": ("Grade answers and gate changes on their quality.", MEASURE),
    "evidence": ("What was measured, and whether it still counts.", MEASURE),
    "experiment": ("Try configurations side by side, with a spend cap.", MEASURE),
    "speculate": ("What speculative decoding pays, from arithmetic and from your traffic.", MEASURE),
    "route": ("The fallback router: serve, check and drill routes.", SERVING),
    "sim": ("The embedded Fireworks simulator.", HELP),
}

# What other tools call it -> the command here.
ELSEWHERE: dict[str, str] = {
    "benchmark": "bench",
    "create": "apply",
    "delete": "destroy",
    "deploy": "apply",
    "describe": "status",
    "diff": "plan",
    "get": "status",
    "list": "status",
    "ls": "status",
    "rm": "destroy",
    "undelete": "undo",
}

COMMANDS: tuple[Entry, ...] = (
    Entry("init", "init", "Print a commented starter spec.", SPECS),
    Entry("validate", "validate", "Check specs; offline unless --online is given.", SPECS),
    Entry("schema", "reference", "Print the JSON Schema of spec files, for editors.", SPECS),
    Entry("explain", "reference", "Explain a field of the spec.", SPECS),
    Entry("rules", "reference", "List the rules of validate, or explain one.", SPECS),
    Entry("import", "import_", "Write what runs, or what scripts create, as a spec.", SPECS),
    Entry("shapes", "shapes", "List the validated shapes of a model and what fits in them.", SPECS),
    Entry("fit-check", "fit_check", "Check weights and KV memory before anything is created.", SPECS),
    Entry("plan", "plan", "Show what an apply would do, field by field.", DEPLOY),
    Entry("show", "show", "Show a saved plan in any format.", DEPLOY),
    Entry("apply", "apply", "Make what runs equal to the specs.", DEPLOY),
    Entry("drift", "drift", "Say what runs differently from the specs.", DEPLOY),
    Entry("wait", "wait", "Wait again for something that was started earlier.", DEPLOY),
    Entry("lock", "lock", "Record shape versions, models and prices in fwctl.lock.", DEPLOY),
    Entry("status", "status", "One table of what is wanted and what runs.", DEPLOY),
    Entry("audit", "audit", "List what is idle, failed or owned by nobody, and its cost.", DEPLOY),
    Entry("cost", "cost", "Say what deployments and a million tokens cost, by day.", DEPLOY),
    Entry("watch", "watch", "Watch the account and tell what needs a hand.", DEPLOY),
    Entry("watch rules", "watch", "Print the rules of watch for Prometheus.", DEPLOY),
    Entry("adopt", "named", "Take over a deployment that carries no marker.", NAMED),
    Entry("forget", "named", "Remove the marker and let it go on running.", NAMED),
    Entry("hold", "named", "Suspend changes to a deployment for a while.", NAMED),
    Entry("release", "named", "End a hold.", NAMED),
    Entry("park", "named", "Stop all replicas and keep the deployment.", NAMED),
    Entry("unpark", "named", "Give it the replicas of its spec again.", NAMED),
    Entry("destroy", "named", "Delete a deployment by name.", NAMED),
    Entry("undo", "named", "Bring a deleted deployment back.", NAMED),
    Entry("bench init", "bench", "Print a small example prompt set.", MEASURE),
    Entry("bench import", "bench_import", "Write recorded requests as a prompt set.", MEASURE),
    Entry("bench run", "bench_run", "Send a prompt set and record every answer.", MEASURE),
    Entry("bench compare", "bench_compare", "Compare two runs, paired by prompt.", MEASURE),
    Entry("bench capacity", "bench_capacity", "Find the largest load that meets the objectives.", MEASURE),
    Entry("bench report", "bench_report", "Show runs as tables, histograms or a page of charts.", MEASURE),
    Entry("bench selftest", "bench", "Measure the error of the harness itself.", MEASURE),
    Entry("eval init", "eval", "Print a small evaluation set with graders.", MEASURE),
    Entry("eval outlook", "eval", "Say what a prompt set can show, before it runs.", MEASURE),
    Entry("eval run", "eval_run", "Send a prompt set and grade every answer.", MEASURE),
    Entry("eval grade", "eval_run", "Grade the answers of a run again.", MEASURE),
    Entry("eval compare", "eval_compare", "Gate a candidate on the quality of its answers.", MEASURE),
    Entry("eval show", "eval_show", "Show the prompts that a candidate lost, with both answers.", MEASURE),
    Entry("evidence list", "evidence", "List evidence and what it still speaks for.", MEASURE),
    Entry("evidence add", "evidence", "Store a bench run as evidence.", MEASURE),
    Entry("evidence check", "evidence", "Say what the gates of the specs would say now.", MEASURE),
    Entry("experiment run", "experiment", "Compare candidates and keep the one that wins.", MEASURE),
    Entry("experiment status", "experiment", "Say what an experiment has done and cost.", MEASURE),
    Entry("experiment list", "experiment", "List experiments and what they left running.", MEASURE),
    Entry("experiment stop", "experiment", "Delete all candidates of an experiment.", MEASURE),
    Entry("speculate explain", "speculate", "Show what a draft gains at an acceptance and a cost.", MEASURE),
    Entry(
        "speculate replay", "speculate_replay", "Replay traces: which drafts would have paid off.", MEASURE
    ),
    Entry("speculate adapt", "speculate_adapt", "Tune a drafter on your traffic, step by step.", MEASURE),
    Entry("speculate collect", "speculate_adapt", "Step 1: traffic to training data.", MEASURE),
    Entry("speculate train", "speculate_adapt", "Step 2: fine-tune small models on it.", MEASURE),
    Entry("speculate evaluate", "speculate_adapt", "Step 3: measure drafters side by side.", MEASURE),
    Entry("speculate decide", "speculate_adapt", "Step 4: keep the drafter, or change the spec.", MEASURE),
    Entry("speculate watch", "speculate_adapt", "Step 5: tell when acceptance drifts.", MEASURE),
    Entry("route check", "route_check", "Check routes and ask every target once.", SERVING),
    Entry("route drill", "route_drill", "Show what clients see while targets fail.", SERVING),
    Entry("route serve", "route", "Serve routes that fall back to other targets.", SERVING),
    Entry("demo", "demo", "Run the whole job on the simulator; no account needed.", HELP),
    Entry("sim serve", "sim", "Serve the simulator over HTTP.", HELP),
    Entry("sim status", "sim", "Say where the simulator keeps its state and what is in it.", HELP),
    Entry("sim reset", "sim", "Empty the simulator.", HELP),
    Entry("doctor", "doctor", "Say which firectl, account and credentials are used.", HELP),
    Entry("completion", "completion", "Print a completion script for bash, zsh or fish.", HELP),
    Entry("version", "version", "Print the version of fwctl.", HELP),
)

BY_NAME: dict[str, Entry] = {entry.name: entry for entry in COMMANDS}


def top_level() -> dict[str, tuple[str, str]]:
    """Names of the first word of every command, with summary and section, in the order of the help."""
    names: dict[str, tuple[str, str]] = {}
    for entry in COMMANDS:
        word, _, rest = entry.name.partition(" ")
        if not rest:
            names[word] = (entry.summary, entry.section)
        elif word in GROUPS:
            names[word] = GROUPS[word]
    return names


def members(group: str) -> dict[str, Entry]:
    """Commands of one group by their second word."""
    return {entry.name.partition(" ")[2]: entry for entry in COMMANDS if entry.name.startswith(f"{group} ")}
