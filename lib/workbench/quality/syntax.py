"""DQDL text to rules, by the parser that was generated from the official grammar."""

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

from workbench._base.door import checked
from workbench._base.errors import ArgumentError
from workbench.quality import labels, operands
from workbench.quality.rules import SIGNATURES, Composite, Condition, Rule

WORDS = ("between", "in", "matches", "not", "where", "with", "threshold", "and", "or", "labels", "DefaultLabels")


@checked
def parse(ruleset: str) -> tuple[Rule | Composite, ...]:
    """Read a DQDL ruleset.

    Args:
        ruleset: text such as `Rules = [ RowCount > 0, IsComplete "id" ]`.

    Returns:
        tuple of Rule and Composite, in the order written.

    Raises:
        ValueError: the text is not DQDL (line, column, what stands there, what was expected), or rules are of a
            type or form that is not supported; then all of them are named.
    """
    document, stream = _document(ruleset)
    return _Reader(stream).document(document)


def _document(ruleset: str) -> tuple[Any, Any]:
    try:
        from antlr4 import CommonTokenStream, InputStream
        from antlr4.error.ErrorListener import ErrorListener
    except ImportError as error:
        raise ArgumentError(
            "DQDL rules need the package antlr4-python3-runtime: pip install 'iceberg-workbench[quality]'"
        ) from error
    from workbench.quality.dqdl import DataQualityDefinitionLanguageLexer as lexers
    from workbench.quality.dqdl import DataQualityDefinitionLanguageParser as parsers

    class Refuse(ErrorListener):
        def syntaxError(
            self, recognizer: Any, offendingSymbol: Any, line: int, column: int, msg: str, e: Any
        ) -> None:
            meant = _meant(offendingSymbol) or _meant_labels(ruleset)
            raise ArgumentError(_wrong(recognizer, offendingSymbol, line, column, msg, e) + meant + hint)

    opened = re.search(r"\b(Rules|Analyzers)\s*=\s*\[", ruleset)
    hint = "" if opened else "; rules stand in brackets, as in Rules = [ RowCount > 0 ]"
    # the grammar knows no carriage return, and ends a comment only at the end of a line
    lexer = lexers.DataQualityDefinitionLanguageLexer(InputStream(ruleset.replace("\r\n", "\n") + "\n"))
    stream = CommonTokenStream(lexer)
    parser = parsers.DataQualityDefinitionLanguageParser(stream)
    for recognizer in (lexer, parser):
        recognizer.removeErrorListeners()
        recognizer.addErrorListener(Refuse())
    document = parser.document()
    if stream.LA(1) != -1:  # the grammar's start rule does not ask for the end of the text
        token = stream.LT(1)
        raise ArgumentError(_sentence(token.line, token.column, token.text, "the end of the ruleset"))
    return document, stream


def _wrong(recognizer: Any, token: Any, line: int, column: int, message: str, error: Any) -> str:
    if token is None:  # the lexer's: "token recognition error at: '%'"
        return _sentence(line, column, message.partition("at: ")[2].strip("'"), "a word of DQDL")
    dead = getattr(error, "deadEndConfigs", None)
    if dead is None:
        kinds = {kind for interval in recognizer.getExpectedTokens().intervals for kind in interval}
    else:  # the parser looked ahead: what it expected is where each of its guesses ended
        kinds = set().union(*(_next(recognizer.atn, guess.state, guess.context) for guess in dead))
    literal, symbolic = recognizer.literalNames, recognizer.symbolicNames
    names = {
        literal[kind] if kind < len(literal) and literal[kind] != "<INVALID>" else symbolic[kind]
        for kind in kinds
        if kind > 0
    }
    expected = " or ".join(sorted(names)) or "the end of the ruleset"
    return _sentence(line, column, token.text, expected)


def _meant(token: Any) -> str:
    """Return a hint when the word at fault, or the one before it, is nearly one of the language's."""
    if token is None:
        return ""
    # the parser takes a misspelt word for a name and stumbles over what follows it
    before = re.findall(r"[\w\"']+", token.getInputStream().strdata[: token.start])[-1:]
    return next((hint for word in (token.text, *before) if (hint := nearly(word))), "")


def _meant_labels(ruleset: str) -> str:
    """Return a hint when a list is called nearly as labels are: it is taken for a variable, whatever is in it."""
    called = re.search(r"(?i)\b(default_?labels?|labels?)\s*=\s*\[", ruleset)
    return nearly(called[1]) if called else ""


def nearly(word: str, words: Collection[str] = WORDS) -> str:
    """Return ` (did you mean between, not betwen?)`, or nothing where no word of the language is near."""
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.75) if re.fullmatch(r"[A-Za-z]\w*", word) else []
    return f" (did you mean {near[0]}, not {word}?)" if near and near[0] != word else ""


