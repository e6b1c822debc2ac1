"""What verbs and nouns make a limit of: "caps withdrawals at 500 euros"; and what stands "under" and is no less."""

from __future__ import annotations

from collections.abc import Sequence

from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.comparator_phrases import DEGREES
from qbench.quantities.english.lexicon import FUNCTION_WORDS, VERBS
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.tokens import Token


def is_capped(tokens: Sequence[Token], amount: Amount, parse: Parse | None) -> bool:
    """Whether an amount is what something is capped at: "caps withdrawals at 500 euros", "a cap on fees at $5"."""
    k = amount.first - 1
    if k < 2 or tokens[k].low != "at" or amount.unit.family in ("date", "age"):
        return False
    for j in range(k - 1, max(0, k - _CAPPED) - 1, -1):
        word, tag = tokens[j].low, "" if parse is None else parse.tags[j]
        if word in _CAPPING:
            noun = word in ("cap", "caps") and (tokens[j + 1].low == "on" or (j + 1 == k and _is_limit(tokens, j)))
            verb = tag.startswith("VB") or word == "capping" or (j + 1 < k and _leads_object(tokens, j))
            return noun or (verb and not _is_ended(tokens, j + 1, k))
        if tokens[j].kind != "word" or word in VERBS or (tag.startswith("VB") and not tag.endswith("G")):
            return False
    return False


def _is_limit(tokens: Sequence[Token], k: int) -> bool:
    """Whether the noun "cap" at token `k` is a limit: "set a cap at 12 %", "a price cap at $60", not "sells caps"."""
    return k > 0 and (tokens[k - 1].low in _LIMITED or (tokens[k].low == "cap" and tokens[k - 1].low in ("a", "the")))


_LIMITED = frozenset(
    "price prices spending salary wage pay fee fees rate rates interest tax debt deficit borrowing budget emissions "
    "carbon rent membership enrolment enrollment deposit withdrawal loan lending hard soft strict annual monthly "
    "lifetime overall total".split()
)
"""What a "cap" behind it is a limit of."""


def _is_ended(tokens: Sequence[Token], first: int, at: int) -> bool:
    """Whether what is capped is ended or topped, and not limited: "capped his career at 35", "snow capped peaks"."""
    end = next((k for k in range(first, at) if tokens[k].low in ("per", "a") and k > first), at)
    if any(t.low in ("with", "by") for t in tokens[first:at]):
        return not any(t.low in _RULES for t in tokens[first:at])  # "capped the night with a win at 8"
    if end == first or tokens[end - 1].low not in _ENDINGS:
        return False
    return tokens[end - 1].low in _TOPS or not any(t.low in _ALL_OF_THEM for t in tokens[first:end])


_RULES = frozenset("law laws rule rules decree statute act ordinance bill".split())
_ALL_OF_THEM = frozenset("the each every".split())
"""Words before what is limited as such, and not ended once: "caps the week at 48 hours", "capped a rally"."""


def _leads_object(tokens: Sequence[Token], k: int) -> bool:
    """Whether a form of "cap" that the parser takes for a noun is a verb: "the bank caps the fee", "it caps fees"."""
    return tokens[k + 1].low in _OPENS_OBJECT or (k > 0 and tokens[k - 1].low in _SUBJECTS)


_OPENS_OBJECT = frozenset("the a an its their this these each every annual monthly daily".split())
_SUBJECTS = frozenset("it he she they we which that to will would may can must should could".split())
_CAPPING = frozenset("cap caps capped capping".split())
_CAPPED = 7
"""Words between "caps" and "at" at most."""
_TOPS = frozenset("mountain mountains peak peaks hill hills summit summits".split())
_ENDINGS = _TOPS | frozenset(
    "career season year day night week win victory rally rout comeback scoring game match".split()
)
"""What is capped by its end or its top and not by a limit."""


