"""Grammars that no server could work with are found before they are sent."""

from __future__ import annotations

import pytest

from fwctl.inference.grammar import problems

# From the examples of llama.cpp, grammars/: arithmetic.gbnf and list.gbnf.
ARITHMETIC = """root  ::= (expr "=" ws term "\\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num   ::= [0-9]+ ws
ws    ::= [ \\t\\n]*
"""
LIST = """root ::= item+
# Excludes various line break characters
item ::= "- " [^\\r\\n\\x0b\\x0c\\x85\\u2028\\u2029]+ "\\n"
"""


@pytest.mark.parametrize(
    "grammar", [ARITHMETIC, LIST, 'root ::= "a"{2,3} | . {2}\n', "root ::=\n  [\"#] '#'"[:-4]]
)
def test_good_grammars_have_no_problem(grammar: str) -> None:
    assert problems(grammar) == []


@pytest.mark.parametrize(
    ("grammar", "problem"),
    [
        ("", "line 1, column 1: there is no rule `root`"),
        ('start ::= "a"', "line 1, column 1: there is no rule `root`"),
        ("root ::= item", "line 1, column 10: the rule 'item' is used and not defined"),
        ('root ::= "a"\nroot ::= "b"', "line 2, column 1: the rule 'root' is defined twice"),
        ('root ::= ("a"', "line 1, column 14: a group is not closed"),
        ('root ::= ("a"\nb ::= "b"', "line 2, column 1: a group is not closed"),
        ('root ::= "a")', "line 1, column 13: a group is closed that was not opened"),
        ("root ::= *", "line 1, column 10: * has nothing to repeat"),
        ('root ::= "a" "b', "line 1, column 14: '\"' begins nothing that GBNF knows"),
        ('"a" root ::= "b"', "line 1, column 1: a rule begins with its name and `::=`"),
        ("x" * 1_000_001, "line 1, column 1: the grammar is longer than 1000000 characters"),
    ],
)
def test_what_is_wrong_has_a_place(grammar: str, problem: str) -> None:
    assert problems(grammar)[0] == problem


def test_many_problems_are_cut() -> None:
    assert len(problems("root ::= " + "* " * 100_000)) == 20
