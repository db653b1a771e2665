"""Texts that firectl and the platform are known to print, and what each means."""

from __future__ import annotations

import json

import pytest

from fwctl.exitcodes import Exit
from fwctl.firectl.errors import RULES, UNKNOWN, ErrorClass, classify, failure_line, to_error
from fwctl.firectl.text import without_ansi
from tests.firectl.support import sample

RPC = "error creating deployment: rpc error: code = {} desc = {}"


@pytest.mark.parametrize(
    ("line", "error_class"),
    [
        ("unknown flag: --version", "invalid"),
        ("unknown shorthand flag: 'x' in -x", "invalid"),
        ('unknown command "tag" for "firectl deployment"', "invalid"),
        (
            "error creating deployment: error getting ID token: not signed in, run `firectl signin` first",
            "auth",
        ),
        ("rpc error: code = Unauthenticated desc = API key not valid", "auth"),
        (RPC.format("PermissionDenied", "the caller does not have permission"), "permission"),
        (
            RPC.format("AlreadyExists", "deployment accounts/acme/deployments/x already exists"),
            "already_exists",
        ),
        (
            RPC.format(
                "InvalidArgument", 'invalid deployment: unknown load target key ""gpu_cache_usage_pct""'
            ),
            "invalid",
        ),
        (
            RPC.format("InvalidArgument", "accelerator_type must be specified for non-embeddings engines"),
            "invalid",
        ),
        (RPC.format("FailedPrecondition", "payment method is required"), "suspended"),
        (
            RPC.format(
                "FailedPrecondition",
                "deployment has received inference requests in the last hour, pass ignore_checks",
            ),
            "recent_traffic",
        ),
        (RPC.format("FailedPrecondition", "cannot delete model with active deployments"), "precondition"),
        ("FailedPrecondition: cannot delete model with active deployments", "precondition"),
        (
            (
                "rpc error: code = FailedPrecondition desc = Account acme is suspended, possibly due to "
                "reaching the monthly spending limit or failure to pay past invoices"
            ),
            "suspended",
        ),
        (RPC.format("ResourceExhausted", "quota_exceeded"), "quota"),
        (RPC.format("ResourceExhausted", "quota h100-us-iowa-1 exceeded: 16 of 8"), "quota"),
        (RPC.format("ResourceExhausted", "no capacity in US_IOWA_1"), "capacity"),
        (RPC.format("ResourceExhausted", "try again"), "capacity"),
        (RPC.format("ResourceExhausted", "rate limit exceeded"), "unavailable"),
        (RPC.format("NotFound", "model accounts/acme/models/x not found"), "not_found"),
        ("the deployment shape version does not exist or you do not have access to it", "not_found"),
        (
            "draft model precision validation failed: addons cannot be enabled with quantized precisions",
            "invalid",
        ),
        ("rpc error: code = Unavailable desc = connection error: dial tcp: no such host", "unavailable"),
        ("rpc error: code = DeadlineExceeded desc = context deadline exceeded", "timeout"),
        ("rpc error: code = Internal desc = Internal error occurred", "unknown"),
        ("rpc error: code = Brandnew desc = something", "unknown"),
        ("something nobody has seen", "unknown"),
        ('BLOCKED: mutating command "deployment create" cannot run here', "blocked"),
    ],
)
def test_known_texts_fall_into_their_class(line, error_class):
    failure = classify(line)
    assert failure.error_class == error_class
    assert failure.line == line
    assert failure.next_steps


@pytest.mark.parametrize("name", ["quota-bot", "not-found", "capacity", "suspended-1"])
def test_a_resource_name_does_not_decide_the_class(name):
    line = RPC.format("AlreadyExists", f"deployment accounts/acme/deployments/{name} already exists")
    assert classify(line).error_class == "already_exists"
    line = RPC.format("Internal", f"cannot read accounts/acme/deployments/{name}")
    assert classify(line).error_class == "unknown"


def test_the_code_is_believed_before_the_words_where_it_leaves_no_doubt():
    assert classify(RPC.format("NotFound", "no quota entry of that name")).error_class == "not_found"
    assert classify(RPC.format("Unauthenticated", "account acme is suspended")).error_class == "suspended"


