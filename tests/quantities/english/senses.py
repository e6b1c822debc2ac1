"""What the file of senses says of a form, for tests."""

from qbench.quantities.english import ambiguity


def senses_of(surface):
    """The units that a form may mean, "" for a magnitude or none; () for a form of one meaning."""
    form = ambiguity._forms().get(surface)
    if form is None:
        return ()
    return tuple(sense.unit for sense in (*form.senses, *([form.otherwise] if form.otherwise else [])))
