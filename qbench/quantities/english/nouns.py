"""Counted nouns: what a number without a unit counts ("1,200 employees", "four FA Cup finals", "one solution").

With a parse, the unit is the noun phrase after the number, adjectives included ("other employee"), since that is what
is counted; it compares with other phrases of the same head noun (`Units.get`). Without one, a plural noun by its form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.composites import PROPORTION
from qbench.quantities.english.compounds import UnitMatch
from qbench.quantities.english.dates import is_earlier
from qbench.quantities.english.elided import SUMS
from qbench.quantities.english.inflection import singular
from qbench.quantities.english.lexicon import FUNCTION_WORDS, MONTHS, VERBS
from qbench.quantities.english.numbers import Number
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.ratios import RATIO
from qbench.quantities.english.stand_ins import may_be_counted
from qbench.quantities.english.tokens import HYPHENS, Token, glued, past_brackets, words_of
from qbench.quantities.english.unit_forms import UnitReader
from qbench.quantities.english.word_nouns import noun_by_words
from qbench.quantities.english.written import NIL, is_part
from qbench.quantities.units import Unit, Units, fold

ADJECTIVES = frozenset({"JJ", "JJR", "JJS", "AFX"})
PARTICIPLES = frozenset({"VBN", "VBG"})
MODIFIERS = ADJECTIVES | PARTICIPLES
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
DETERMINERS = frozenset({"DT", "PRP$", "PDT", "POS", "WP$"})
LONGEST = 8
"""Tokens of a counted noun phrase at most."""
VAGUE = frozenset(
    "more less few fewer many much several further additional extra last next such own same total".split()
)
"""Adjectives that say nothing of what is counted: "20 more employees" are employees."""
LINKS = frozenset("to and or nor for by in of on at per with from as than the a an".split())
"""Words that are never the noun, whatever tag they get: the "to" of "0-to-60-mph"."""
MORE_OR_LESS = frozenset("more less fewer so".split())
"""What stands after "or" between a number and its noun: "two or more lesions", "a dozen or so boats"."""
NOT_COUNTED = frozenset(
    "today yesterday tomorrow tonight cash stock vs noon midnight ad bc gmt edt est pdt pst utc".split()
)

FURTHEST = 12
"""Tokens from a number to the noun that a parse hangs it on, at most."""
_VERBS = frozenset({"VB", "VBD", "VBP", "VBZ", "MD", "TO"})
_ENDS_PHRASE = frozenset("with in on at by from for to or per as than".split())
_PLAIN = MODIFIERS | NOUNS | {"CC"}


def count_nouns(
    tokens: Sequence[Token], text: str, amounts: Sequence[Amount], forms: UnitReader, parse: Parse | None
) -> list[Amount]:
    """The amounts, bare ones with the noun that they count; without those that count nothing ("one of them")."""
    counted, units = [], forms.units
    for position, amount in enumerate(amounts):
        if amount.how[-1:] == (PROPORTION,):
            counted.append(amount)
            continue
        if (amount.bare and amount.number.rule not in (RATIO, NIL)) or (amount.year and may_be_counted(tokens, amount)):
            size = _size_between(tokens, amounts, position)
            following = position + 1 + (size is not None)
            limit = amounts[following].first if following < len(amounts) else len(tokens)
            counting = amount if size is None else replace(amount, last=size.last)
            noun = None if parse is None else _by_tags(tokens, counting, limit, units, parse)
            if noun is None and (parse is None or amount.year):
                # a parser may take the noun after a year for a verb
                after = _past_comparator(tokens, amount.last, len(tokens))
                noun = noun_by_words(tokens, amount.number, after, units)
            if noun is not None:
                # "three thousand tests per day"
                unit, last, span = forms.compound(tokens, text, *noun)
                if size is not None or past_brackets(tokens, amount.last) is not None or _is_of(tokens, amount):
                    last = amount.last  # "12 (27 %) patients", "300 of its welders"
                amount = replace(amount, unit=unit, last=last, unit_span=span, how=(*amount.how, "noun unit"))
                if amount.number.rule == "indefinite plural" and amount.number.last - amount.number.first == 1:
                    continue  # "thousands of people": no number is said
            elif amount.bare and _says_nothing(tokens, amount) and not _linked(tokens, amounts, position):
                continue
        if counted and counted[-1].bare and _is_of_all(tokens, counted[-1], amount):
            counted[-1] = replace(counted[-1], unit=amount.unit, how=(*counted[-1].how, "noun unit"))
        counted.append(amount)
    return counted


def _is_of_all(tokens: Sequence[Token], part: Amount, every: Amount) -> bool:
    """Whether a bare number is so many of all that the next one counts: "41 of the 60 members"."""
    joined = _is_of(tokens, part) and every.first == part.last + 2
    return joined and every.unit.family == "count" and part.low <= every.high


def _size_between(tokens: Sequence[Token], amounts: Sequence[Amount], position: int) -> Amount | None:
    """The amount right behind another that only says how large what that counts is: "four 90-minute lectures"."""
    if position + 1 >= len(amounts) or amounts[position + 1].first != amounts[position].last:
        return None
    size, k = amounts[position + 1], amounts[position + 1].number.last
    joined = k + 1 < len(tokens) and tokens[k].text in HYPHENS and size.unit.family != "date"
    if joined and size.bare:
        return replace(size, last=k + 2) if tokens[k + 1].kind == "word" else None  # "3 12-page reports"
    many = size.last < len(tokens) and tokens[size.last].low.endswith("s")
    priced = many and size.unit.family == "currency" and size.first < size.number.first  # "two $20 bills"
    priced = priced or (many and amounts[position].number.written and _is_size(size))
    return size if joined or priced else None


def _is_size(size: Amount) -> bool:
    """Whether an amount is a size as products have them: "four 18 V batteries"."""
    return not size.bare and not size.is_range and size.unit.family not in _NO_SIZES


_NO_SIZES = frozenset(("", "count", "time", "age", "date", "ratio"))


def _says_nothing(tokens: Sequence[Token], amount: Amount) -> bool:
    """A "one" or "half" that counts nothing; "minus one" is a number."""
    number = amount.number
    single = number.last - number.first == 1 and tokens[number.first].low == "half"
    if single and is_part(tokens, number.first):
        return False
    if not single and _is_bounded(tokens, number):
        return False  # "at least one prior therapy", "more than one", "one or more"
    return number.written and amount.low >= 0 and (number.value == 1 or single)


def _is_bounded(tokens: Sequence[Token], number: Number) -> bool:
    before = [t.low for t in tokens[max(0, number.first - 2) : number.first]]
    if before in (["at", "least"], ["at", "most"]) or before[-1:] == ["than"]:
        return True
    after = [t.low for t in tokens[number.last : number.last + 2]]
    return len(after) == 2 and after[0] == "or" and after[1] in ("more", "fewer")


def _linked(tokens: Sequence[Token], amounts: Sequence[Amount], position: int) -> bool:
    """Whether an amount belongs to the one that follows: "one to two years", "between one and two", "one or two"."""
    first, last = amounts[position].first, amounts[position].last
    if position + 1 == len(amounts) or amounts[position + 1].first - last > 3:
        return False
    between = "".join(t.low for t in tokens[last : amounts[position + 1].first])
    if between in (",", "and") and _opens_times(tokens, amounts, position):
        return True
    return between in ("to", "or", "-to-") or (between == "and" and first > 0 and tokens[first - 1].low == "between")


def _opens_times(tokens: Sequence[Token], amounts: Sequence[Amount], position: int) -> bool:
    """Whether "one" begins a list of times that share a unit: "after one, three and six months"."""
    for k in range(position + 1, min(len(amounts), position + _MOST_TIMES)):
        a, b = amounts[k - 1], amounts[k]
        between = "".join(t.low for t in tokens[a.last : b.first])
        if between not in (",", "and", ",and", "or", ",or") or b.low <= a.low or b.is_range:
            return False
        if not b.bare:
            return b.unit.family == "time"
    return False


_MOST_TIMES = 6


def _by_tags(tokens: Sequence[Token], amount: Amount, limit: int, units: Units, parse: Parse) -> UnitMatch | None:
    """The noun phrase after the number, or after "of" ("one of the best screens", "thousands of tests")."""
    j = _past_comparator(tokens, amount.last, limit)
    if (behind := past_brackets(tokens, j)) is not None:
        return _phrase(tokens, amount, behind, len(tokens), units, parse, many=False)
    if j < limit and tokens[j].text in HYPHENS and glued(tokens[j - 1], tokens[j]):
        j += 1
        if j + 1 < limit and parse.tags[j] in ("NN", "NNS") and not glued(tokens[j], tokens[j + 1]):
            limit = j + 1  # "a 12-man jury": men are counted, and the jury has them
    elif _describes_one(tokens, amount, j, limit, parse):
        limit = j + 1
    elif j < limit and glued(tokens[j - 1], tokens[j]):
        return None
    of = j < limit and tokens[j].low == "of"
    if of:
        if not (amount.is_range or _partitive(amount.number) or _is_of(tokens, amount)):
            return None
        j += 1
        while j < limit and (parse.tags[j] in DETERMINERS or tokens[j].low == "all"):
            j += 1
        j = _past_owner(tokens, j, limit) if _is_of(tokens, amount) else j
    if not of and _suspended(tokens, j + 1, limit):
        j = _past_suspended(tokens, j + 3, limit)
    found = _phrase(tokens, amount, j, limit, units, parse, many=of)
    head = None if of else _modified(tokens, amount, j, limit, parse)
    if head is None or (found is not None and found[1] == head + 1):
        return found
    return _noun_phrase(tokens, j, head, units, parse)


def _describes_one(tokens: Sequence[Token], amount: Amount, j: int, limit: int, parse: Parse) -> bool:
    """Whether a number and the noun at token j say what one thing is like: "a 3 bedroom flat", "a big 40 room inn"."""
    before = [token.low for token in tokens[max(0, amount.first - 2) : amount.first]]
    one = before[-1:] in (["a"], ["an"]) or (before[:1] in (["a"], ["an"]) and parse.tags[amount.first - 1] == "JJ")
    if not one or amount.low <= 1 or not amount.low.is_integer() or amount.number.scaled or j + 1 >= limit:
        return False
    last = j
    while last + 1 < limit and parse.tags[last + 1] == "NN" and not glued(tokens[last], tokens[last + 1]):
        last += 1
    plural = last + 1 < limit and parse.tags[last + 1] in ("NNS", "NNPS")
    return parse.tags[j] == "NN" and last > j and not plural and tokens[j].text.islower()


def _suspended(tokens: Sequence[Token], k: int, limit: int) -> bool:
    """Whether a hyphen at token k stands for a word said later: "60 age- and sex-matched controls"."""
    hyphen = k + 1 < limit and tokens[k].text in HYPHENS and glued(tokens[k - 1], tokens[k])
    return hyphen and tokens[k + 1].low in ("and", "or")


def _past_suspended(tokens: Sequence[Token], j: int, limit: int) -> int:
    """Past the second compound of "HIV- and HCV-infected patients": the noun is of both."""
    k = j
    while k + 2 < limit and tokens[k + 1].text in HYPHENS and glued(tokens[k], tokens[k + 1]):
        k += 2
    noun = k + 1 < limit and tokens[k + 1].kind == "word" and tokens[k + 1].low not in FUNCTION_WORDS | VERBS
    return k + 1 if k > j and noun else k


def _modified(tokens: Sequence[Token], amount: Amount, j: int, limit: int, parse: Parse) -> int | None:
    """The plural noun further on that the parse hangs the number on: "two operating and reportable segments"."""
    heads = [parse.heads[k] for k in range(amount.number.first, amount.number.last) if parse.relations[k] == "nummod"]
    head = max(heads, default=-1)
    if amount.number.value < 1 or not j <= head < min(limit, j + FURTHEST) or parse.tags[head] not in ("NNS", "NNPS"):
        return None
    if any(
        tokens[k].kind == "mark" and not (_joint(tokens, k, limit) or _listed(parse, tokens, k, j))
        for k in range(j, head)
    ):
        return None
    if any(parse.tags[k] in _VERBS or tokens[k].low in _ENDS_PHRASE for k in range(j, head)):
        return None
    return head if _counted(tokens, amount, head, parse, many=False) else None


def _listed(parse: Parse, tokens: Sequence[Token], k: int, first: int) -> bool:
    """Whether token k is a comma between adjectives: "20 healthy, male subjects"."""
    return tokens[k].text == "," and k > first and {parse.tags[k - 1], parse.tags[k + 1]} <= MODIFIERS | {"NN"}


def _noun_phrase(tokens: Sequence[Token], j: int, head: int, units: Units, parse: Parse) -> UnitMatch:
    """The unit of the words from token j to the noun; the noun alone where other things stand between them."""
    first = j
    while first < head and (tokens[first].low in VAGUE or parse.tags[first] in PARTICIPLES | {"RB", "CC"}):
        first += 1
    plain = all(
        parse.tags[k] in _PLAIN if tokens[k].kind == "word" else _joint(tokens, k, head) for k in range(first, head)
    )
    first = first if plain and head - first < LONGEST else head
    return _unit(tokens, first, head, units, of=False), head + 1, (tokens[first].start, tokens[head].end)


def _past_comparator(tokens: Sequence[Token], j: int, limit: int) -> int:
    """The token after what bounds a number from behind: "500+ users", "500-plus users", "two or more lesions"."""
    if j >= limit:
        return j
    near = glued(tokens[j - 1], tokens[j])
    if near and tokens[j].text == "+":
        return j + 1
    if near and tokens[j].text in HYPHENS and j + 1 < limit and tokens[j + 1].low == "plus":
        return j + 2
    if not near and tokens[j].low == "plus":
        return j + 1
    return j + 2 if tokens[j].low == "or" and j + 1 < limit and tokens[j + 1].low in MORE_OR_LESS else j


def _partitive(number: Number) -> bool:
    """Whether "of" after the number may lead to what it counts: a small whole number in words, "two of the ships"."""
    return number.written and number.value.is_integer() and number.value <= 100


def _is_of(tokens: Sequence[Token], amount: Amount) -> bool:
    """Whether "of" after a number in figures leads to what it counts: "2.5 mln of its shares", "41 of the members"."""
    after = [token.low for token in tokens[amount.last : amount.last + 2]]
    whole = amount.low.is_integer() and amount.low > 1 and not amount.number.written
    return whole and len(after) > 1 and after[0] == "of" and after[1] in _OWNED


_OWNED = frozenset("the its their our these those his her my your".split())


def _past_owner(tokens: Sequence[Token], j: int, limit: int) -> int:
    """Past the "company's" at token j: "300 of the company's welders"."""
    for k in range(j, min(limit, j + _WORDS_OF_OWNER)):
        if tokens[k].text in ("'s", "’s", "'", "’") or tokens[k].text.endswith(("'s", "’s", "s'", "s’")):
            return k + 1
        if tokens[k].kind != "word":
            break
    return j


_WORDS_OF_OWNER = 4


def _phrase(
    tokens: Sequence[Token], amount: Amount, j: int, limit: int, units: Units, parse: Parse, *, many: bool
) -> UnitMatch | None:
    first, k, head = j, j, -1
    while k < min(limit, j + LONGEST):
        token, tag = tokens[k], parse.tags[k]
        if token.text in MONTHS or (token.kind != "word" and not _joint(tokens, k, limit)):
            break
        if token.low in LINKS and not _names_class(tokens, k):
            if not (token.low == "and" and k > first and _pair(parse, k, limit)):
                break
        elif (tag in NOUNS and token.kind == "word") or _names_class(tokens, k):
            if head >= 0 and _new_phrase(parse, head, k):
                break
            head = k
        elif head == k - 2 and tokens[k - 1].text in HYPHENS and tag in MODIFIERS:
            head = -1  # "20 oil-producing countries"
        elif token.kind == "word" and (head >= 0 or tag not in MODIFIERS):
            break  # "one point last year"
        k += 1
    if (
        head < 0
        or _says_when(tokens, head)
        or _is_sum(tokens, amount, head)
        or not _counted(tokens, amount, head, parse, many=many)
    ):
        return None
    while first < head and (
        tokens[first].low in VAGUE or parse.tags[first] in PARTICIPLES or tokens[first].kind != "word"
    ):
        first += 1
    return _unit(tokens, first, head, units, of=many), head + 1, (tokens[first].start, tokens[head].end)


def _says_when(tokens: Sequence[Token], head: int) -> bool:
    """Whether a noun only says when: "829,000 harvested last year"."""
    return tokens[head].low in _WHENS and tokens[head - 1].low in ("last", "this", "next", "that", "same", "prior")


def _is_sum(tokens: Sequence[Token], amount: Amount, head: int) -> bool:
    """Whether a noun says what millions of money are, which it does not count: "a 7.3 mln charge"."""
    return amount.number.scaled and amount.low >= _MILLION and tokens[head].low in SUMS


_MILLION = 1e6
_WHENS = frozenset("year month week quarter season summer winter spring autumn".split())


def _names_class(tokens: Sequence[Token], k: int) -> bool:
    """Whether token k is the letter of "Class A shares"."""
    return len(tokens[k].text) == 1 and tokens[k].text.isupper() and tokens[k - 1].low in ("class", "series", "type")


def _joint(tokens: Sequence[Token], k: int, limit: int) -> bool:
    """A hyphen or the like inside a compound: "wind-powered"."""
    return (
        tokens[k].text in "-&/"
        and k + 1 < limit
        and glued(tokens[k - 1], tokens[k])
        and glued(tokens[k], tokens[k + 1])
    )


def _new_phrase(parse: Parse, head: int, k: int) -> bool:
    """Whether noun k starts another phrase than that of the noun before: "19 cents Monday", "two points Friday"."""
    return parse.tags[head] in ("NNS", "NNPS") and parse.heads[head] != k and parse.heads[k] != head


def _pair(parse: Parse, k: int, limit: int) -> bool:
    """ "Kia and Hyundai vehicles", "digital and physical sales": two of a kind, and a plural noun after them."""
    if k + 2 >= limit or parse.tags[k + 2] not in ("NNS", "NNPS"):
        return False
    left, right = parse.tags[k - 1], parse.tags[k + 1]
    return left == right and (left in ADJECTIVES or left == "NNP")


def _counted(tokens: Sequence[Token], amount: Amount, head: int, parse: Parse, *, many: bool) -> bool:
    """Whether the noun is what the number counts: a plural, a singular after "one", or the noun that it modifies."""
    tag, word = parse.tags[head], tokens[head].low
    if word in NOT_COUNTED or len(word) < 2 or _is_when(tokens, amount, head) or _is_heading(tokens, amount, head):
        return False
    if tag in ("NNS", "NNPS") or word in ("people", "staff", "personnel") or _are_initials(tokens[head]):
        return True
    if many:
        return tag == "NN" and amount.number.value < 1
    if amount.number.value == 1:
        return tag == "NN"
    modifies = any(
        amount.first < parse.heads[k] <= head and parse.relations[k] in ("nummod", "compound")
        for k in range(amount.number.first, amount.number.last)
    )
    if amount.number.scaled and tokens[head].text.istitle():
        return False  # "revs 19.5 mln Year shr 2": a heading
    return tag == "NN" and modifies and amount.number.value.is_integer() and not amount.year


def _is_when(tokens: Sequence[Token], amount: Amount, head: int) -> bool:
    """Whether the noun only says when: "157,000 week ago", "40 a share versus nine last year"."""
    if head + 1 < len(tokens) and (tokens[head + 1].low == "ago" or is_earlier(tokens, amount.number, head + 1)):
        return True
    first = amount.number.last
    return head == first + 1 and tokens[first].low in ("last", "this", "next") and tokens[head].low in _PERIODS


_PERIODS = frozenset("year month week quarter season summer winter spring autumn fall decade".split())


def _is_heading(tokens: Sequence[Token], amount: Amount, head: int) -> bool:
    """Whether the noun heads the next column of figures: "Net 5,452,000 Sales 155.7 mln NOTE: ..."."""
    first = tokens[amount.number.last].text
    if amount.number.written or head + 1 >= len(tokens):
        return False
    if first[:1].isupper() and tokens[head + 1].kind == "number":
        return True  # "2.1 mln Avg shrs 11,871,751"
    if first in _COLUMNS and (tokens[head].text[:1].isupper() or head > amount.number.last):
        return True
    if not tokens[head].text[:1].isupper():
        return False
    return head == amount.number.last and tokens[head + 1].text in ":-"


_COLUMNS = frozenset(
    "Year Yr Oper Avg Net Shr Rev Revs Sales Qtr Qtly Div Tax Pretax Profit Turnover Operating Extraordinary Outside "
    "Current Prior First Second Third Fourth Note NOTE".split()
)
"""Words at which the next item of a company's figures begins."""


