"""quantulum3 as an extractor: its numbers and units, our comparators and concepts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qbench.extras import needed
from qbench.quantities.english.amounts import Amount
from qbench.quantities.english.numbers import Number, significant_digits
from qbench.quantities.english.p_values import P_VALUE, p_value_name
from qbench.quantities.english.parse import Parse
from qbench.quantities.english.rules import RulesExtractor, TokenizedText
from qbench.quantities.english.tokens import Token, tokenize
from qbench.quantities.languages import NO_PARSER

if TYPE_CHECKING:
    from qbench.quantities.units import Unit, Units


class QuantulumExtractor(RulesExtractor):
    """Wraps `quantulum3.parser.parse`.

    quantulum3 orders some of its choices by Python's hash seed: set PYTHONHASHSEED for the same result in every
    process.

    Args:
        units: the known units; quantulum3's names are mapped to them where a name or symbol agrees.
        years: report calendar years too (found by our rules: quantulum3 reads them as bare numbers).
        p_values: report p-values too.

    Raises:
        MissingPackageError: quantulum3 is not installed.
    """

    name = "quantulum3"

    def __init__(
        self, units: Units, *, years: bool = False, p_values: bool = True, spacy_model: str = NO_PARSER
    ) -> None:
        super().__init__(units, years=years, p_values=p_values, spacy_model=spacy_model)
        with warnings.catch_warnings():
            # It advises to install a classifier that we switch off below.
            warnings.simplefilter("ignore")
            classifier = needed("quantulum3.classifier", "quantulum", "the extractor quantulum3")
            parse = needed("quantulum3.parser", "quantulum", "the extractor quantulum3").parse

        # With scikit-learn importable, quantulum3 0.10 crashes on ambiguous units.
        classifier.USE_CLF = False
        self._read: Any = parse

    def _tokenized(self, text: str) -> TokenizedText:
        digits = any(c.isdigit() for c in text)
        ours = super()._tokenized(text).amounts if self.years or not digits else ()
        if not digits and not ours:
            return TokenizedText(text, (), ())
        tokens = tokenize(text)
        read = (self._from_quantulum(tokens, text, mention) for mention in self._read(text))
        years = {a.first: a for a in ours if a.year and self.years}
        amounts = [years.pop(amount.first, amount) for amount in read if amount is not None]
        return TokenizedText(text, tokens, sorted([*amounts, *years.values()], key=lambda amount: amount.first))

    def _joined(self, draft: TokenizedText, parse: Parse | None) -> Sequence[Amount]:
        return draft.amounts  # quantulum3 has joined ranges and named units already

    def _from_quantulum(self, tokens: Sequence[Token], text: str, mention: Any) -> Amount | None:
        start, end = mention.span
        inside = [k for k, t in enumerate(tokens) if t.start < end and t.end > start]
        digits = [k for k in inside if tokens[k].kind == "number"] or inside
        if not inside:
            return None
        spread = float(mention.uncertainty or 0.0)
        low, high = mention.value - spread, mention.value + spread
        if not (abs(low) < float("inf") and abs(high) < float("inf")):
            return None
        number_first, number_last = digits[0], digits[-1] + 1
        number = Number(
            mention.value, mention.value, number_first, number_last, significant_digits(tokens[number_first].text)
        )
        unit = self._map(mention.unit)
        rest = [k for k in inside if not number_first <= k < number_last]
        span = (tokens[rest[0]].start, tokens[rest[-1]].end) if rest and unit.name else None
        how = (P_VALUE,) if not unit.name and p_value_name(tokens, number) else ()
        return Amount(number, unit, inside[0], inside[-1] + 1, span, low, high, is_range=low != high, how=how)

    def _map(self, unit: Any) -> Unit:
        if unit.name in ("dimensionless", ""):
            return self.units.get("")
        for surface in (unit.name, *(unit.symbols or ()), *(unit.surfaces or ())):
            match = self.units.lookup(surface)
            if match is not None:
                return match
        return self.units.get(unit.name)