def _next(atn: Any, state: Any, context: Any) -> set[int]:
    """Return the kinds of token that may follow a state of the grammar's automaton in its context."""
    following = {kind for interval in atn.nextTokens(state).intervals or () for kind in interval}
    if -2 in following and context is not None and not context.isEmpty():  # -2: a rule can end here
        for i in range(len(context)):
            if context.getReturnState(i) < len(atn.states) and context.getParent(i) is not None:
                following |= _next(atn, atn.states[context.getReturnState(i)], context.getParent(i))
    return following


def _sentence(line: int, column: int, text: str, expected: str) -> str:
    text = "the end of the text" if text == "<EOF>" else f"'{text}'"
    return f"DQDL syntax: line {line}, column {column + 1}: found {text}, expected {expected}"


class _Reader:
    """One document: its text, its variables, its default labels, and what is wrong with its rules."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.variables: dict[str, operands.Text | tuple[operands.Text, ...]] = {}
        self.default_labels: dict[str, str] = {}
        self.problems: list[tuple[str, str]] = []
        self.label_tokens: set[int] = set()  # indexes of the tokens that no text of a rule has

    def document(self, tree: Any) -> tuple[Rule | Composite, ...]:
        for part in labels.below(tree):
            self.label_tokens.update(range(part.start.tokenIndex, part.stop.tokenIndex + 1))
        for section, name in ((tree.metadata(), "Metadata"), (tree.dataSources(), "DataSources")):
            if section:
                raise ArgumentError(f"the section {name} is not supported; frames are given as df and references=")
        if tree.rulesOrAnalyzers().analyzers():
            raise ArgumentError("the section Analyzers is not supported; only Rules are evaluated")
        if tree.variableDeclarations():
            for declaration in tree.variableDeclarations().variableDeclaration():
                self.declare(declaration)
        if tree.defaultLabels():
            self.default_labels = labels.read(tree.defaultLabels().labelList())
        listed = tree.rulesOrAnalyzers().rules().dqRules()
        if not listed:
            raise ArgumentError("the ruleset has no rules")
        rules = tuple(self.labelled(part) for part in listed.topLevelRule())
        if self.problems:
            raise ArgumentError(refusal(self.problems))
        return rules

    def declare(self, tree: Any) -> None:
        name = tree.IDENTIFIER().getText()
        if name in self.variables:
            raise ArgumentError(f"the variable ${name} is declared twice")
        expression = tree.expression()
        several = expression.stringValuesArray()
        listed = several.stringValues() if several else [expression.stringValues()]
        values = tuple(value for part in listed for value in operands.string(part, self.variables))
        self.variables[name] = values if several else values[0]

    def labelled(self, tree: Any) -> Rule | Composite:
        """Read a rule of the ruleset, single or joined of parts, with its labels."""
        rule = self.rule(tree)
        try:
            own = labels.of_rule(tree, self.default_labels)
        except ValueError as error:
            self.problems.append((rule.text, str(error)))
            return rule
        return replace(rule, labels=tuple(own.items()))

    def rule(self, tree: Any) -> Rule | Composite:
        if tree.dqRule():
            return self.leaf(tree.dqRule())
        if tree.LPAREN():
            inner = self.rule(tree.topLevelRule(0))
            text = self.text(tree)  # with its parentheses, as written
            return Composite(text, inner.operator, inner.parts) if isinstance(inner, Composite) else inner
        operator: Literal["and", "or"] = "and" if tree.AND() else "or"
        # the grammar joins by twos: (a and b) and c is one composite of three; read in a loop, for it may be long
        parts, rest = [], [tree]
        while rest:
            part = rest.pop()
            if part is tree or (not part.LPAREN() and (part.AND() if operator == "and" else part.OR())):
                rest += reversed(part.topLevelRule())
            else:
                parts.append(self.rule(part))
        return Composite(self.text(tree), operator, tuple(parts))

    def leaf(self, tree: Any) -> Rule:
        text, kind = self.text(tree), tree.ruleType().getText()
        try:
            if any(parameter.connectorWord() for parameter in tree.parameterWithConnectorWord()):
                raise ArgumentError("each of the joined rules must be in parentheses: (rule) and (rule)")
            rule = Rule(
                text,
                kind,
                tuple(self.parameter(p.parameter()) for p in tree.parameterWithConnectorWord()),
                self.condition(tree.condition()) if tree.condition() else None,
                operands.statement(tree.whereClause().quotedString().getText()) if tree.whereClause() else None,
                self.threshold(kind, tree.tagWithCondition()),
            )
            check(rule)
        except ValueError as error:
            words = [word for word in rule_words(tree) if not word.startswith('"')]
            self.problems.append((text, str(error) + next(filter(None, map(nearly, words)), "")))
            return Rule(text, kind, ())
        return rule

    def parameter(self, tree: Any) -> str:
        if tree.IDENTIFIER():
            return tree.IDENTIFIER().getText()
        return tree.QUOTED_STRING().getText()  # still quoted: a name and a statement are unquoted differently

    def condition(self, tree: Any) -> Condition:
        for kind in ("number", "string", "date", "duration"):
            part = getattr(tree, f"{kind}BasedCondition")()
            if part:
                return Condition(kind, *operands.condition(kind, part, self.variables))
        raise ArgumentError("a condition on a size (KB, MB …) is not supported")

    def threshold(self, kind: str, trees: Sequence[Any]) -> Condition | None:
        for tree in trees:
            tag = tree.tagValues().getText()
            if tag != "threshold":
                raise ArgumentError(f"`with {tag}` is not supported, only `with threshold`{nearly(tag)}")
        if not trees:
            return None
        if len(trees) > 1 or not trees[0].numberBasedCondition():
            raise ArgumentError("`with threshold` can be given once, with a condition on a number")
        if kind in SIGNATURES and not SIGNATURES[kind].threshold:
            can = ", ".join(name for name, signature in SIGNATURES.items() if signature.threshold)
            raise ArgumentError(f"{kind} takes no `with threshold`; {can} do")
        return Condition("number", *operands.condition("number", trees[0].numberBasedCondition(), self.variables))

    def text(self, tree: Any) -> str:
        """Return the rule as written but for its labels, with one blank where there were blanks or comments."""
        tokens = self.stream.tokens[tree.start.tokenIndex : tree.stop.tokenIndex + 1]
        tokens = [token for token in tokens if token.tokenIndex not in self.label_tokens]
        gaps = ("" if a.stop + 1 == b.start else " " for a, b in pairwise(tokens))
        return "".join(t.text + gap for t, gap in zip(tokens, [*gaps, ""], strict=True))


def rule_words(tree: Any) -> list[str]:
    """Return a rule's parameters and connecting words as written."""
    return [part.getText() for parameter in tree.parameterWithConnectorWord() for part in parameter.getChildren()]


