"""Find what identifies people by its form: mail addresses, phone numbers, cards and accounts with check digits."""

from workbench._base import releases
from workbench._base.typing import Column

NAMES = {  # of a pattern, and what a sentence calls it
    "mail": "a mail address",
    "phone": "a phone number",
    "card": "a number with the check digit of a card",
    "iban": "an account number (IBAN) with its check digits",
}
_MAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
# with its country; 0044 behind other digits is a group of an account
_PHONE = (
    r"(?<![0-9A-Za-z])(?:\+|(?<![0-9] )00)[1-9][0-9]{0,3}[ ()/.-]{0,2}[0-9][0-9 ()/.-]{4,14}[0-9](?![0-9A-Za-z])"
)
# of 13 to 19 digits from 2 to 6 on; those of an IBAN behind its first group have a check digit by chance
_CARD = r"(?<![0-9A-Za-z.])(?<![A-Z]{2}[0-9]{2} )[2-6](?:[ -]?[0-9]){12,18}(?![0-9A-Za-z])"
_IBAN = r"(?<![0-9A-Za-z])[A-Z]{2}[0-9]{2}(?: ?[0-9A-Z]){11,30}(?![0-9A-Za-z])"


def matches(name: str, text: Column) -> Column:
    """Return a boolean column: whether a text holds a pattern; null where the text is."""
    from pyspark.sql import functions as F

    if name in ("mail", "phone"):
        return text.rlike(_MAIL if name == "mail" else _PHONE)
    if name == "card":
        numbers = F.regexp_extract_all(text, F.lit(_CARD), F.lit(0))
        return F.exists(
            numbers, lambda number: F.call_function("luhn_check", F.regexp_replace(number, "[ -]", ""))
        )
    accounts = F.regexp_extract_all(text, F.lit(_IBAN), F.lit(0))
    return F.exists(accounts, lambda account: _mod_97(F.regexp_replace(account, " ", "")) == 1)


def _mod_97(account: Column) -> Column:
    """Return the rest of an IBAN by 97, its first four characters at its end, letters as numbers from 10 on."""
    from pyspark.sql import functions as F

    turned = F.concat(F.substring(account, 5, 34), F.substring(account, 1, 4))
    digits = F.split(turned, "")

    def add(rest: Column, digit: Column) -> Column:
        letter = digit.rlike("[A-Z]")
        number = F.when(letter, F.ascii(digit) - 55).otherwise(releases.try_cast(digit, "int"))
        return F.when(digit == "", rest).otherwise((rest * F.when(letter, 100).otherwise(10) + number) % 97)

    return F.aggregate(digits, F.lit(0), add)
