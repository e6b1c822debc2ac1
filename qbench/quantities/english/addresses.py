"""Numbers that say where or whom to reach: telephones, streets, ZIP codes, web addresses, coordinates, laws."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.dates import chain_of_numbers
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.tokens import Token, glued


def reached_until(tokens: Sequence[Token], number: Number) -> int | None:
    """Where to go on if the number is part of an address or the like; None if it may be a quantity."""
    for rule in _RULES:
        if (end := rule(tokens, number)) is not None:
            return end
    return None


def _phone(tokens: Sequence[Token], number: Number) -> int | None:
    """ "(212) 555-0123", "call 555-0123"."""
    first = number.first
    if chain_of_numbers(tokens, first, "/") == 3 and chain_of_numbers(tokens, first + 2, "-–") == 3:
        if [len(tokens[first + n].text) for n in (0, 2, 4)] == [3, 3, 4]:
            return first + 5  # "212/555-0123"
    if chain_of_numbers(tokens, first, "-–.") != 3:
        return None
    if len(tokens[first].text) != 3 or len(tokens[first + 2].text) != 4:
        return None
    words = [t.low for t in tokens[max(0, first - 4) : first]]
    code = words[-3:-2] == ["("] and words[-1] == ")"
    return first + 3 if code or {"call", "dial", "telephone", "hotline", "mobile"} & set(words) else None


def _international(tokens: Sequence[Token], number: Number) -> int | None:
    """ "+358 20 555 0123", "+44 (0)20 5555-0123": a plus, the code of a country, and groups of figures."""
    first, last = number.first, number.first + 1
    plus = first > 0 and tokens[first - 1].text == "+" and glued(tokens[first - 1], tokens[first])
    if not plus or not tokens[first].text.isdecimal() or len(tokens[first].text) > 3:
        return None
    groups = [tokens[first].text]
    while last < len(tokens):
        if [t.text for t in tokens[last : last + 3]] == ["(", "0", ")"] and last + 3 < len(tokens):
            last += 3
        group = last + (tokens[last].text in ("-", ".", "–") and glued(tokens[last - 1], tokens[last]))
        if group >= len(tokens) or not _continues_phone(tokens[group - 1], tokens[group]):
            break
        groups.append(tokens[group].text)
        last = group + 1
    return last if len(groups) >= _GROUPS_OF_PHONE and len("".join(groups)) >= _FIGURES_OF_PHONE else None


def _continues_phone(before: Token, group: Token) -> bool:
    near = group.start - before.end <= 1
    return near and group.text.isdecimal() and (2 <= len(group.text) <= 8 or group.text == "0")


_GROUPS_OF_PHONE, _FIGURES_OF_PHONE = 3, 8
"""Groups and figures of a telephone number, the code of the country included, at least."""


def _listed(tokens: Sequence[Token], number: Number) -> int | None:
    """The 7203 of "(TYO: 7203)", "TSE : 8002": a share at an exchange."""
    first = number.first
    code = first > 1 and tokens[first - 1].text == ":" and tokens[first - 2].text in _EXCHANGES
    return number.last if code and tokens[first].text.isdecimal() and 3 <= len(tokens[first].text) <= 6 else None


_EXCHANGES = frozenset("TSE TYO HKG HKEX SEHK SHA SSE SHE SZSE KRX KOSPI KOSDAQ KRS TPE TWSE BOM KLSE".split())
"""Exchanges whose shares have numbers."""


def _registered(tokens: Sequence[Token], number: Number) -> int | None:
    """ "ABN 12 345 678 901": the number under which a company is registered, in groups of figures."""
    if not number.first or tokens[number.first - 1].text not in _REGISTERS or not tokens[number.first].text.isdecimal():
        return None
    last = number.first + 1
    while last < len(tokens) and tokens[last].text.isdecimal() and len(tokens[last].text) == _GROUP:
        last += 1
    return last


_REGISTERS = frozenset("ABN ACN ARBN EIN CIK SIREN SIRET NIF VAT GSTIN CNPJ".split())
_GROUP = 3


def _cited(tokens: Sequence[Token], number: Number) -> int | None:
    """Volume and pages behind a year, "2017;66:389-397", "2015;33(8):911-918"."""
    first = number.first
    after_year = first > 1 and tokens[first - 1].text == ";" and len(tokens[first - 2].text) == 4
    if not after_year or tokens[first - 2].kind != "number" or not glued(tokens[first - 2], tokens[first - 1]):
        return None
    end = min(_end_of_word(tokens, first + 1), first + _LONGEST_CITATION)
    paged = any(t.text == ":" for t in tokens[first:end])
    while end > first + 1 and tokens[end - 1].text in ".,;)]":
        end -= 1
    return end if paged and glued(tokens[first - 1], tokens[first]) else None


_LONGEST_CITATION = 9
"""Tokens of "33(8):911-918" at most."""


def _area_code(tokens: Sequence[Token], number: Number) -> int | None:
    """The 212 of "(212) 555-0123"."""
    first, last = number.first, number.last
    if not first or tokens[first - 1].text != "(" or len(tokens[first].text) != 3 or last + 3 >= len(tokens):
        return None
    if tokens[last].text != ")" or chain_of_numbers(tokens, last + 1, "-–.") != 3:
        return None
    return last + 4 if len(tokens[last + 3].text) == 4 else None


def _coordinate(tokens: Sequence[Token], number: Number) -> int | None:
    """ "51.5° N", "40°42′N": a place."""
    j, end = number.last, min(len(tokens), number.last + 7)
    if j >= end or tokens[j].text not in "°º":
        return None
    while j < end and (tokens[j].kind == "number" or tokens[j].text in "°º′″'’\""):
        j += 1
    return j + 1 if j < end and tokens[j].text in ("N", "S", "E", "W") else None


def _legal(tokens: Sequence[Token], number: Number) -> int | None:
    """ "28 U.S.C. 1331", "17 C.F.R. § 240", "347 U.S. 483": title and section, volume and page."""
    j, end, letters = number.last, min(len(tokens), number.last + 8), ""
    if (
        number.written
        or number.scaled
        or j + 2 >= len(tokens)
        or tokens[j].text not in ("U", "C", "F", "S", "USC", "CFR")
    ):
        return None
    while j < end and (tokens[j].text in ".§" or (tokens[j].kind == "word" and len(tokens[j].text) <= 3)):
        letters += tokens[j].text if tokens[j].kind == "word" else ""
        j += 1
    if letters not in ("USC", "CFR", "US", "SCt") or j >= len(tokens) or tokens[j].kind != "number":
        return None
    return j + 1


def _postcode(tokens: Sequence[Token], number: Number) -> int | None:
    """The ZIP code of "Springfield, IL 62704", "Springfield, New York 12345-6789"."""
    first, last = number.first, number.last
    text = tokens[first].text
    if first < 3 or len(text) != 5 or not text.isdecimal():
        return None
    if _CODES & {t.low for t in tokens[first - 3 : first]}:
        return last  # "the zip code is 48166"
    if (
        tokens[first - 1].text == "("
        and last < len(tokens)
        and tokens[last].text == ")"
        and _has_address(tokens, first)
    ):
        return last  # "lives in Munich (80331)"
    if "".join(t.text for t in tokens[max(0, first - 4) : first]) == "D.C.":
        return _end_of_postcode(tokens, last)
    if tokens[first - 1].text in _STATES:
        state = tokens[first - 2].text == "," or tokens[first - 2].text.istitle()
    else:
        words = _STATE_NAMES.get(tokens[first - 1].text, ())
        state = any(_names_state(tokens, first - len(name), name) for name in words)
    return _end_of_postcode(tokens, last) if state else None


_CODES = frozenset("zip zipcode postcode plz".split())


def _has_address(tokens: Sequence[Token], first: int) -> bool:
    """Whether the place before the bracket at token `first` - 1 is where something is found or sent to."""
    k = first - 2
    while k > 0 and first - k < _LONGEST_PLACE and (tokens[k].text.istitle() or tokens[k].low in _WITHIN_PLACES):
        k -= 1
    named = k < first - 2 and tokens[first - 2].text.istitle() and tokens[k].low in ("in", "at", "near", "to")
    lead = [t.low for t in tokens[max(0, k - _NEAR_PLACE) : k]]
    counted = lead[-1:] and (lead[-1].endswith("s") or lead[-1] == "living") and lead[-1] not in _FOUND - {"living"}
    return named and not counted and not _FOUND.isdisjoint(lead)  # not "hospital beds in Germany (49700)"


_WITHIN_PLACES = frozenset("am an der de la le les los upon on - ,".split())
_LONGEST_PLACE = 6
_NEAR_PLACE = 8
"""Tokens from "office" to the "in" of its place at most."""
_FOUND = frozenset(
    "office offices headquarters headquartered based located situated address live lives lived living reside resides "
    "branch store shop shops hotel restaurant clinic hospital venue workshop studio send write mail born place event "
    "concert letter".split()
)
"""What is said with an address."""


def _names_state(tokens: Sequence[Token], k: int, name: Sequence[str]) -> bool:
    return k > 1 and tokens[k - 1].text == "," and [t.text for t in tokens[k : k + len(name)]] == list(name)


def _end_of_postcode(tokens: Sequence[Token], last: int) -> int:
    more = tokens[last : last + 2]
    longer = len(more) == 2 and more[0].text in "-–" and len(more[1].text) == 4 and more[1].text.isdecimal()
    return last + 2 if longer else last


def _street(tokens: Sequence[Token], number: Number) -> int | None:
    """The house in "2485 Maple Drive", "12 North Main St."."""
    first, last = number.first, number.last
    text = tokens[first].text
    if number.scaled or number.written or not text.isdecimal() or len(text) > 5:
        return None
    k = last
    while k < min(len(tokens), last + _STREET_WORDS) and tokens[k].kind == "word" and tokens[k].text.istitle():
        if k > last and tokens[k].text in _STREETS:
            return last
        k += 1
    return None


_STREETS = frozenset(
    "Street St Avenue Ave Road Rd Drive Dr Boulevard Blvd Lane Ln Parkway Pkwy Highway Terrace Plaza Court Ct Place "
    "Circle Crescent Square Building Tower".split()
)
_STREET_WORDS = 5
"""Words of a street's name, at most."""

