"""What the rules get from a parser: one entry for each token, trees, one scheme of relations; whatever the text."""

import sys
from types import SimpleNamespace

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from qbench.errors import OptionError
from qbench.quantities.english.parse import LONGEST, Parser, StandIn
from qbench.quantities.english.parsers.load import load_parser
from qbench.quantities.english.parsers.pipelines import PipelineParser
from qbench.quantities.english.stand_ins import stand_ins
from qbench.quantities.english.tokens import tokenize

BLANK = spacy.blank("en")
PIECES = (
    "The the firm sold 5 cars $3.5 25k-strong it's don't well-known e.g. U.S. (11 km) 7 miles rose fell to 40°C gonna "
    "cannot and , . ; - – / :) ... 1/2 3%–4% S&P500 A+ #5 5x6 10-year-old 5'10\" can't've Mr. 12th ½ ± "
    "http://x.y/5?z=6 \ud800 \u2028 \u00ad e\u0301"
).split(" ")


class Stub:
    """A pipeline that hangs every word on the first one, or says what `analyses` says of it: (head, relation, tag)."""

    def __init__(self, analyses=None, labels=("nsubj",)):
        self.vocab, self.make_doc = BLANK.vocab, BLANK.make_doc
        self.analyses, self.labels, self.read = analyses or {}, labels, []

    def get_pipe(self, name):
        return SimpleNamespace(labels=self.labels)

    def pipe(self, docs, batch_size=1):
        for doc in docs:
            words = [word.text for word in doc]
            self.read.append(words)
            said = [self.analyses.get(word, (words[0], "dep", "NN")) for word in words]
            yield Doc(
                self.vocab,
                words=words,
                heads=[words.index(head) for head, _, _ in said],
                deps=[
                    "ROOT" if head == word else relation for word, (head, relation, _) in zip(words, said, strict=True)
                ],
                tags=[tag for _, _, tag in said],
            )


def parsed(text, mentions, pipeline):
    tokens = tokenize(text)
    (result,) = Parser(PipelineParser(pipeline)).parse_many([(text, tokens, mentions)])
    assert len(result.tags) == len(result.heads) == len(result.relations) == len(tokens)
    return tokens, result


def numbers_of(tokens):
    return [StandIn(k, k + 1, ("5",)) for k, token in enumerate(tokens) if token.kind == "number"]


# Which words are read.


def test_only_sentences_with_a_mention_are_read():
    text = "Nothing here. It has 12 doors. Nothing there either."
    pipeline = Stub()
    tokens, result = parsed(text, numbers_of(tokenize(text)), pipeline)
    assert pipeline.read == [["It", "has", "5", "doors", "."]]
    assert [t.text for t, tag in zip(tokens, result.tags, strict=True) if tag] == ["It", "has", "12", "doors", "."]
    assert [head for k, head in enumerate(result.heads) if not result.tags[k]] == [
        k for k, tag in enumerate(result.tags) if not tag
    ]


@pytest.mark.parametrize(
    ("text", "first_words"),
    [
        ("Net gains on securities.Sales rose 5 million.", ["Sales"]),
        ("Sales fell (excluding tax).Rents rose 5 million.", ["Rents"]),
        ("Sales rose 3 points.38Table shows 5 rows.", ["Sales", "38"]),  # the number of a page
        ("Sales of 24 WeeksNet revenue rose 5 million.", ["Sales", "Net"]),
        ("OverviewWe sell 5 lamps.", ["We"]),
        ("RISK FACTORSThe firm sells 5 lamps.", ["The"]),
        ("Financing ActivitiesNet cash was 5 million.", ["Net"]),
        ("A LinkedIn user and a TrialNet member saw 5 lamps.", ["A"]),
        ("The U.S.Army bought 5 tanks.", ["The"]),
        ("They met at Acme.Com for 5 days.", ["They"]),
    ],
)
def test_sentences_end_where_a_space_is_lost(text, first_words):
    tokens = tokenize(text)
    mentions = [StandIn(k, k + 1, ("5",)) for k, token in enumerate(tokens) if token.text in ("5", "3", "24")]
    _, result = parsed(text, mentions, Stub())
    assert [tokens[first].text for first, _ in result.ranges.values()] == first_words