def stands_under(tokens: Sequence[Token], amount: Amount, first: int) -> bool:
    """Whether the "under" at token `first` says where something stands: "under one clause", "under two presidents"."""
    if amount.last < len(tokens) and tokens[amount.last].low in SECTIONS:
        return True
    if amount.number.value > FEW_SECTIONS or amount.unit.name.rpartition(" ")[2] not in SECTIONS:
        return False
    lead = tokens[first - 1].low if first else ""
    if lead in DEGREES or [t.low for t in tokens[max(0, first - 2) : first]] in _THERE:
        return False  # "well under 10 licences"
    told = amount.last < len(tokens) and tokens[amount.last].low in VERBS  # "staff hired under two contracts were"
    paid = lead == "for" and first > 1 and tokens[first - 2].low in _PAID  # "benefits paid for under two policies"
    if lead in _COUNTING:
        return told or paid  # not "hired under ten coaches"
    if (
        lead in ("sold", "sells", "sell")
        and not told
        and not any(t.low in _BEING for t in tokens[max(0, first - 3) : first])
    ):
        return False
    return bool(lead) or not _is_subject(tokens, amount)


def is_agreed(tokens: Sequence[Token], amount: Amount, end: int) -> bool:
    """Whether a phrase stands before what the amount only describes: "under a five-year contract"."""
    if not any(t.low in ("a", "an") for t in tokens[end : amount.first]) or amount.last >= len(tokens):
        return False
    if end > 1 and tokens[end - 2].low in ("in", "for"):
        return False  # "done in under a 10-minute window"
    k = amount.last + (tokens[amount.last].text == "-")
    noun = tokens[k] if k < len(tokens) else None
    if noun is None or noun.kind != "word" or noun.low in FUNCTION_WORDS | VERBS or noun.low in MARKS:
        return False
    return amount.unit.family in ("time", "currency") and noun.low not in DURATION_LEADS


def _is_subject(tokens: Sequence[Token], amount: Amount) -> bool:
    """Whether an amount that opens the text is the subject: "Under 5 acts of violence were recorded"."""
    k = amount.last
    while k + 1 < len(tokens) and (tokens[k].low == "of" or tokens[k - 1].low == "of"):
        k += 1
    return k < len(tokens) and (tokens[k].low in _BEING or tokens[k].low in ("have", "had"))


MARKS = frozenset(
    "mark threshold level barrier limit line ceiling minimum maximum cap cutoff required recommended permitted "
    "allowed needed target".split()
)
"""What follows a number with "the" that is bounded all the same: "around the 30-minute mark"."""
DURATION_LEADS = frozenset(
    "for in of after takes took take taken taking lasting lasted lasts lived spent spend spending spans spanning "
    "spanned with from to is was are were be been has have had at by than and or just well slightly only now "
    "since already them it age aged older runtime duration length time period delay wait tenure".split()
)
"""Words before "over 10 years" after which it is more than 10 years, and not the time in which something happens."""
_PAID = frozenset("paid provided accounted called planned applied".split())
_BEING = frozenset("is are was were be been being".split())
_THERE = [["there", be] for be in ("are", "were", "is", "was", "be")]
_COUNTING = frozenset(
    "offer offers offered offering hire hires hired hiring have has had having include includes included including "
    "employ employs employed keep keeps kept buy buys bought own owns owned use uses for of only with".split()
)
"""Words behind which "under" counts what follows."""
SECTIONS = frozenset(
    "category categories heading headings section sections title titles name names agreement agreements "
    "contract contracts program programs programme programmes brand brands label labels rule rules theme "
    "themes manager managers coach coaches government governments president presidents clause clauses policy "
    "policies plan plans law laws treaty treaties scheme schemes statute statutes provision provisions "
    "paragraph paragraphs scenario scenarios regime regimes licence licences license licenses arrangement "
    "arrangements directive directives roof roofs umbrella flag flags banner banners cycle cycles facility facilities "
    "act acts king kings queen queens boss bosses pseudonym pseudonyms count counts blanket blankets".split()
)
"""What something stands "under" without being less than it."""
FEW_SECTIONS = 10
"""How many of them something may stand under."""
