"""Labels of rules and rulesets: which there are, and what the AWS Glue User Guide asks of them (DQDL, Labels).

They sort rules by team, data or weight and change no verdict. Those of the ruleset (`DefaultLabels`) belong to
every rule; a rule's own come to them, and win where both have a key.
"""

from typing import Any

from workbench._base.errors import ArgumentError
from workbench.quality import operands

MOST_LABELS, MOST_KEY_CHARACTERS, MOST_VALUE_CHARACTERS = 10, 128, 256


def of_rule(tree: Any, defaults: dict[str, str]) -> dict[str, str]:
    """Return the labels of a rule of the ruleset, key to value, the ruleset's first.

    Args:
        tree: of the grammar's topLevelRule.
        defaults: labels of the ruleset.

    Raises:
        ValueError: there are too many, one is wrong, or they stand at a part of rules that are joined.
    """
    lists = []
    while tree.LPAREN():
        lists += [tree.labels()] if tree.labels() else []
        tree = tree.topLevelRule(0)
    lists += tree.dqRule().labels() if tree.dqRule() else []
    if not tree.dqRule() and any(below(tree)):
        raise ArgumentError(
            'labels belong to all rules that are joined, as in ((rule) and (rule)) labels=["key"="value"]'
        )
    if len(lists) > 1:
        raise ArgumentError("it has labels twice; write one list of them")
    own = read(lists[0].labelList()) if lists else {}
    if len(labels := defaults | own) > MOST_LABELS:
        ours = f", {len(defaults)} of them in DefaultLabels" if defaults else ""
        raise ArgumentError(f"a rule has at most {MOST_LABELS} labels, found {len(labels)}{ours}")
    return labels


def read(tree: Any) -> dict[str, str]:
    """Return the labels of a list, key to value, in the order written.

    Args:
        tree: of the grammar's labelList.

    Raises:
        ValueError: the list is empty, a key is empty or is given twice, or a text is too long.
    """
    labels = {}
    for pair in tree.labelPair():
        key, value = (operands.unquoted(text.getText()) for text in pair.quotedString())
        if not key:
            raise ArgumentError("the key of a label is empty")
        if key in labels:
            raise ArgumentError(f"the label {key!r} is given twice; the keys of labels must be different")
        for what, text, most in (("key", key, MOST_KEY_CHARACTERS), ("value", value, MOST_VALUE_CHARACTERS)):
            if len(text) > most:
                raise ArgumentError(
                    f"the {what} of a label has at most {most} characters, found {len(text)}: {text[:40]}…"
                )
        labels[key] = value
    if not labels:
        raise ArgumentError('the list of labels is empty; leave it out, or write "key"="value" in it')
    if len(labels) > MOST_LABELS:
        raise ArgumentError(f"a rule has at most {MOST_LABELS} labels, found {len(labels)}")
    return labels


def below(tree: Any) -> list[Any]:
    """Return the lists of labels of rules in a part of a document; read in a loop, for it may be deep."""
    lists, rest = [], [tree]
    while rest:
        node = rest.pop()
        if type(node).__name__ == "LabelsContext":
            lists.append(node)
        else:
            rest += getattr(node, "children", None) or []
    return lists