@given(st.lists(st.sampled_from(["5", "word", "a", ".", ";", "Then", ",", "\n"]), max_size=900))
@settings(max_examples=60, deadline=None)
def test_stretches_are_bounded_and_hold_every_mention(words):
    text = " ".join(words)
    tokens = tokenize(text)
    pipeline = Stub()
    tokens, result = parsed(text, numbers_of(tokens), pipeline)
    assert all(0 < len(read) <= 2 * LONGEST for read in pipeline.read)
    assert all(result.tags[k] for k, token in enumerate(tokens) if token.kind == "number")
    assert sum(map(len, pipeline.read)) <= 2 * len(tokens)


def test_a_long_mention_is_never_cut():
    text = "word " * (LONGEST - 2) + "5 6 7 8 " + "word " * 20
    mention = StandIn(LONGEST - 2, LONGEST + 2, ("5", "miles"))
    pipeline = Stub()
    _, result = parsed(text, [mention], pipeline)
    assert [read.count("miles") for read in pipeline.read] == [1]
    assert all(result.heads[k] == mention.first for k in range(mention.first + 1, mention.last))


def test_a_mention_is_read_as_its_stand_in_and_a_restatement_not_at_all():
    text = "The HK$3.7bn (US$473m) bridge opened."
    pipeline = Stub()
    tokens = tokenize(text)
    at = [t.text for t in tokens].index
    mentions = [StandIn(at("HK"), at("("), ("$", "5")), StandIn(at("("), at("bridge"), ())]
    _, result = parsed(text, mentions, pipeline)
    assert pipeline.read == [["The", "$", "5", "bridge", "opened", "."]]
    for k in range(at("HK") + 1, at("(")):
        assert (result.relations[k], result.heads[k]) == ("part", at("HK"))
    for k in range(at("("), at("bridge")):
        assert (result.tags[k], result.heads[k]) == ("", k)


def test_a_text_of_nothing_but_a_restatement_is_read_too():
    _, result = parsed("(5)", [StandIn(0, 3, ())], Stub())
    assert result.heads[1:] == [1, 2]


def test_sentences_that_differ_in_numbers_alone_are_read_once(monkeypatch):
    monkeypatch.setattr("qbench.quantities.english.parse.CACHED_READINGS", 2)
    pipeline = Stub()
    parser = Parser(PipelineParser(pipeline))

    def ask(*texts):
        found = [(text, tokenize(text), numbers_of(tokenize(text))) for text in texts]
        return parser.parse_many(found)

    first, other, again = ask("It has 12 doors.", "We sold 5 cars.", "It has 1300 doors.")
    assert (first, pipeline.read) == (again, [["It", "has", "5", "doors", "."], ["We", "sold", "5", "cars", "."]])
    assert ask("It has 7 doors.") == [first]
    assert len(pipeline.read) == 2
    # More than are remembered: all is forgotten, and nothing is lost.
    assert ask("They have 7 doors.", "It has 8 doors.")[1] == first
    assert ask("It has 9 doors.", "We sold 6 cars.") == [first, other]
    assert pipeline.read[2:] == [["They", "have", "5", "doors", "."], *pipeline.read[:2]]


def test_no_mention_no_reading():
    pipeline = Stub()
    parsed("Nothing here.", [], pipeline)
    parsed("", [], pipeline)
    assert pipeline.read == []


# How the parser's words are brought to our tokens.


def test_a_word_of_the_parser_that_is_several_tokens():
    # For spaCy's tokenizer "10-K" is one word, for ours three.
    text = "It filed a 10-K for 5 firms."
    tokens = tokenize(text)
    at = [t.text for t in tokens].index
    pipeline = Stub({"It": ("It", "ROOT", "PRP"), "10-K": ("It", "obj", "NN")})
    pipeline.make_doc = lambda piece: Doc(
        BLANK.vocab, words="It filed a 10-K for 5 firms .".split(), spaces=[1] * 6 + [0, 0]
    )
    _, result = parsed(text, [StandIn(at("5"), at("5") + 1, ("5",))], pipeline)
    assert (result.tags[at("10")], result.heads[at("10")], result.relations[at("10")]) == ("NN", 0, "obj")
    for piece in ("-", "K"):
        assert (result.tags[at(piece)], result.heads[at(piece)], result.relations[at(piece)]) == (
            "NN",
            at("10"),
            "part",
        )


