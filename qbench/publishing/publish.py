"""Publishing: prepare a folder, see what the hub has, send, commit once, tag, load back."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import OptionError, ServerError
from qbench.progress import Progress, silent
from qbench.publishing.hub import KEPT, ChangedError, Hub, Remote, check_names, same_file
from qbench.publishing.prepare import KIND, PublishOptions, prepare
from qbench.store import MANIFEST, Manifest, file_digest, locked

_NAMED = 5
"""Files that an error names."""


@dataclass(frozen=True)
class Published:
    """What was published.

    Attributes:
        folder: what was uploaded.
        manifest: the publication's.
        files: path -> bytes.
        commit: where it is; "" where nothing was sent.
        new: whether something had to be committed.
        private: whether only some may see it.
    """

    folder: Path
    manifest: Manifest
    files: Mapping[str, int]
    commit: str = ""
    new: bool = False
    private: bool = False


def publish(
    artefact: str | Path,
    output: str | Path,
    options: PublishOptions,
    *,
    private: bool = False,
    tag: str | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    hub: Hub | None = None,
    progress: Progress = silent,
) -> Published:
    """Publish a benchmark, pairs or descriptions as a data set of the hub.

    The data set is made if it is not there; then all files arrive in one commit, or none does. A call that was
    interrupted goes on when it is made again: files that arrived are not sent twice. At the end the data set is loaded
    back and compared, file by file, whether or not something was new.

    Args:
        artefact: the folder.
        output: the folder in which what is uploaded is prepared.
        options: name, licence, texts, picture.
        private: make a data set that others do not see.
        tag: a name for this state of it.
        overwrite: replace what else is in the data set.
        dry_run: prepare the folder, and send nothing.
        hub: where to; the hub that huggingface_hub is set up for by default.
        progress: told how far checks, texts and upload are.

    Raises:
        InputError: the artefact cannot be used.
        OptionError: licence, name, tag or token will not do; or the data set holds something else.
        BusyError: another process is preparing or uploading this.
        ChangedError: somebody else has written to the data set meanwhile.
        ServerError: the hub refuses, cannot be asked, or gives back something else than was sent.
        MissingPackageError: the picture needs matplotlib.
    """
    check_names(options.repo_id, tag)
    folder = Path(output)
    if not dry_run:
        hub = hub or Hub()
        hub.need_token()
    manifest = prepare(Path(artefact), folder, options, progress)
    files = {name: int(seen["bytes"]) for name, seen in manifest.files.items()}
    files[MANIFEST] = (folder / MANIFEST).stat().st_size
    if hub is None or dry_run:
        return Published(folder, manifest, files)
    with locked(folder):
        remote, made = _room(hub, options.repo_id, manifest, private=private, overwrite=overwrite, tag=tag)
        with _told_if_empty(remote, options.repo_id, made):
            commit, new = _upload(hub, options.repo_id, folder, manifest, remote, progress)
        # Also where nothing was new: an earlier call may have failed between its commit and this.
        _load_back(hub, options.repo_id, commit, folder, manifest, progress)
        if tag is not None and remote.tags.get(tag) != commit:
            _tag(hub, options.repo_id, tag, commit)
    return Published(folder, manifest, files, commit, new, remote.private)


def _tag(hub: Hub, repo_id: str, tag: str, commit: str) -> None:
    hub.tag(repo_id, tag, commit)
    again = hub.look(repo_id)
    if again is None or again.tags.get(tag) != commit:
        # A tag that somebody else made meanwhile is accepted as if it were ours.
        raise ChangedError("somebody else has made this tag meanwhile", file=repo_id, value=tag)


@contextmanager
def _told_if_empty(remote: Remote, repo_id: str, made: bool) -> Iterator[None]:
    """Where the block fails, say that there is a data set without files now, if this call has made it.

    It is not deleted: files that arrived wait there for the next attempt, and somebody else may have written to it.
    """
    try:
        yield
    except ServerError as fault:
        if made and not isinstance(fault, ChangedError):
            seen = "private" if remote.private else "public"
            empty = f"{repo_id} is there now, {seen} and empty: the same command fills it, or delete it on the hub"
            fault.remedy = ". ".join(filter(None, (fault.remedy, empty)))
        raise


def _room(
    hub: Hub, repo_id: str, manifest: Manifest, *, private: bool, overwrite: bool, tag: str | None
) -> tuple[Remote, bool]:
    """The data set to write to: made if it is not there (then True), and refused where it holds something else."""
    remote = hub.look(repo_id)
    made = remote is None
    if remote is None:
        hub.create(repo_id, private)
        remote = hub.look(repo_id)
        if remote is None:
            raise ServerError("the hub made the data set, and does not show it", file=repo_id)
    if private and not remote.private:
        raise OptionError(
            "the data set is there already, and public", file=repo_id, remedy="Make it private on the hub first"
        )
    if not overwrite and not _is_ours(remote, manifest):
        raise OptionError(
            f"the data set holds {_told(remote)}",
            file=repo_id,
            remedy="Choose another name, or replace it with --overwrite: earlier revisions stay in its history",
        )
    at = remote.tags.get(tag or "")
    if at is not None and not (at == remote.commit and remote.manifest.get("digest") == manifest.digest):
        raise OptionError(
            "the data set has this tag already, for another revision",
            file=repo_id,
            value=tag,
            remedy="Choose another tag",
        )
    return remote, made


def _is_ours(remote: Remote, manifest: Manifest) -> bool:
    """Whether the data set is empty, or an earlier revision of the same artefact."""
    if not set(remote.files) - set(KEPT):
        return True
    held = _params(remote)
    same = ("artefact", "artefact_digest")
    return remote.manifest.get("kind") == KIND and all(held.get(name) == manifest.params[name] for name in same)


def _told(remote: Remote) -> str:
    """What a data set holds, for a person."""
    held = _params(remote)
    if remote.manifest.get("kind") == KIND and held.get("artefact"):
        return (
            f"other {held['artefact']}: {str(held.get('name'))[:80]!r}, digest {held.get('artefact_digest')}, "
            f"published by qbench {remote.manifest.get('version')}"
        )
    names = sorted(set(remote.files) - set(KEPT))
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{len(names):,} files that qbench did not publish: {', '.join(names[:_NAMED])}{more}"


def _params(remote: Remote) -> Mapping[str, Any]:
    params = remote.manifest.get("params")
    return params if isinstance(params, dict) else {}


def _upload(
    hub: Hub, repo_id: str, folder: Path, manifest: Manifest, remote: Remote, progress: Progress
) -> tuple[str, bool]:
    """Send what the data set lacks, and commit; gives the commit, and whether it is new."""
    paths = [*manifest.files, MANIFEST]
    missing = _missing(folder, paths, remote)
    gone = set(remote.files) - set(paths) - set(KEPT)
    held = remote.manifest.get("files")
    if _is_ours(remote, manifest) and isinstance(held, dict):
        gone &= set(held)  # what the owner has added on the hub stays
    if not missing and not gone:
        return remote.commit, False
    additions = hub.send(repo_id, folder, missing, progress)
    message = f"{manifest.params['artefact']} {manifest.params['name']}, digest {manifest.params['artefact_digest']}"

    def once() -> str:
        return hub.commit(repo_id, additions, gone, remote.commit, message)

    return _committed(once, hub, repo_id, folder, paths), True


def _committed(commit: Callable[[], str], hub: Hub, repo_id: str, folder: Path, paths: list[str]) -> str:
    """Commit; where the answer is lost, look whether the commit is there."""
    try:
        return commit()
    except ChangedError:
        found = hub.look(repo_id)
        if found is not None and not _missing(folder, paths, found):
            return found.commit  # the first attempt got through, and its answer did not
        raise
    except ServerError:
        found = hub.look(repo_id)
        if found is not None and not _missing(folder, paths, found):
            return found.commit
        return commit()


def _missing(folder: Path, paths: list[str], remote: Remote) -> list[str]:
    """The files that the data set lacks, or has otherwise."""
    return [path for path in paths if path not in remote.files or not same_file(folder / path, remote.files[path])]


def _load_back(hub: Hub, repo_id: str, commit: str, folder: Path, manifest: Manifest, progress: Progress) -> None:
    """Download what was published, and compare each file with what was sent."""
    with tempfile.TemporaryDirectory(prefix=".loaded-back-", dir=folder.absolute().parent) as scratch:
        got = Path(scratch)
        hub.fetch(repo_id, commit, got, [*manifest.files, MANIFEST], progress)
        for path in (*manifest.files, MANIFEST):
            if not (got / path).is_file() or file_digest(got / path) != file_digest(folder / path):
                raise ServerError(
                    "the hub gives back another file than was sent",
                    file=f"{repo_id}/{path}",
                    remedy="Run the same command again",
                )
