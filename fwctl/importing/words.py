"""firectl command lines inside any text: where they begin, where they end, and their words. Pure.

Not a shell: nothing is run or looked up. Variables stay as `${env:NAME}`, placeholders such as `<ID>`
become variables too, and what only a run could tell is marked on the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

SHELL, MAKE, POWERSHELL, BATCH = "sh", "make", "powershell", "batch"

BINARY = re.compile(
    r"""(?<![\w.$/~-])(?:"\$\{?FIRECTL\w*\}?"|\$\{?FIRECTL(?:_BIN|_PATH|_CMD)?(?::-[^}]*)?\}?"""
    r"""|\$\(FIRECTL\w*\)|(?P<quote>["']?)(?:[\w.~${}-]*/)*firectl(?:\.exe)?(?P=quote))(?=[ \t]+\S)"""
)
# Whole `${{ ... }}` and `{{ ... }}` of workflows and templates, then the variables of shells.
_EXPRESSION = re.compile(r"\$?\{\{(.*?)\}\}")
_PATH = re.compile(r"\s*-?\s*\.?([A-Za-z_][\w.-]*)")
_EXPRESSION_DEFAULT = re.compile(r"(?:\|\||\|\s*default\(?)\s*(['\"])(.*?)\1")
_VARIABLE = re.compile(
    r"\$\{(?P<braced>[A-Za-z_]\w*)(?::?(?P<how>[-=?])(?P<default>[^}]*))?\}"
    r"|\$env:(?P<shell>[A-Za-z_]\w*)|\$(?P<plain>[A-Za-z_]\w*)"
)
_ARGUMENT_DEFAULT = re.compile(r"\$\{\d+:?[-=]([^}$]+)\}")
_REFERENCE = re.compile(r"\$\{env:\w+\}")
_PLACEHOLDER = re.compile(
    r"<([A-Za-z_][\w .-]*)>|\{([A-Za-z_][\w.]*)(?:\[[^]\s]*\])?\}|\b(YOUR_\w+|YOUR-[\w-]+)\b"
)
_ARRAY = re.compile(r"\$\{(\w+)\[[@*]\][^}]*\}|\$\{?[@*](?::\d+)?\}?|@\w+")
_BACKTICKS = re.compile(r"`[^`\s][^`]*`")
_STOP = set("|;&()`")
_SKIPPED = re.compile(r"&?\d*>{1,2}(?:&\d|\s*[^\s;|&()`]+)?|<\s+[^\s;|&()`]+|`\s*#[^`]*`")


@dataclass(frozen=True, slots=True)
class Word:
    """One argument. made: names of placeholders in it. computed: its value exists only at run time.
    defaults: values that the text itself gives its variables. guessed: the raw text, when `text` is the
    default of an argument of the script."""

    text: str
    made: tuple[str, ...] = ()
    array: bool = False
    computed: bool = False
    defaults: tuple[tuple[str, str], ...] = ()
    guessed: str = ""


def commands_in(line: str, *, dialect: str = SHELL) -> Iterator[tuple[int, list[Word]]]:
    """(column from 0, words after the binary) of every firectl call in one logical line."""
    at = 0
    while (found := BINARY.search(line, at)) is not None:
        words, at = _Lexer(line, found.end(), _open_quote(line[: found.start()]), dialect).run()
        if words:
            yield found.start(), words


def _open_quote(before: str) -> str:
    """The quote that a command stands in, empty when it stands in none."""
    stack = [""]
    position = 0
    while position < len(before):
        character = before[position]
        if character == "\\":
            position += 1
        elif before.startswith("$(", position) and stack[-1] != "'":
            stack.append("")
            position += 1
        elif character == ")" and len(stack) > 1 and not stack[-1]:
            stack.pop()
        elif character in "\"'" and stack[-1] in ("", character):
            apostrophe = character == "'" and position and before[position - 1].isalnum()
            if not (apostrophe and not stack[-1]):
                stack[-1] = "" if stack[-1] else character
        position += 1
    return stack[-1]


@dataclass
class _Lexer:
    """The words of one call, from `at` to where the call ends. outer: the quote the call stands in."""

    line: str
    at: int
    outer: str
    dialect: str
    words: list[Word] = field(default_factory=list)
    raw: str = ""
    quoted: str = ""
    started: bool = False

    def run(self) -> tuple[list[Word], int]:
        while self.at < len(self.line) and (self._quotes() or self._spaces() or self._text()):
            pass
        self._end_word()
        return self.words, self.at

    def _end_word(self) -> None:
        if self.started:
            self.words.append(word(self.raw, dialect=self.dialect))
        self.raw, self.started = "", False

    def _add(self, text: str, end: int) -> bool:
        self.raw, self.started, self.at = self.raw + text, True, end
        return True

    def _quotes(self) -> bool:
        """A quote opens or closes; inside another quote ours are written with a backslash."""
        character = self.line[self.at]
        if self.outer and self.line.startswith("\\" + self.outer, self.at):
            self.quoted = "" if self.quoted == "\\" else "\\"
            return self._add("", self.at + 2)
        if character not in "\"'" or (character == self.outer and not self.quoted):
            return False
        if self.quoted in ("", character):
            self.quoted = "" if self.quoted else character
            return self._add("", self.at + 1)
        return False

    def _spaces(self) -> bool:
        """What may stand between words: blanks, redirections, and remarks (`# ...` between backticks)."""
        if self.quoted:
            return False
        if self.line[self.at] in " \t":
            self._end_word()
            self.at += 1
            return True
        skipped = None if self.started else _SKIPPED.match(self.line, self.at)
        if skipped is not None:
            self.at = skipped.end()
        return skipped is not None

    def _text(self) -> bool:
        """Anything else belongs to a word, or ends the call (False)."""
        line, at, character = self.line, self.at, self.line[self.at]
        whole = self._whole()
        if whole:
            return self._add(line[at:whole], whole)
        if character == "\\" and self.quoted != "'" and self.dialect != BATCH and at + 1 < len(line):
            return self._add(line[at + 1], at + 2)
        if self.quoted:
            return self._add(character, at + 1)
        if character in "{<" and (close := _bracket_end(line, at)):
            return self._add(line[at:close], close)
        comment = character == "#" and not self.started
        if comment or character in _STOP or (self.outer and character == self.outer):
            return False
        return not line.startswith("</", at) and self._add(character, at + 1)

    def _whole(self) -> int:
        """Where an expression that may hold blanks ends: `${{ ... }}`, `{{ ... }}`, `$( ... )`, `${...}`,
        a command between backticks."""
        line, at = self.line, self.at
        expression = _EXPRESSION.match(line, at)
        if expression is not None:
            return expression.end()
        if self.quoted == "'":
            return 0
        if line.startswith("$(", at):
            return _closing(line, at + 2)
        if self.dialect != POWERSHELL and not self.started and _BACKTICKS.match(line, at):
            return line.find("`", at + 1) + 1
        end = line.find("}", at) if line.startswith("${", at) else -1
        return end + 1


def _bracket_end(line: str, at: int) -> int:
    """End of `{...}` or `<...>` when it is one word's placeholder, else 0."""
    closing = "}" if line[at] == "{" else ">"
    end = line.find(closing, at)
    inside = line[at + 1 : end]
    return end + 1 if 0 < end - at < 60 and not (set(inside) & set("<>{\"'/")) else 0


def _closing(line: str, at: int) -> int:
    depth = 1
    while at < len(line) and depth:
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        at += 1
    return at


def word(raw: str, *, dialect: str = SHELL) -> Word:
    """A word as written, with its variables and placeholders in the form of the spec."""
    if _ARRAY.fullmatch(raw):
        return Word(raw, array=True)
    if dialect == MAKE:
        raw = re.sub(r"\$\((\w+)\)", r"${\1}", raw).replace("$$", "$")
    elif dialect == BATCH:
        raw = re.sub(r"%(\w+)%", r"${\1}", raw)
    guess = _ARGUMENT_DEFAULT.fullmatch(raw)
    if guess is not None:
        return replace(word(guess[1]), guessed=raw)
    defaults: dict[str, str] = {}
    text = _EXPRESSION.sub(lambda found: _expression(found, defaults), raw)
    text = _VARIABLE.sub(lambda found: _variable(found, defaults), text)
    left = _REFERENCE.sub("", text)
    if "$(" in left or "`" in left or "${" in left or re.search(r"\$[0-9#?!]", left):
        return Word(raw, computed=True)
    made: list[str] = []
    text = _PLACEHOLDER.sub(lambda found: _placeholder(found, made, text), text)
    return Word(text, tuple(made), defaults=tuple(defaults.items()))


def _expression(found: re.Match[str], defaults: dict[str, str]) -> str:
    """`${{ inputs.id || 'chat' }}` or `{{ model | default("m") }}` as a variable of the last name."""
    path = _PATH.match(found[1])
    if path is None or found[1][path.end() :].lstrip().startswith("("):
        return f"$({found[1].strip()})"
    name = path[1].rsplit(".", 1)[-1]
    default = _EXPRESSION_DEFAULT.search(found[1], path.end())
    return _with_default(name, default[2] if default else None, defaults)


def _variable(found: re.Match[str], defaults: dict[str, str]) -> str:
    name = found["braced"] or found["shell"] or found["plain"]
    given = found["default"] if found["how"] in ("-", "=") else None
    return _with_default(name, given.strip("\"'") if given else None, defaults)


def _with_default(name: str, value: str | None, defaults: dict[str, str]) -> str:
    text = reference(name)
    if value and not set(value) & set("$`("):
        defaults[text] = value
    return text


def _placeholder(found: re.Match[str], made: list[str], text: str) -> str:
    if text[max(0, found.start() - 1) : found.start()] == "$":
        return found.group()
    name = next(group for group in found.groups() if group).split(".")[-1]
    made.append(found.group())
    return reference(name)


def reference(name: str) -> str:
    """`${env:NAME}` of a variable or placeholder; a placeholder's name becomes one of a variable."""
    clean = re.sub(r"\W+", "_", name).strip("_") or "VALUE"
    return "${env:" + (clean if not clean[0].isdigit() else f"V_{clean}") + "}"


def is_open(text: str) -> bool:
    """True for a value that only the environment of a run knows."""
    return "${env:" in text