def test_the_servers_own_words_and_code_are_kept_apart_from_the_wrapping():
    failure = classify(RPC.format("AlreadyExists", "deployment x already exists"))
    assert (failure.detail, failure.grpc_code) == ("deployment x already exists", "AlreadyExists")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "create-model-failed-2025.txt",
            (
                "error uploading model: error reading safetensors file "
                "Llama-3.3-70B-Instruct-bnb-4bit/model-00004-of-00008.safetensors: "
                "error reading safetensors metadata: header too large: max 100000000, "
                "actual 2336927755350992246"
            ),
        ),
        ("delete-verb-noun.txt", None),
        ("list-deployment-shape-versions.txt", None),
        ("create-shapeless-success.txt", None),
        ("delete-deployment-2024.txt", None),
    ],
)
def test_the_failure_line_of_captured_output(name, line):
    assert failure_line(without_ansi(sample(name)), "") == line


def test_the_failure_line_of_a_script_log_stands_behind_its_indentation():
    text = "\n".join(
        line.strip() for line in without_ansi(sample("script-log-already-exists.txt")).splitlines()
    )
    line = failure_line(text, "")
    assert line is not None
    assert classify(line).error_class == "already_exists"


def test_the_last_failure_line_counts_and_stderr_goes_first():
    assert (
        failure_line("Failed to execute: one", "Failed to execute: two\nFailed to execute: three") == "three"
    )
    assert failure_line("Failed to execute: one\nmore", "") == "one"
    assert failure_line("", "2026/07/13 15:05:14 BLOCKED: no") == "BLOCKED: no"


def test_a_text_inside_json_is_no_failure_line():
    text = json.dumps({"description": "Failed to execute: nothing"}, indent=2)
    assert failure_line(text, "") is None


def test_a_refusal_by_firectl_itself_names_the_command_to_run_by_hand():
    output = (
        "2026/09/06 10:00:00 Failed to execute: BLOCKED: "
        'mutating command "deployment create" cannot run here\n\n'
        "Run this command manually in your terminal:\n  firectl deployment create m --deployment-id chat\n"
    )
    line = failure_line("", output)
    assert line == 'BLOCKED: mutating command "deployment create" cannot run here'
    failure = classify(line, output)
    assert failure.error_class is ErrorClass.BLOCKED
    assert failure.next_steps[0] == "firectl deployment create m --deployment-id chat"
    assert classify(line).next_steps == failure.next_steps[1:]


def test_the_shape_picker_is_recognised_beside_a_failure_of_the_terminal():
    failure = classify("^D", "? Select a shape\n> fast\n  Create without using shape\n")
    assert failure.error_class == "invalid"
    assert "fwctl shapes" in failure.next_steps[0]


@pytest.mark.parametrize(
    ("error_class", "exit_code", "code"),
    [
        (ErrorClass.AUTH, Exit.AUTH, "auth"),
        (ErrorClass.PERMISSION, Exit.AUTH, "auth"),
        (ErrorClass.SUSPENDED, Exit.AUTH, "auth"),
        (ErrorClass.BLOCKED, Exit.FIRECTL, "firectl_blocked"),
        (ErrorClass.QUOTA, Exit.FAILED, "firectl_failed"),
        (ErrorClass.TIMEOUT, Exit.FAILED, "firectl_failed"),
        (ErrorClass.UNKNOWN, Exit.FAILED, "firectl_failed"),
    ],
)
def test_the_class_decides_the_exit_code(error_class, exit_code, code):
    error = to_error(error_class, "text", ("do",), "chat")
    assert (error.exit_code, error.code, error.error_class) == (exit_code, code, error_class)
    assert (error.message, error.next_steps, error.deployment) == ("text", ("do",), "chat")


def test_every_class_has_a_rule_and_every_rule_a_next_step():
    assert {rule.error_class for rule in (*RULES, UNKNOWN)} == set(ErrorClass)
    assert all(rule.next_steps for rule in (*RULES, UNKNOWN))


def test_each_code_belongs_to_one_rule():
    codes = [code for rule in (*RULES, UNKNOWN) for code in rule.codes]
    assert len(codes) == len(set(codes))
