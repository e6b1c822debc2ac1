"""`qbench publish`: a benchmark, pairs or descriptions as a data set of the hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qbench.cli.from_options import command
from qbench.cli.records import Format, FormatOption, print_table
from qbench.publishing.options import PublishOptions

if TYPE_CHECKING:
    from qbench.publishing.publish import Published

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@command(app, "publish")
def publish(
    artefact: Annotated[Path, typer.Argument(metavar="FOLDER", help="A benchmark, pairs or descriptions.")],
    options: PublishOptions,
    without_text: Annotated[
        bool,
        typer.Option(
            "--without-text", help="Publish ids, offsets, labels and digests, and no text of the corpus (--source)."
        ),
    ] = False,
    private: Annotated[bool, typer.Option("--private", help="Make the data set private.")] = False,
    revision: Annotated[
        str | None, typer.Option(metavar="TAG", help="A name for this state of the data set: v1.0.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Prepare the folder, print its size, and send nothing.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the prepared files. [default: qbench-publish/FOLDER's name]"),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what else the data set holds; its history keeps it.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Download every file afterwards, and compare it with what was sent.")
    ] = False,
    output_format: FormatOption = "text",
) -> None:
    """Publish as Parquet in the layout of datasets, MTEB and sentence-transformers, with a card.

    All files arrive in one commit, or none does; afterwards the digests that the hub lists are compared. An interrupted
    upload resumes. The token is the one that `hf auth login` keeps, or HF_TOKEN.

    Example: qbench publish bench/ --repo-id me/news-quantities --licence cc-by-4.0 --revision v1.0
    """
    from qbench.cli import console
    from qbench.errors import OptionError
    from qbench.publishing.publish import publish as run

    if without_text != (options.source is not None):
        raise OptionError(
            "--without-text and --source CORPUS belong together",
            remedy="The corpus is needed to find where its texts stand; it is not sent",
        )
    with console.progress("publish") as progress:
        done = run(
            artefact,
            output or Path("qbench-publish") / artefact.resolve().name,
            options,
            private=private,
            tag=revision,
            overwrite=overwrite,
            dry_run=dry_run,
            verify=verify,
            progress=progress,
        )
    _report(done, revision, output_format)


def _report(done: Published, tag: str | None, output_format: Format) -> None:
    from qbench.cli.console import note

    params = done.manifest.params
    tables = done.manifest.counts
    lines = [
        f"{config:<14} " + ", ".join(f"{split} {number:,}" for split, number in splits.items())
        for config, splits in tables.items()
    ]
    lines += [f"{'made with':<14} {', '.join(params['made_with'])}"] if params.get("made_with") else []
    size = sum(done.files.values())
    texts = "" if params["text_licence"] is None else f", without the texts ({params['text_licence']})"
    lines.append(f"{len(done.files):,} files, {size:,} bytes, licence {params['licence']}{texts}")
    if done.commit:
        named = f", tag {tag}" if tag else ""
        seen = "private" if done.private else "public"
        compared = "downloaded and equal" if done.verified else "digests equal"
        lines.append(f"{params['repo_id']}: commit {done.commit}{named}, {seen}, {compared}")
    rows = (
        {"config": config, "split": split, "rows": number, "commit": done.commit}
        for config, splits in tables.items()
        for split, number in splits.items()
    )
    print_table(lines, rows, output_format)
    if not done.commit:
        note(f"Nothing was sent. What would be is in {done.folder}; look at its README.md")
    elif not done.new:
        note("The data set holds all of it already")