def check(rule: Rule) -> None:
    """Refuse what the language does not allow this type of rule, or what is not supported of it.

    Raises:
        ValueError: without the name of the rule.
    """
    if rule.type not in SIGNATURES:
        meant = nearly(rule.type, SIGNATURES)
        known = ", ".join(SIGNATURES)
        raise ArgumentError(f"the rule type {rule.type} is not supported{meant}; supported are {known}")
    allowed = SIGNATURES[rule.type]
    fewest, most = allowed.parameters
    given = len(rule.parameters)
    if given < fewest or (most is not None and given > most):
        expected = "one or more" if most is None else {0: "no", 1: "one", 2: "two"}[most]
        raise ArgumentError(f"{rule.type} takes {expected} parameter(s), {given} given")
    if rule.condition is None and allowed.conditions and not allowed.optional:
        raise ArgumentError(f"{rule.type} needs a condition on a {' or '.join(allowed.conditions)}")
    if rule.condition and rule.condition.kind not in allowed.conditions:
        expected = f"a condition on a {' or '.join(allowed.conditions)}" if allowed.conditions else "no condition"
        raise ArgumentError(f"{rule.type} takes {expected}, not one on a {rule.condition.kind}")
    if rule.where is not None and not allowed.where:
        raise ArgumentError(f"{rule.type} takes no where")
    if rule.where is not None and not rule.where.strip():
        raise ArgumentError("its where is empty")
    if rule.condition and rule.type != "ColumnValues" and None in rule.condition.operands:
        raise ArgumentError(f"{rule.type} cannot be compared with NULL")
    if rule.threshold:
        if None in rule.threshold.operands or not all(0 <= share <= 1 for share in rule.threshold.values):
            raise ArgumentError("a threshold is a share of the rows, from 0 to 1")
        if rule.type == "CustomSql" and rule.condition:
            raise ArgumentError("CustomSql takes a condition or a threshold, not both")


def refusal(problems: Sequence[tuple[str, str]]) -> str:
    """Return one message of many problems, (rule text, why) each."""
    count = "1 rule cannot be evaluated" if len(problems) == 1 else f"{len(problems)} rules cannot be evaluated"
    return "\n".join([f"{count}:", *(f"  {text}: {why}" for text, why in problems)])


def name(parameter: str) -> str:
    """Return a parameter as the name of a column or an alias."""
    return operands.unquoted(parameter) if re.match('"', parameter) else parameter
