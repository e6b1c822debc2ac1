"""The card of a published artefact: its header for the hub, and what users need to know."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qbench.benchmark import card as parts
from qbench.benchmark.disk import KIND as BENCHMARK
from qbench.licences import Licence
from qbench.mining.types import DESCRIPTIONS_KIND, PAIRS_KIND
from qbench.publishing.attachments import Attachment, attachments_section
from qbench.publishing.contents import ABOUT, METHODS, Contents

PICTURE = "distributions.png"

_COUNTED = {
    BENCHMARK: "## Left out, and worth knowing",
    PAIRS_KIND: "## Counts of the mining",
    DESCRIPTIONS_KIND: "## Counts of the descriptions",
}
_TASKS = {BENCHMARK: "text-retrieval", PAIRS_KIND: "sentence-similarity"}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10**7, "1M<n<10M"))


@dataclass(frozen=True)
class Config:
    """One configuration of the data set.

    Attributes:
        name: its name for `load_dataset`.
        files: split -> files.
        rows: split -> number of rows.
        columns: names of the columns.
    """

    name: str
    files: Mapping[str, Sequence[str]]
    rows: Mapping[str, int]
    columns: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """What a card holds in addition to the contents.

    Attributes:
        name: name of the artefact, for people.
        repo_id: OWNER/NAME.
        licence: licence of the publication.
        text_licence: licence of the corpus' texts, if they are withheld; else None.
        configs: configurations of the data set.
        picture: whether there is a picture.
        citation: the owner's Markdown; "" for qbench's.
        attachments: published files that it was made with.
        languages: codes of the languages.
    """

    name: str
    repo_id: str
    licence: Licence
    text_licence: str | None
    configs: Sequence[Config]
    picture: bool
    citation: str = ""
    attachments: Sequence[Attachment] = ()
    languages: Sequence[str] = ("en",)


def published_card(contents: Contents, facts: Facts) -> str:
    """The text of README.md."""
    params = contents.manifest.params
    sections = [
        _header(contents, facts),
        f"# {parts.markdown(facts.name)}",
        str(params.get("about") or ABOUT[contents.kind]),
        "**Its texts are not in it.** " + _withheld(facts) if facts.text_licence else "",
        f"![Distributions]({PICTURE})" if facts.picture else "",
        "## What is in it",
        _configs(facts.configs),
        *parts.breakdowns(contents.counts),
        "## How to load it",
        _loading(contents, facts),
        "## How it was made",
        _provenance(contents),
        attachments_section(facts.attachments, params, facts.repo_id) if facts.attachments else "",
        *([_COUNTED[contents.kind], parts.left_out(contents.left_out)] if contents.left_out else []),
        *(["## Checks of the labels", contents.checked] if contents.checked else []),
        *contents.audit,
        *contents.examples,
        "## Limits",
        contents.limits,
        "## Licence",
        _licence(facts),
        "## Citation",
        facts.citation or _citation(contents, facts),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _header(contents: Contents, facts: Facts) -> str:
    """YAML for the hub; strings of users are JSON, which is valid YAML."""
    lines = ["---", f"pretty_name: {_yaml(facts.name)}"]
    if facts.licence.listed:
        lines.append(f"license: {_yaml(facts.licence.name)}")
    else:
        slug = re.sub(r"[^a-z0-9.]+", "-", facts.licence.name.lower()).strip("-.")
        lines += ["license: other", f"license_name: {_yaml(slug or 'own')}"]
    lines += ["language:", *(f"- {_yaml(code)}" for code in facts.languages)]
    if contents.kind in _TASKS:
        lines += ["task_categories:", f"- {_TASKS[contents.kind]}"]
    most = max((sum(config.rows.values()) for config in facts.configs), default=0)
    size = next((name for limit, name in _SIZES if most < limit), "n>10M")
    lines += ["size_categories:", f"- {size}", "tags:", "- qbench", "- quantities"]
    if {config.name for config in facts.configs} & {"triples", "pairs"}:
        lines.append("- sentence-transformers")
    lines.append("configs:")
    for config in facts.configs:
        lines += [f"- config_name: {config.name}", "  data_files:"]
        for split, files in config.files.items():
            lines += [f"  - split: {split}", "    path:", *(f"    - {_yaml(file)}" for file in files)]
    return "\n".join([*lines, "---"])


def _yaml(text: str) -> str:
    """A string of YAML: JSON without escaped letters."""
    return json.dumps(parts.printable(text), ensure_ascii=False)


def _configs(configs: Sequence[Config]) -> str:
    rows = ["| configuration | split | rows | columns |", "|---|---|---:|---|"]
    for config in configs:
        columns = ", ".join(f"`{name}`" for name in config.columns)
        rows += [f"| {config.name} | {split} | {number:,} | {columns} |" for split, number in config.rows.items()]
    return "\n".join(rows)


def _loading(contents: Contents, facts: Facts) -> str:
    names = [config.name for config in facts.configs]
    first = facts.configs[0]
    lines = [
        "    from datasets import load_dataset",
        f'    rows = load_dataset("{facts.repo_id}", "{first.name}", split="{next(iter(first.rows))}")',
    ]
    paragraphs = ["\n".join(lines)]
    if {"corpus", "qrels"} <= set(names):
        paragraphs.append("`corpus`, `queries` and `qrels` are laid out as MTEB's retrieval tasks read them.")
    for name in ("triples", "pairs"):
        if name in names:
            paragraphs.append(f"`{name}` trains with sentence-transformers as it is.")
    source = " --source CORPUS" if facts.text_licence else ""
    paragraphs.append(
        f"The {contents.kind} as qbench made {'it' if contents.kind == BENCHMARK else 'them'}, with every table and "
        f"digest:\n\n    qbench pull {facts.repo_id} -o FOLDER{source}"
    )
    return "\n\n".join(paragraphs)


def _withheld(facts: Facts) -> str:
    return (
        f"They come under another licence ({parts.markdown(str(facts.text_licence))}) and stay with their owner. What "
        "is here says for each text which document it stood in, from which character to which, and its SHA-256; who "
        f"has the corpus makes the same bytes again:\n\n    qbench pull {facts.repo_id} -o FOLDER --source CORPUS"
    )


def _provenance(contents: Contents) -> str:
    manifest = contents.manifest
    about_corpus = manifest.params.get("corpus") or {}
    lines = []
    if about_corpus.get("content"):
        lines.append(
            f"Corpus: {parts.markdown(str(about_corpus.get('source')))}, content digest `{about_corpus['content']}`."
        )
    params = {name: value for name, value in manifest.params.items() if name != "corpus"}
    lines.append(f"Made by qbench {parts.markdown(manifest.version)}.")
    return "\n\n".join([*lines, parts.provenance(params, manifest.digest)])


def _licence(facts: Facts) -> str:
    name = parts.markdown(facts.licence.name)
    if facts.text_licence is None:
        return f"{name}. {facts.licence.notice} The texts keep the licence of their source."
    texts = parts.markdown(facts.text_licence)
    return (
        f"Ids, offsets, digests, labels and queries: {name}. The texts, which are not here: {texts}. Tables of "
        "quantities name what a quantity is about in the few words of the text that say so."
    )


def _citation(contents: Contents, facts: Facts) -> str:
    """BibTeX for the data, and the paper whose method made it; no year, so that the same input gives the same bytes."""
    title = re.sub(r"[{}\\]", "", parts.printable(facts.name))
    entry = [
        f"@misc{{qbench-{contents.manifest.digest},",
        f"  title = {{{title}}},",
        f"  howpublished = {{Hugging Face data set {facts.repo_id}}},",
        f"  note = {{made by qbench {contents.manifest.version}, digest {contents.manifest.digest}}}",
        "}",
    ]
    block = "\n".join("    " + line for line in entry)
    if "importer" in contents.manifest.params:
        return f"{block}\n\nCite the benchmark that it was imported from, too."
    return f"{block}\n\nThe method is that of *{METHODS[contents.kind]}*; cite the corpus, too."


def numbers(configs: Sequence[Config]) -> dict[str, Any]:
    """Rows of each configuration and split, for the manifest."""
    return {config.name: dict(config.rows) for config in configs}
