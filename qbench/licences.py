"""Under which licence texts come, and whether what is made of them may be published.

Names are those of the hub's list for data set cards, which are SPDX identifiers in lower case where there is one.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from qbench.errors import OptionError, UnknownNameError

Terms = Literal["permissive", "share-alike", "non-commercial", "no-derivatives", "proprietary", "unknown"]

UNKNOWN = "unknown"
"""What artefacts say whose licence nobody stated."""

FORBIDDING: Mapping[Terms, str] = {
    "no-derivatives": "it forbids derivatives, and sentences cut from a text, with labels and changed copies, are one",
    "proprietary": "it keeps redistribution to the owner",
    "unknown": "nobody stated one, or what it asks is not known",
}
"""The terms under which texts are not published, and why."""

NOTICES: Mapping[Terms, str] = {
    "permissive": "Name the source and keep its notices when you pass the texts on.",
    "share-alike": "What you make of the texts has to be shared under the same licence, its source named.",
    "non-commercial": "The texts may not be used for commercial purposes; name their source when you pass them on.",
}
"""What a card says of the terms under which texts are published."""

_IDENTIFIERS: Mapping[Terms, str] = {
    "permissive": (
        "afl-3.0 apache-2.0 artistic-2.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 c-uda cc-by-2.0 "
        "cc-by-2.5 cc-by-3.0 cc-by-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0 ecl-2.0 etalab-2.0 isc mit ncsa "
        "odc-by ofl-1.1 pddl postgresql unlicense wtfpl zlib"
    ),
    "share-alike": (
        "agpl-3.0 cc-by-sa-3.0 cc-by-sa-4.0 cdla-sharing-1.0 epl-1.0 epl-2.0 eupl-1.1 eupl-1.2 gfdl gpl gpl-2.0 "
        "gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 ms-pl mpl-2.0 odbl osl-3.0"
    ),
    "non-commercial": ("cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0"),
    "no-derivatives": "cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0",
    "proprietary": "proprietary",
    "unknown": "unknown other cc",
}

_UNLISTED: Mapping[Terms, str] = {"permissive": "public-domain ogl-uk-3.0 odc-by-1.0 pddl-1.0"}
"""Names that are common, and that the hub's list lacks: a card gives them as "other", with their name."""

LICENCES: Mapping[str, Terms] = {
    name: terms for table in (_IDENTIFIERS, _UNLISTED) for terms, names in table.items() for name in names.split()
}
"""Licence -> its terms: the strictest condition that it sets."""

_ALIASES = {
    "odbl-1.0": "odbl",
    "gpl-3.0-only": "gpl-3.0",
    "gpl-2.0-only": "gpl-2.0",
    "cc0": "cc0-1.0",
    "cc-0": "cc0-1.0",
}


@dataclass(frozen=True)
class Licence:
    """A licence on texts.

    Attributes:
        name: as in `LICENCES`, or as its owner calls it.
        terms: the strictest condition that it sets.
    """

    name: str
    terms: Terms

    @property
    def listed(self) -> bool:
        """Whether the hub knows the name."""
        return any(self.name in names.split() for names in _IDENTIFIERS.values()) and self.terms not in (
            "proprietary",
            "unknown",
        )

    @property
    def refusal(self) -> str | None:
        """Why texts under this licence are not published; None where they may be."""
        return FORBIDDING.get(self.terms)

    @property
    def notice(self) -> str:
        """What a card says of it."""
        notice = NOTICES.get(self.terms, "The texts may not be redistributed.")
        if "-nc-sa-" in self.name:
            notice += " What you make of them has to be shared under the same licence."
        return notice


def normalised(name: str) -> str:
    """A licence's name as artefacts keep it: an identifier in lower case where it is a known one, else as it is."""
    plain = " ".join(name.split())
    lower = plain.lower()
    lower = _ALIASES.get(lower, lower)
    return lower if lower in LICENCES else plain or UNKNOWN


def identifier(name: str) -> str:
    """The identifier of a licence by its name.

    Raises:
        UnknownNameError: it is none of `LICENCES`.
    """
    plain = normalised(name)
    if plain not in LICENCES:
        near = difflib.get_close_matches(plain.lower(), LICENCES, n=3, cutoff=0.5)
        raise UnknownNameError(
            "unknown licence",
            value=name,
            remedy=(f"Near: {', '.join(near)}. " if near else "")
            + "docs/how-to/publish.md lists those that are known; `proprietary` is what may not be redistributed",
        )
    return plain


def licence(name: str, terms: str | None = None) -> Licence:
    """A licence by its name.

    Args:
        name: an identifier, in any case, or any name.
        terms: what a licence asks that `LICENCES` does not know.

    Raises:
        OptionError: the terms are none, or are said of a licence whose terms are known to be others.
    """
    plain = normalised(name)
    listed: Terms = LICENCES.get(plain, "unknown")
    if terms is None:
        return Licence(plain, listed)
    stated = next((choice for choice in get_args(Terms) if choice == terms), None)
    if stated is None:
        raise OptionError("unknown terms", value=terms, remedy=f"Known: {', '.join(get_args(Terms))}")
    if listed not in ("unknown", stated):
        raise OptionError(f"the terms of {plain} are known: {listed}", value=terms, remedy="Leave the terms out")
    if plain == UNKNOWN:
        raise OptionError("terms were stated, and no licence", value=terms, remedy="Name the licence too")
    return Licence(plain, stated)
