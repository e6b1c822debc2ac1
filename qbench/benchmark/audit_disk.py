"""An audit kept with the artefact that it is of: its record, the section of the card, and both in the manifest."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

from qbench.artefacts import AUDIT, CARD
from qbench.benchmark.audits import Audit, audit_of
from qbench.benchmark.card import AUDIT_TITLE, audit_section
from qbench.locks import locked
from qbench.store import file_digest, read_manifest, write_json, write_manifest, write_text


def write_audit(folder: Path, audit: Audit) -> None:
    """Keep an audit with the artefact: the record, the section of its card, and both in the manifest.

    All else in the card stays as it is, if somebody edited it too.

    Raises:
        BusyError: another process is writing there.
        InputError: the folder is no finished artefact.
    """
    with locked(folder.absolute()):
        manifest = read_manifest(folder)
        write_json(folder / AUDIT, audit.to_json())
        card = folder / CARD
        changed = [AUDIT]
        if card.is_file():
            text = with_section(card.read_text(encoding="utf-8"), audit_of(audit, manifest.digest))
            write_text(card, text)
            changed.append(CARD)
        files = {
            **manifest.files,
            **{
                name: {"bytes": (folder / name).stat().st_size, "sha256": file_digest(folder / name)}
                for name in changed
            },
        }
        write_manifest(folder, {**asdict(manifest), "files": dict(sorted(files.items()))})


def with_section(card: str, audit: Audit | None) -> str:
    """A card with the section about the audit in place of its old one, or at the end."""
    section = "\n\n".join(audit_section(audit)) + "\n"
    start = re.search(rf"^{re.escape(AUDIT_TITLE)}$", card, re.MULTILINE)
    if start is None:
        return f"{card.rstrip()}\n\n{section}"
    following = re.search(r"^## ", card[start.end() :], re.MULTILINE)
    rest = "" if following is None else "\n" + card[start.end() + following.start() :]
    return card[: start.start()] + section + rest
