"""The verdict of an audit on a set of rows: the value that a gate expects and an audit returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from workbench._base.errors import ArgumentError


@dataclass(frozen=True)
class Verdict:
    """The verdict of an audit on a set of rows; the gate that receives it need not know which audit it was.

    Attributes:
        passed: whether the rows may be published.
        rules: the text that was applied; its checksum becomes part of the evidence.
        figures: name to number or text, what was measured on the way.
        reasons: why it failed, one sentence each; empty when it passed.
        quarantined: DataFrame of the rows that must not be published, with the rules that each failed; None when
            the audit does not tell rows apart.

    Raises:
        ValueError: an attribute is of another kind; it is refused here because the gate would notice too late.
    """

    passed: bool
    rules: str
    figures: Mapping[str, int | float | Decimal | str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    quarantined: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.passed, bool):
            raise ArgumentError(f"a Verdict's passed is True or False, not {self.passed!r}")
        if not isinstance(self.rules, str) or not self.rules.strip():
            raise ArgumentError("a Verdict's rules is the text that was applied; it is empty or not a text")
        if not isinstance(self.figures, Mapping):
            raise ArgumentError(f"a Verdict's figures are numbers or texts by name, not {self.figures!r}")
        for name, value in self.figures.items():
            if not isinstance(name, str) or not isinstance(value, int | float | Decimal | str):
                raise ArgumentError(f"a Verdict's figures are numbers or texts by name, not {name!r}: {value!r}")
        if not isinstance(self.reasons, list | tuple) or not all(
            isinstance(reason, str) for reason in self.reasons
        ):
            raise ArgumentError(f"a Verdict's reasons are a tuple of sentences, not {self.reasons!r}")
        if self.quarantined is not None and not hasattr(self.quarantined, "writeTo"):
            raise ArgumentError(
                f"a Verdict's quarantined is a DataFrame of the refused rows, not {self.quarantined!r}"[:300]
            )