_STATES = frozenset(
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY DC PR".split()
)
_STATE_NAMES: dict[str, list[tuple[str, ...]]] = {}
for _name in (
    "Alabama,Alaska,Arizona,Arkansas,California,Colorado,Connecticut,Delaware,Florida,Georgia,Hawaii,Idaho,Illinois,"
    "Indiana,Iowa,Kansas,Kentucky,Louisiana,Maine,Maryland,Massachusetts,Michigan,Minnesota,Mississippi,Missouri,"
    "Montana,Nebraska,Nevada,New Hampshire,New Jersey,New Mexico,New York,North Carolina,North Dakota,Ohio,Oklahoma,"
    "Oregon,Pennsylvania,Rhode Island,South Carolina,South Dakota,Tennessee,Texas,Utah,Vermont,Virginia,Washington,"
    "West Virginia,Wisconsin,Wyoming,Puerto Rico"
).split(","):
    _STATE_NAMES.setdefault(_name.split()[-1], []).append(tuple(_name.split()))
"""Last word -> the names that end with it."""


def _address(tokens: Sequence[Token], number: Number) -> int | None:
    """A number within a web address: "https://example.org/a?b=12", "www.example.org/b%20c"."""
    k, stop = number.first - 1, max(0, number.first - _LONGEST_ADDRESS)
    if tokens[number.first].text.startswith("10.") and number.last + 1 < len(tokens):
        slash = tokens[number.first + 1]
        if slash.text == "/" and len(tokens[number.first].text) == 7 and glued(tokens[number.first], slash):
            return _end_of_word(tokens, number.first + 1)  # a DOI, "10.1186/s12"
    if number.written or k < 0 or tokens[k].text not in "/=%&?-._#:~" or not glued(tokens[k], tokens[k + 1]):
        return None
    while k >= stop and (k + 1 == number.first or glued(tokens[k], tokens[k + 1])):
        if tokens[k].low == "www" or (tokens[k].text == tokens[k + 1].text == "/" and k and tokens[k - 1].text == ":"):
            return _end_of_word(tokens, number.last)
        k -= 1
        if k >= 0 and not glued(tokens[k], tokens[k + 1]):
            return None
    return None


_LONGEST_ADDRESS = 40


def _end_of_word(tokens: Sequence[Token], j: int) -> int:
    """Past all that is glued together from token j - 1 on."""
    while j < len(tokens) and glued(tokens[j - 1], tokens[j]):
        j += 1
    return j


_RULES = (
    _area_code,
    _phone,
    _international,
    _listed,
    _registered,
    _cited,
    _coordinate,
    _legal,
    _address,
    _postcode,
    _street,
)