def test_of_several_words_in_one_token_the_outward_one_speaks():
    # "don't" is one of our tokens, and two words for spaCy.
    text = "They don't sell 5 cars."
    analyses = {
        "They": ("sell", "nsubj", "PRP"),
        "do": ("n't", "aux", "VBP"),
        "n't": ("sell", "advmod", "RB"),
        "sell": ("sell", "ROOT", "VB"),
        "5": ("cars", "nummod", "CD"),
        "cars": ("sell", "obj", "NNS"),
        ".": ("sell", "punct", "."),
    }
    tokens = tokenize(text)
    _, result = parsed(text, numbers_of(tokens), Stub(analyses))
    assert [t.text for t in tokens] == ["They", "don't", "sell", "5", "cars", "."]
    assert result.relations == ["nsubj", "advmod", "root", "nummod", "obj", "punct"]
    assert result.heads == [2, 2, 2, 4, 2, 2]
    assert result.children[2] == [0, 1, 4, 5]


def test_words_of_one_token_that_hang_apart_close_no_ring():
    text = "don't 5 sell"
    analyses = {
        "do": ("sell", "aux", "VBP"),
        "n't": ("n't", "ROOT", "RB"),
        "5": ("sell", "nummod", "CD"),
        "sell": ("n't", "dep", "VB"),
    }
    _, result = parsed(text, [StandIn(1, 2, ("5",))], Stub(analyses))
    assert_trees(result)


def assert_trees(result):
    for k in range(len(result.heads)):
        for _ in range(len(result.heads)):
            assert 0 <= result.heads[k] < len(result.heads)
            k = result.heads[k]
        assert result.heads[k] == k
    below = [child for children in result.children for child in children]
    assert sorted(below) == [k for k, head in enumerate(result.heads) if head != k]


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", " "])), max_size=30))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_trees_over_its_tokens(rules, pieces):
    text = "".join(piece + gap for piece, gap in pieces)
    tokens = tokenize(text)
    mentions = stand_ins(tokens, rules._finder.find(tokens, text))
    (result,) = load_parser("embedded").parse_many([(text, tokens, mentions)])
    assert len(result.tags) == len(result.heads) == len(result.relations) == len(tokens)
    assert_trees(result)


@pytest.mark.parametrize(
    "text",
    [
        "6\" e.g. firm 5x6A+http://x.y/5?z=6A+rose55pmfell(11rose/ofit's ±rose 1/2can't've",
        "m 12th gonna gonna rose gonna it's , ... 10-year-old ... 5pm ; £5m/£6m 5x6 gonna $3.5 ... :) http://x.y/5?z=6",
        "don't've can't've " * 40 + "5 cars",
    ],
)
def test_no_parse_sends_the_rules_in_circles(rules, text):
    rules.extract(text)


# One scheme of relations.

CLEAR = ("nsubj", "dobj", "pobj", "prep", "nsubjpass", "relcl", "attr")


