"""`qbench pull`: a published data set, back as the artefact that it was."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qbench.cli.options import Overwrite

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def pull(
    name: Annotated[
        str, typer.Argument(metavar="OWNER/NAME", help="A data set that qbench published, or the folder that was sent.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The artefact's folder.")],
    revision: Annotated[
        str | None, typer.Option(metavar="TAG", help="A tag, branch or commit. [default: the newest state]")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="CORPUS",
            help="Where the texts were not published: your copy of the corpus, as for `qbench build-index`. Every text "
            "is compared with its digest.",
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Bring a published benchmark, pairs or descriptions back, the same bytes.

    Published files that a benchmark was made with are written to FOLDER.made-with beside it.

    An interrupted call resumes. Private data sets need the token of `hf auth login` or HF_TOKEN.

    Example: qbench pull me/news-quantities -o bench --revision v1.0
    """
    from qbench.cli import console
    from qbench.publishing.pull import beside
    from qbench.publishing.pull import pull as run
    from qbench.store import read_manifest

    with console.progress("pull") as progress:
        folder = run(name, output, revision=revision, source=source, overwrite=overwrite, progress=progress)
    manifest = read_manifest(folder)
    console.out().print(f"{folder}: {manifest.kind}, digest {manifest.digest}", markup=False)
    if beside(folder).is_dir():
        console.note(f"What it was made with is in {beside(folder)}; its card says how to use that")