def _unit(tokens: Sequence[Token], first: int, head: int, units: Units, *, of: bool) -> Unit:
    first += first < head and tokens[first].low == "odd"  # "30-odd boats"
    words = " ".join(words_of(tokens, [k for k in range(first, head + 1) if tokens[k].low != "and"]))
    # "thousands of dollars"; a single word right after the number was looked up before, and is no unit there.
    unit = units.named(fold(words)) if of or first < head else None
    if unit is None and first < head:
        unit = units.named(fold(tokens[head].low))  # "517 rushing yards", but not "12 steel bars"
        unit = unit if unit is not None and unit.family in ("time", "length") else None
    if unit is None and first == head:
        return plural_noun(tokens, head, units)
    if unit is None and _are_initials(tokens[head]):
        unit = units.get(words[:-1])
    return unit if unit is not None else units.get(singular(words))


def plural_noun(tokens: Sequence[Token], head: int, units: Units) -> Unit:
    """The counted noun of a plural: "boats" are counted in boats, "RSUs" in RSUs."""
    return units.get(_one_of(tokens[head]))


def _are_initials(token: Token) -> bool:
    """Whether a token is a plural of initials: "RSUs", "RSU's"."""
    return len(token.text) > 2 and token.text[-1] == "s" and token.text[:-1].isupper()


def _one_of(token: Token) -> str:
    """The singular of a noun, lower-case; of initials without the s of their plural."""
    text = token.text
    if _are_initials(token):
        return text[:-1].rstrip("'’").lower()
    return singular(text.lower().removesuffix("'s").removesuffix("’s"))
