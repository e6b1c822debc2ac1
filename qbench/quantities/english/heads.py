"""Head words of concepts by what a number of them means: lists that generation and mining share, and each adds to."""

from __future__ import annotations

LASTING = frozenset(
    (
        "age duration maturity term life lifetime time period follow followup survival stay lease tenure "
        "experience delay length therapy treatment contract warranty history course career lifespan lag wait "
        "service sentence agreement onset remission recovery operation surgery drive flight trip battery "
        "commitment vesting"
    ).split()
)
"""What a length of time is stated of."""

POPULATIONS = frozenset(
    (
        "patient participant subject placebo control woman man child infant adult person volunteer male "
        "female boy girl individual respondent population sample physician nurse parent mother family "
        "household"
    ).split()
)
"""People as a study counts them: "48 % of patients" is about what the 48 % did."""

EMPTY = frozenset(
    (
        "net following table baseline study trial group arm cohort intervention result data item note quarter "
        "week part portion change difference impact effect basis class type unit point case firm corporation "
        "registrant management board related due combined aggregate other approximately interval confidence "
        "analysis comparison method model figure section page report statement exhibit form step phase stage "
        "third rest half majority remainder visit record"
    ).split()
)
"""Words that, without others, leave open what a number measures."""