def test_clear_labels_become_universal_ones():
    text = "The price of cars that they liked was raised by 5 dollars in March by makers."
    words = "The price of cars that they liked was raised by 5 dollars in March by2 makers .".split()
    analyses = {
        "The": ("price", "det", "DT"),
        "price": ("raised", "nsubjpass", "NN"),
        "of": ("price", "prep", "IN"),
        "cars": ("of", "pobj", "NNS"),
        "that": ("liked", "dobj", "WDT"),
        "they": ("liked", "nsubj", "PRP"),
        "liked": ("cars", "relcl", "VBD"),
        "was": ("raised", "auxpass", "VBD"),
        "raised": ("raised", "ROOT", "VBN"),
        "by": ("raised", "prep", "IN"),
        "5": ("dollars", "nummod", "CD"),
        "dollars": ("by", "pobj", "NNS"),
        "in": ("raised", "prep", "IN"),
        "March": ("in", "pobj", "NNP"),
        "by2": ("raised", "agent", "IN"),
        "makers": ("by2", "pobj", "NNS"),
        ".": ("raised", "punct", "."),
    }
    pipeline = Stub(analyses, labels=CLEAR)
    # The second "by" is told from the first by another form, which our tokens do not have.
    pipeline.make_doc = lambda piece: Doc(BLANK.vocab, words=[*words[:14], "by", *words[15:]], spaces=[1] * 15 + [0, 0])
    read = pipeline.pipe
    pipeline.pipe = lambda docs, **options: read((Doc(BLANK.vocab, words=words) for _ in docs), **options)
    tokens = tokenize(text)
    at = [t.text for t in tokens].index
    _, result = parsed(text, [StandIn(at("5"), at("5") + 1, ("5",))], pipeline)
    head = {t.text: tokens[result.heads[k]].text for k, t in enumerate(tokens) if t.text != "by"}
    relation = {t.text: result.relations[k] for k, t in enumerate(tokens)}
    assert (relation["cars"], head["cars"], relation["of"], head["of"]) == ("nmod", "price", "case", "cars")
    assert (relation["dollars"], head["dollars"]) == ("obl", "raised")
    assert (relation["March"], head["March"], head["in"]) == ("obl", "raised", "March")
    assert (relation["makers"], head["makers"]) == ("obl", "raised")
    assert (relation["price"], relation["was"], relation["that"]) == ("nsubj:pass", "aux:pass", "obj")
    assert (relation["liked"], relation["raised"], relation["5"]) == ("acl:relcl", "root", "nummod")


def test_universal_labels_stay_as_they_are():
    analyses = {"sold": ("sold", "ROOT", "VBD"), "5": ("cars", "nummod", "CD"), "cars": ("sold", "obj", "NNS")}
    _, result = parsed("sold 5 cars", [StandIn(1, 2, ("5",))], Stub(analyses, labels=("obl", "nmod")))
    assert result.relations == ["root", "nummod", "obj"]


# Which pipelines there are.


def test_an_unknown_pipeline_says_what_to_do():
    with pytest.raises(OptionError, match=r"no such spaCy pipeline .*en_core_nonsense.*`none`.*spacy download"):
        load_parser("en_core_nonsense")


@pytest.mark.parametrize(("parts", "missing"), [([], "no tagger and no parser"), (["tagger"], "no parser")])
def test_a_pipeline_that_cannot_parse_says_what_it_lacks(tmp_path, parts, missing):
    pipeline = spacy.blank("en")
    for part in parts:
        pipeline.add_pipe(part).add_label("NN")
    pipeline.initialize()
    pipeline.to_disk(tmp_path / "model")
    with pytest.raises(OptionError, match=f"{missing}.*Use `embedded`"):
        load_parser(str(tmp_path / "model"))


def test_a_folder_is_a_pipeline_and_further_parts_do_not_run(tmp_path, small_pipeline):
    small_pipeline.to_disk(tmp_path / "mine")
    more = spacy.load(tmp_path / "mine")
    more.add_pipe("sentencizer")
    more.to_disk(tmp_path / "mine")
    text = "The firm sold 5 cars."
    tokens = tokenize(text)
    found = load_parser(str(tmp_path / "mine")).parse_many([(text, tokens, [StandIn(3, 4, ("5",))])])[0]
    assert set(found.tags) <= {"DT", "NN", "NNS", "VBD", "CD", "."}
    assert "sentencizer" not in load_parser(str(tmp_path / "mine"))._reader._nlp.pipe_names


def test_the_parser_is_loaded_once():
    assert load_parser("embedded") is load_parser("embedded")


# Texts that no parser is made for.


def test_lone_surrogates(rules):
    text = "The firm \ud800 sold 5 \udfff cars for $3 million."
    assert [q.value for q in rules.extract(text)] == [5, 3e6]


def test_a_long_line_without_a_full_stop(rules):
    piece = "the firm sold 5 cars and "
    text = piece * (100_000 // len(piece)) + "then " * 20_000
    assert len(text) >= 199_000
    found = rules.extract(text)
    assert len(found) == 100_000 // len(piece)
    assert {(q.value, q.unit) for q in found} == {(5, "car")}


def test_many_numbers_in_a_row(rules):
    found = rules.extract("5 kg " * 5_000)
    assert len(found) == 5_000
    assert {q.value for q in found} == {5}


def test_importing_the_module_loads_no_spacy():
    import subprocess

    code = "import sys, qbench.quantities.english.rules; sys.exit('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
