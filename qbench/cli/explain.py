"""`qbench explain`: why a document is ranked where it is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from qbench.cli.records import Format, FormatOption, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from qbench.mining.explaining import Described, ExplainedPair, PairExplanation
    from qbench.quantities.types import Condition
    from qbench.retrieval.explaining import DocumentScore, Explanation
    from qbench.retrieval.explaining_numbers import NumberedDocument, NumberExplanation
    from qbench.retrieval.explaining_scores import ComparedMention, ExplainedScore, ScoreExplanation
    from qbench.retrieval.rankers import TermScore

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def explain(
    benchmark: Annotated[Path, typer.Argument(help="A benchmark, a folder in BEIR's layout, or mined pairs.")],
    query: Annotated[
        str, typer.Argument(help="The id of one of its queries, or a query's text; of pairs the id of a description.")
    ],
    docs: Annotated[list[str] | None, typer.Argument(help="Ids of documents to explain instead of the best.")] = None,
    system: Annotated[
        str | None, typer.Option(help="A system; its last stage is explained. [default: BindBM25]")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of documents.")] = 3,
    conditions: Annotated[
        Literal["parsed", "given"] | None,
        typer.Option(help="Where a query of the benchmark has its conditions from. [default: parsed]"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder that keeps the indexes. [default: qbench-leaderboard/NAME]"),
    ] = None,
    output_format: FormatOption = "text",
) -> None:
    """Show what the score of a query's best documents is made of.

    Of Bind: its parts, and which value counts for which condition. Of DeepQuant: the weight of words and numbers, which
    operator it reads in the query, and for each of the document's numbers how its unit fits, what it believes of the
    comparison, and how relevant that makes it; the first one counts. Of all others: what each term adds, of late
    interaction each token, with the quantity whose code it has; for Q what the quantities add, and the Phi score of
    each mention; for a filter which mention satisfies the condition. Of pairs that `qbench mine-paraphrases` made: the
    words that both descriptions share, both values, and how likely these agree by chance.

    Example: qbench explain my-benchmark "laptop with a weight under 2 kg" --top 5 --system QBM25
    """
    from qbench.benchmark.disk import open_benchmark
    from qbench.cli.leaderboard import HOME
    from qbench.retrieval.explaining import explain as explained
    from qbench.retrieval.explaining_numbers import NAME, explain_numbers
    from qbench.retrieval.explaining_scores import explain_scores
    from qbench.retrieval.grammar import parse_system

    if _is_pairs(benchmark):
        _explain_pairs(benchmark, query, docs or (), top, output_format, system or conditions or output)
        return
    opened, parsed, conditions = open_benchmark(benchmark), parse_system(system or "BindBM25"), conditions or "parsed"
    where, last = output or HOME / opened.name, parsed.stages[-1]
    asked: dict[str, Any] = {"query": query, "folder": where, "top": top, "docs": docs or (), "source": conditions}
    if last.binds:
        found = explained(opened, parsed, **asked)
        print_table(lines(found), records(found), output_format)
    elif last.model.name == NAME and last.quantity is None and not parsed.rerankers:
        by_numbers = explain_numbers(opened, parsed, **asked)
        print_table(number_lines(by_numbers), number_records(by_numbers), output_format)
    else:
        scores = explain_scores(opened, parsed, **asked)
        print_table(score_lines(scores), score_records(scores), output_format)


def _is_pairs(folder: Path) -> bool:
    from qbench.mining.types import PAIRS_KIND
    from qbench.store import MANIFEST, read_manifest

    return (folder / MANIFEST).is_file() and read_manifest(folder).kind == PAIRS_KIND


def _explain_pairs(
    folder: Path, query: str, docs: Sequence[str], top: int, output_format: Format, given: object | None
) -> None:
    from qbench.errors import OptionError
    from qbench.mining.explaining import explain_pairs
    from qbench.mining.paraphrases import Pairs

    if given is not None:
        remedy = "Leave out --system, --conditions and --output"
        raise OptionError("pairs come from the descriptions alone", value=given, remedy=remedy)
    found = explain_pairs(Pairs.open(folder), query, top=top, docs=docs)
    made = ({**asdict(pair), "query": asdict(found.query)} for pair in found.pairs)
    print_table(pair_lines(found), made, output_format)


def pair_lines(found: PairExplanation) -> list[str]:
    """The explanation of mined pairs as text."""
    made = _described(found.query, "")
    for pair in found.pairs:
        made += ["", *_described(pair.found, f"{pair.rank}. {pair.label}: ")]
        made.append(f"   {_values(found.query, pair)}")
        shared = ", ".join(f"{word} (in {count:,})" for word, count in pair.shared.items())
        of_all = f"of {found.descriptions:,} descriptions"
        made.append(f"   BM25 {pair.score:.2f}; words in both: {shared or 'none'}, {of_all}")
        if pair.p_fact is not None and pair.p_paper is not None and pair.chance is not None:
            by_chance = f"rank {pair.rank}, and such values agree by chance once in {_once_in(pair.chance)}"
            made.append(f"   one fact: {pair.p_fact:.3f} ({by_chance}); by the paper {pair.p_paper:.3f}")
    return made


def _described(one: Described, before: str) -> list[str]:
    from qbench.index.show import printable

    quantity = f"{one.value:,.15g} {one.unit}".rstrip()
    line = f"{before}{printable(one.description_id)}: {printable(one.description)} = {printable(quantity)}"
    return [line, *([f"   {printable(one.sentence)}"] if one.sentence else [])]


def _values(query: Described, pair: ExplainedPair) -> str:
    one, other = (f"{each.base_value:,.15g} {each.base_unit}".rstrip() for each in (query, pair.found))
    return f"{one} and {other} agree on {pair.digits} digits" if pair.digits else f"{one} is not {other}"


def _once_in(chance: float) -> str:
    return f"{1 / chance:,.0f}" if chance > 1e-9 else "a billion or more"


def records(found: Explanation) -> list[dict[str, Any]]:
    """One record a document, with the weights of the parts, and under each condition the values that count for it."""

    def below(document: DocumentScore) -> dict[str, Any]:
        under = zip(found.conditions, document.mentions, strict=True)
        of = [{**each.to_dict(), "words": words, "mentions": list(map(asdict, own))} for (each, words), own in under]
        return {"weights": found.weights, "words": found.words, "conditions": of}

    return _ranked(found.documents, {}, "mentions", below)


def number_records(found: NumberExplanation) -> list[dict[str, Any]]:
    """One record a document, and under each number of the query those of the document."""
    from qbench.models.numbers import OPERATORS

    def by_operator(shares: Iterable[float]) -> dict[str, float]:
        return dict(zip(OPERATORS, shares, strict=True))

    def below(document: NumberedDocument) -> dict[str, Any]:
        asked = []
        for (number, shares), answers in zip(found.asked, document.answers, strict=True):
            given = [{**asdict(answer), "believed": by_operator(answer.believed)} for answer in answers]
            asked.append({**asdict(number), "operators": by_operator(shares), "answers": given})
        return {"asked": asked}

    return _ranked(found.documents, {"alpha": found.alpha}, "answers", below)


def score_records(found: ScoreExplanation) -> list[dict[str, Any]]:
    """One record a document, and under each condition the mentions in its unit."""

    def below(document: ExplainedScore) -> dict[str, Any]:
        under = zip(found.conditions, document.mentions, strict=True)
        return {"conditions": [{**each.to_dict(), "mentions": list(map(asdict, own))} for each, own in under]}

    return _ranked(found.documents, {"searched": found.searched}, "mentions", below)


def _ranked(
    documents: Iterable[Any], head: Mapping[str, Any], inner: str, below: Callable[[Any], Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """A record for each document: its rank, `head`, its fields but `inner`, and what stands below it in its place."""
    return [
        {"rank": rank, **head, **_without(asdict(document), inner), **below(document)}
        for rank, document in enumerate(documents, start=1)
    ]


def score_lines(found: ScoreExplanation) -> list[str]:
    """The explanation of a score by its terms and mentions as text."""
    from qbench.index.show import printable

    made = [f"searched: {printable(found.searched)}"]
    for rank, document in enumerate(found.documents, start=1):
        if document.score is None:
            made += ["", f"-. {printable(document.doc_id)}: left out by the filter; score {document.own:.3f}"]
        elif document.normalised is None:
            made += ["", f"{rank}. {printable(document.doc_id)}: {document.score:.3f}"]
        else:
            sums = f"{document.normalised:.3f} normalised + {document.added:.3f} quantities"
            made += ["", f"{rank}. {printable(document.doc_id)}: {document.score:.3f} = {sums}"]
        made.append(f"   {printable(document.text)}")
        terms = [f"{printable(_words(term))} {term.score:.3f}" for term in document.terms]
        made += [f"   {document.own:.3f} = {' + '.join(terms)}"] if terms else []
        for condition, mentions in zip(found.conditions, document.mentions, strict=True):
            for each in mentions or (None,):
                made.append(f"   {_verdict(condition, each)}")
    return made


def _words(term: TermScore) -> str:
    return term.asked if term.found == term.asked else f"{term.asked} ~ {term.found}"


def _verdict(condition: Condition, each: ComparedMention | None) -> str:
    """What a mention is for a condition; without one, that there is none."""
    from qbench.index.show import printable
    from qbench.quantities.mentions import asked, stated

    if each is None:
        return printable(f"no value to compare with {asked(condition)}")
    phi = "" if each.phi is None else f": Phi {each.phi:.3f}"
    verdict = "satisfies" if each.satisfies else "does not satisfy"
    return printable(f"{stated(each.mention)} {verdict} {asked(condition)}{phi}")


def _without(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {each: value for each, value in record.items() if each != name}


def number_lines(found: NumberExplanation) -> list[str]:
    """The explanation of DeepQuant as text: a table of numbers under each document."""
    from qbench.index.show import printable
    from qbench.models.numbers import OPERATORS, number_text

    made = [f"alpha: {found.alpha:.3f}"]
    for number, shares in found.asked:
        operators = "  ".join(f"{name} {share:.2f}" for name, share in zip(OPERATORS, shares, strict=True))
        made.append(f"asked: {number_text(number)}: {operators}")
    for rank, document in enumerate(found.documents, start=1):
        parts = ((1 - found.alpha, document.numbers, "numbers"), (found.alpha, document.words, "words"))
        sums = " + ".join(f"{weight:.3f} x {score:.3f} {name}" for weight, score, name in parts)
        made += ["", f"{rank}. {printable(document.doc_id)}: {document.score:.3f} = {sums}"]
        made.append(f"   {printable(document.text)}")
        for (number, _), answers in zip(found.asked, document.answers, strict=True):
            rows: list[tuple[str, ...]] = [(f"for {number_text(number)}", "unit", *OPERATORS, "relevance")]
            for answer in answers:
                figures = (answer.attention, *answer.believed, answer.relevance)
                rows.append((number_text(answer.number), *(f"{figure:.2f}" for figure in figures)))
            width = max(len(row[0]) for row in rows)
            made += [f"   {row[0]:{width}}" + "".join(f"  {cell:>5}" for cell in row[1:]) for row in rows]
    return made


def lines(found: Explanation) -> list[str]:
    """The explanation as text."""
    from qbench.index.show import printable
    from qbench.quantities.mentions import asked

    made = [f"words: {_shares(found.words)}"]
    made += [f"condition: {printable(asked(condition))}: {_shares(words)}" for condition, words in found.conditions]
    for rank, document in enumerate(found.documents, start=1):
        made += ["", *_document(rank, document, found)]
    return made


def _document(rank: int, document: DocumentScore, found: Explanation) -> list[str]:
    from qbench.index.show import printable
    from qbench.quantities.mentions import asked, stated

    sums = [f"{found.weights[part]:g} x {value:.2f} {part}" for part, value in document.parts.items()]
    made = [f"{rank}. {printable(document.doc_id)}: {document.score:.2f} = {' + '.join(sums)}"]
    made.append(f"   {printable(document.text)}")
    for (condition, _), mentions in zip(found.conditions, document.mentions, strict=True):
        for each in mentions[:3]:
            concept = " ".join((*each.mention.concept, *(f"({word})" for word in each.mention.subject)))
            verdict = "satisfies" if each.satisfies else "does not satisfy"
            about = f", of: {printable(concept)}" if concept else ""
            compared = printable(f"{stated(each.mention)} {verdict} {asked(condition)}")
            made.append(f"   {compared} ({each.value:.2f}){about}")
    return made


def _shares(words: Mapping[str, float]) -> str:
    ordered = sorted(words.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{word} {share:.2f}" for word, share in ordered) or "none"
