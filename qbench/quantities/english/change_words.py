"""Words of rising and falling, and those around them: verbs after which a number is the size of a change."""

from __future__ import annotations

from qbench.quantities.types import Change


def directed(forms: str, change: Change) -> dict[str, Change]:
    """Each of the words with that change."""
    return dict.fromkeys(forms.split(), change)


MOVES: dict[str, Change] = directed(
    "rise rises rose risen rising increase increases increased increasing grow grows grew grown growing climb climbs "
    "climbed climbing jump jumps jumped jumping surge surges surged surging soar soars soared soaring rally rallies "
    "rallied rallying rebound rebounds rebounded rebounding advance advances advanced advancing spike spikes spiked "
    "spiking skyrocket skyrockets skyrocketed skyrocketing swell swells swelled swelling swollen balloon ballooned "
    "leap leaps leaped leapt leaping appreciate appreciates appreciated appreciating strengthen strengthens "
    "strengthened strengthening expand expands expanded expanding rocket rocketed rocketing zoomed accelerate "
    "accelerated inflate inflated improve improves improved improving lengthen lengthens lengthened lengthening up",
    "up",
) | directed(
    "fall falls fell fallen falling decline declines declined declining decrease decreases decreased decreasing drop "
    "drops dropped dropping slip slips slipped slipping slide slides slid sliding tumble tumbles tumbled tumbling "
    "plunge plunges plunged plunging plummet plummets plummeted plummeting sink sinks sank sunk sinking slump slumps "
    "slumped slumping dip dips dipped dipping shrink shrinks shrank shrunk shrinking crash crashed crashes crashing "
    "tank tanks tanked tanking retreat retreats retreated retreating ease eases eased easing weaken weakens weakened "
    "weakening depreciate depreciates depreciated depreciating contract contracts contracted contracting dive dives "
    "dived dove diving dwindle dwindled dwindling diminish diminished narrowed slumps nosedived recede receded shorten "
    "shortens shortened shortening down",
    "down",
)
"""Words after which a number is the size of a change of their subject."""
TURNS: dict[str, Change] = directed(
    "gain gains gained gaining add adds added adding raise raises raised raising lift lifts "
    "lifted lifting boost boosts "
    "boosted boosting hike hikes hiked hiking extend extended bump bumped widen widened widening upped increment "
    "multiply multiplied put elevate elevates elevated elevating",
    "up",
) | directed(
    "lose loses lost losing shed sheds shedding cut cuts cutting lower lowers lowered lowering reduce reduces reduced "
    "reducing trim trims trimmed trimming slash slashes slashed slashing curb curbed pare pared paring halve halved "
    "discount discounted mark shave shaves shaved shaving erase erased give gave eliminate eliminates eliminated "
    "eliminating axe axes axed axing save saves saved saving",
    "down",
)
"""Words whose object may be anything: only shares, points and small coin after them are a change ("lost 190 points"),
or what stands after "by" ("cut costs by $5 million"), or what leads to a level ("gained $2 to $31")."""
NEVER_DIRECT = frozenset("put give gave mark increment multiply multiplied".split())
SAVINGS = frozenset("save saves saved saving".split())
STAFF = frozenset(
    "job position post worker employee subscriber customer user member store outlet branch shop restaurant seat "
    "household rig passenger point".split()
)
"""What firms, parties and services add and lose by number: "cut 230 jobs", "added 17 outlets"."""
NOUNS_TOO = frozenset(
    "rise rises increase increases climb jump jumps surge surges rally spike leap advance fall falls decline declines "
    "decrease decreases drop drops slip slide slides tumble plunge slump dip dips crash retreat dive gain gains boost "
    "hike hikes cut cuts raise raises lift discount discounts contract contracts rebound tank tanks mark ease swell "
    "balloon rocket lower".split()
)
BEFORE_NOUNS = frozenset(
    "a an the this that these those any no some its their his her our my your each every of in "
    "with 's ’s further sharp "
    "big small large steep slight recent annual price tax rate pay % percent cent pct first biggest largest".split()
)
"""Words before which such a form is a noun, where no parse says it."""
LIGHT = frozenset(
    "by about around approximately approx exactly precisely nearly almost roughly some more less than as much many "
    "a an another further additional at least most up down over just only well slightly fully sharply steadily "
    "quickly gradually modestly significantly dramatically steeply even again back another estimated average of ~ "
    "≈ + - total whopping full better rapidly fast strongly not no fewer - − – ( minus negative provisional modest "
    "mere staggering net mean median cumulative combined seasonally adjusted".split()
)
"""Words that may stand between a verb and the size of its change."""
PLACES = frozenset("above below under beneath past beyond to from at into through toward towards".split())
"""Words after a verb that make its number a level: "fell below 50"."""
PARTICLE_VERBS = frozenset(
    "give gives gave given giving make makes made making take takes took taken taking set sets "
    "setting put puts putting "
    "pick picks picked picking turn turns turned turning shut shuts shutting buy buys bought buying rack racked racks "
    "mop snap snapped snapping pony cough coughed line lined lining hold holds held eat ate "
    "use used build builds built "
    "building open opens opened opening free freed serve served serving throw threw track tracked wrote write written "
    "pull pulled blow blew burn burned paid pay paying sign signed signing come came coming end ended ending sum add "
    "adds added back backed hand handed hunt show showed showing team speed sell sold eating ran run hook load loaded "
    "bust busts busted blown close closes closed "
    "settle settled laid lay break broke narrow narrowed calm sit sat round rounded live call called keep kept".split()
)
"""Verbs whose "up" or "down" tells no direction: "gave up 500 yards"."""
TAKERS = frozenset(
    "give gives gave given giving make makes made making take takes took taken taking pick "
    "picks picked buy buys bought "
    "put puts set sets turn turns turned use used".split()
)
"""Those of them after which not even a percentage is a direction: "makes up 5%"."""
JUDGED: dict[str, Change] = directed("favorably favourably positively", "up") | directed(
    "unfavorably unfavourably negatively adversely", "down"
)
JUDGED_VERBS = frozenset("impacted impact impacts affected affect affects changed influenced".split())
"""Verbs whose adverb tells where it goes: "sales were favorably impacted by $3 million"."""
COMPARATIVES: dict[str, Change] = directed("higher greater larger longer taller heavier", "up") | directed(
    "lower less smaller shorter fewer lighter", "down"
)
"""What differs by an amount: "lower than in the other group by 3 points"."""
AFTERWARDS: dict[str, Change] = {"higher": "up", "up": "up", "lower": "down", "down": "down", "off": "down"}
ENDS = frozenset(".;:!?")
OUTDONE = frozenset("exceed exceeds exceeded exceeding outnumber outnumbers outnumbered".split())
"""Verbs of being more by the amount after "by": "spending will exceed this year's by 85 million"."""
