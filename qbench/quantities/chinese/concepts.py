"""What a number is about: the name before it in its clause, the noun after it, or what is done.

"公司净利润为3.5亿元" (净利润, of 公司), "持有66.67%股权" (股权), "回购590万股" (回购), "A和B分别为1亿元和2亿元" (A; B),
"净利润3.5亿元，同比增长25%" (净利润 both times).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from qbench.quantities.chinese.lexicon import alternatives, words
from qbench.quantities.chinese.modifiers import Modified
from qbench.quantities.chinese.notquantity import Held
from qbench.quantities.chinese.ranges import Stated
from qbench.quantities.types import Span

LONGEST = 24
"""Characters of a name; of a longer stretch the last ones that begin a word."""
SHORTEST = 2
JOINED = 6
"""Characters of a name that makes one with the verb before it."""
FARTHEST = 400
"""Characters before an amount in which its name is looked for."""
UNKNOWN = 10
"""Characters of the longest name that does not end as names of what is measured do; more are a clause."""

_BREAK = re.compile(r"[。!?！？;；,:=()\[\]【】“”\"'‘’…|\n]|、(?=[^、]*$)")
_STOP = re.compile(r"[。!?！？;；,:=()\[\]【】“”\"'‘’…|\n、\d \-]")
_LIST = re.compile(r"(?:、|和|与|及|以及|,)")
_CHAIN = re.compile(r"(?:[、,和与及或且但并~\- ]|以及|并且|人民币|约|[(][^()]{0,12}[)])*")
_COME_TO = re.compile(r"(?:[^\d,。;:、()]{0,6}(?:至|到|为|成|降|升|增)(?:了|约|近)?)")
"""Between two amounts: from the one to the other ("由3亿元增至5亿元")."""
_CLAUSE = re.compile(r"[。;,:!?()]")
_TIMES = "后前内时起止间中上下"
"""Characters that end a time or a place."""
_COMPARED = re.compile(
    r"(?:同比|环比|按年|按季|年均|(?:较|比|与)(?:上|去|前|年|期|同|首|本|20|19|最)[^,。;、]{0,10}?(?:相比)?|"
    r"相比[^,。;、]{0,8})(?:大幅度?|小幅|略|微|有所|继续|再|进一步|共|累计|合计|分别|均|各)*$"
)
"""What a movement is measured against, and how it is called large or small."""
_HAN = re.compile(r"[一-鿿A-Za-z]")
_OF = re.compile(r"^(?P<owner>.{2,16}?)的(?P<name>.{2,})$")
_PROTECTED = re.compile(r"(?:归属于|归母|扣除|占|扣非|每股|归属|应占|应归属|(?:经营|投资|筹资|融资)(?:性|活动)).*$")
"""What is one name to its end, whatever verbs are in it."""


@dataclass(frozen=True, slots=True)
class Named:
    """The name of what is measured, and of what has it.

    Attributes:
        concept, subject: spans in the text; None where nothing says it.
    """

    concept: Span | None = None
    subject: Span | None = None


NOTHING = Named()


@cache
def _state() -> re.Pattern[str]:
    return re.compile(f"(?:{alternatives(words('state'))}|[ ])+$")


@cache
def _begin() -> re.Pattern[str]:
    """Words after which a name begins, in the group "begin", and words that hold one of them and belong to a name."""
    begin = alternatives((*words("time"), *words("verb")))
    return re.compile(f"{alternatives(words('whole'))}|(?P<begin>{begin}[了过着]?)")


@cache
def _act() -> re.Pattern[str]:
    return re.compile(f"(?P<act>{alternatives(words('act'))})[了过]?$")


@cache
def _lead() -> re.Pattern[str]:
    return re.compile(f"^(?:{alternatives((*words('adverb'), *words('time')))})+")


@cache
def _owner() -> re.Pattern[str]:
    return re.compile(f"^(?P<owner>.{{0,16}}?{alternatives(words('owner'))})(?:的|之)?(?P<name>.{{2,}})$")


@cache
def _only_owner() -> re.Pattern[str]:
    return re.compile(f".{{0,12}}{alternatives(words('owner'))}")


@cache
def _any_owner() -> re.Pattern[str]:
    return re.compile(alternatives(words("owner")))


@cache
def _head() -> re.Pattern[str]:
    return re.compile(f"{alternatives(words('head'))}$")


@cache
def _noun_end() -> re.Pattern[str]:
    """Where a noun after a number ends: at a word that is none of a name."""
    stops = [word for word in words("verb") + words("adverb") + words("time") if len(word) > 1]
    return re.compile("|".join((alternatives(tuple(stops)), "[的了在是为以将已由被并后和与及或等从到至时中上下也]")))


def concepts(text: str, said: Sequence[Stated], read: Sequence[Modified], skipped: Sequence[Held]) -> list[Named]:
    """What each amount of a text is about, in order."""
    found: list[Named] = []
    floors = [0, *accumulate((other.last for other in read), max)]
    for at, (stated, modified, floor) in enumerate(zip(said, read, floors, strict=False)):
        if at and _goes_on(text, said[at - 1], stated, read[at - 1].last, modified):
            found.append(found[-1])
            continue
        named = _before(text, floor, modified.first, skipped)
        if named.concept is None or not _head().search(text[slice(*named.concept)]):
            after = _after(text, stated, modified, read[at + 1].first if at + 1 < len(read) else len(text))
            named = named if after is None else Named(after, named.subject or _owned(text, named.concept))
        if named.concept is None and (modified.change or stated.unit.family.startswith("ratio")):
            named = next((other for other in reversed(found) if other.concept is not None), named)
        found.append(named)
    return _dealt(text, said, read, found)


def _before(text: str, floor: int, end: int, skipped: Sequence[Held]) -> Named:
    """The name before an amount, in its clause."""
    floor = start = max(floor, end - FARTHEST)
    for match in _BREAK.finditer(text, floor, end):
        start = match.end()
    colon = text[start - 1 : start] == ":" and not text[start:end].strip()
    if colon:  # "净利润:3亿元"
        end, start = start - 1, max([floor, *(match.end() for match in _BREAK.finditer(text, floor, start - 1))])
    end = _stripped(text, start, end)
    if compared := _COMPARED.search(text[start:end]):
        end = _stripped(text, start, start + compared.start())
    for stretch in skipped:
        if start < stretch.end <= end:
            start = stretch.end
    return _name(text, start, end)


def _stripped(text: str, start: int, end: int) -> int:
    """Where a stretch ends without the words that state."""
    match = _state().search(text[start:end])
    if match is None:
        return end
    whole = text[start:end]
    # 目的 and 价格 end with characters that state.
    cut = match.start()
    head = _head().search(whole[: cut + 1])
    if head and head.start() < cut:
        cut += 1  # 费用 ends with a word that states
    return start + cut if _HAN.search(whole[:cut]) or not whole[:cut] else end


def _name(text: str, start: int, end: int) -> Named:
    whole = text[start:end]
    if kept := _PROTECTED.search(whole):
        begun = start + kept.start()
        owner = _HAN.search(whole[: kept.start()])
        subject = _subject(text, start, begun) if owner else None
        return Named(_sized(text, begun, end), subject)
    act = _act().search(whole)
    first = start
    for match in _begin().finditer(whole):
        rest = whole[match.end() :]
        # 回购数量 and 管理费用 are one name; 回购公司股份 is a verb with its object.
        named = len(rest) <= JOINED and _head().search(rest) and not _any_owner().search(rest)
        if not match["begin"] or len(rest) < SHORTEST or (named and match[0] in words("act") + words("attribute")):
            continue
        first = start + match.end()
    name = text[first:end]
    if lead := _lead().match(name):
        first += lead.end()
    if text[first:end].startswith("的"):
        first += 1
    span = _sized(text, first, end)
    if act and (
        span is None
        or act.start() + start <= span[0]
        or text[span[0] : span[1]] == act["act"]
        or not _head().search(text[span[0] : span[1]])
    ):
        return Named((start + act.start(), start + act.end("act")), _subject(text, start, start + act.start()))
    if span is None:
        return NOTHING
    if _only_owner().fullmatch(text, *span):
        return Named(None, span)
    if owned := _owner().match(text[span[0] : span[1]]) or _OF.match(text[span[0] : span[1]]):
        if _HAN.search(owned["name"]):
            of = (span[0] + owned.start("owner"), span[0] + owned.end("owner"))
            return Named((span[0] + owned.start("name"), span[1]), of)
    return Named(span, None)


def _sized(text: str, start: int, end: int) -> Span | None:
    """A span without white space and marks around it, no longer than a name is; None if nothing remains."""
    while start < end and not _HAN.match(text[start]) and not text[start].isdigit():
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in "-~/、"):
        end -= 1
    if end - start > LONGEST:
        at = text.rfind("的", end - LONGEST, end - SHORTEST)
        start = at + 1 if at >= 0 else end - LONGEST
    name = text[start:end]
    if not _head().search(name) and (end - start > UNKNOWN or name[-1:] in _TIMES):
        return None
    return (start, end) if end - start >= SHORTEST and _HAN.search(name) else None


def _subject(text: str, start: int, end: int) -> Span | None:
    """The owner named in a stretch: what stands before adverbs and verbs."""
    match = re.match(r"[^\d]{2,16}?" + alternatives(words("owner")), text[start:end])
    return (start, start + match.end()) if match else None


def _owned(text: str, span: Span | None) -> Span | None:
    """A name as the owner of what follows its number, unless it is something that is done."""
    return None if span is None or text[slice(*span)] in words("act") else span


def _after(text: str, stated: Stated, modified: Modified, limit: int) -> Span | None:
    """The noun right after an amount: 66.67%股权, 5亿元的贷款."""
    start = modified.last + 1 if text[modified.last : modified.last + 1] == "的" else modified.last
    stop = _STOP.search(text, start, limit)
    end = min(stop.start() if stop else limit, start + 12)
    ending = _noun_end().search(text[start:end])
    end = start + ending.start() if ending else end
    name = text[start:end]
    return (start, end) if SHORTEST <= len(name) <= 12 and _head().search(name) else None


def _goes_on(text: str, last: Stated, stated: Stated, start: int, modified: Modified) -> bool:
    """Whether an amount right after another is of the same: an enumeration, a second bound, a later value."""
    if last.unit.base_unit.partition(" per ")[0] != stated.unit.base_unit.partition(" per ")[0]:
        return False
    return bool(_CHAIN.fullmatch(text, start, modified.first) or _COME_TO.fullmatch(text, start, modified.first))


def _dealt(text: str, said: Sequence[Stated], read: Sequence[Modified], found: list[Named]) -> list[Named]:
    """Names that 分别 deals out to the amounts after it, one each."""
    dealt = list(found)
    for at, modified in enumerate(read):
        lead = text[max(0, modified.first - 16) : modified.first]
        if "分别" not in lead:
            continue
        last = at
        while last + 1 < len(read) and _CHAIN.fullmatch(text, read[last].last, read[last + 1].first):
            last += 1
        place = text.rfind("分别", 0, modified.first)
        start = max(0, place - FARTHEST)
        start = max((match.end() for match in _CLAUSE.finditer(text, start, place)), default=start)
        pieces = _pieces(text, start, place)
        if last > at and len(pieces) == last - at + 1:
            dealt[at : last + 1] = [_name(text, *piece) for piece in pieces]
    return dealt


def _pieces(text: str, start: int, end: int) -> list[Span]:
    pieces, first = [], start
    for match in _LIST.finditer(text, start, end):
        pieces.append((first, match.start()))
        first = match.end()
    return [*pieces, (first, end)]
