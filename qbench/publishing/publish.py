"""Publishing: prepare a folder, compare it with the hub, commit once, tag."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qbench.errors import OptionError, ServerError
from qbench.locks import locked
from qbench.progress import Progress, silent
from qbench.publishing.hub import HUB_FILES, ChangedError, Hub, Remote, check_names
from qbench.publishing.options import PublishOptions
from qbench.publishing.prepare import KIND, prepare
from qbench.store import MANIFEST, Manifest, file_digest

_NAMED = 5
"""Files that an error names."""


@dataclass(frozen=True)
class Published:
    """A publication.

    Attributes:
        folder: the uploaded folder.
        manifest: that of the publication.
        files: path -> bytes.
        commit: id of the commit; "" if nothing was sent.
        new: whether a commit was necessary.
        private: whether only some may see it.
        verified: whether every file was downloaded and compared.
    """

    folder: Path
    manifest: Manifest
    files: Mapping[str, int]
    commit: str = ""
    new: bool = False
    private: bool = False
    verified: bool = False


def publish(
    artefact: str | Path,
    output: str | Path,
    options: PublishOptions,
    *,
    private: bool = False,
    tag: str | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    verify: bool = False,
    hub: Hub | None = None,
    progress: Progress = silent,
) -> Published:
    """Publish a benchmark, pairs or descriptions as a data set of the hub.

    A data set that does not exist is created; then all files arrive in one commit, or none does. A call that was
    interrupted continues when it is repeated: files that arrived are not sent twice. After the commit, the digests that
    the hub lists are compared with those of the files.

    Args:
        artefact: the folder.
        output: the folder to upload, which is prepared first.
        options: name, licence, texts, picture.
        private: create a data set that others do not see.
        tag: a name for the revision.
        overwrite: replace another artefact or other files in the data set.
        dry_run: prepare the folder, and send nothing.
        verify: download every file afterwards, and compare it.
        hub: the hub; by default the one that huggingface_hub is configured for.
        progress: called during checks, texts and upload.

    Raises:
        InputError: the artefact cannot be used.
        OptionError: licence, name, tag or token is refused; or the data set holds something else.
        BusyError: another process is preparing or uploading this.
        ChangedError: somebody else has written to the data set meanwhile.
        ServerError: the hub refuses, cannot be asked, or has another file than was sent.
        MissingPackageError: the picture needs matplotlib.
    """
    check_names(options.repo_id, tag)
    folder = Path(output)
    if not dry_run:
        hub = hub or Hub()
        hub.require_token()
    manifest = prepare(Path(artefact), folder, options, progress)
    files = {name: int(seen["bytes"]) for name, seen in manifest.files.items()}
    files[MANIFEST] = (folder / MANIFEST).stat().st_size
    if hub is None or dry_run:
        return Published(folder, manifest, files)
    with locked(folder):
        remote, created = _repository(hub, options.repo_id, manifest, private=private, overwrite=overwrite, tag=tag)
        with _mentioning_empty(remote, options.repo_id, created):
            commit = _upload(hub, options.repo_id, folder, manifest, remote, progress)
        _compare(hub, options.repo_id, commit, folder, manifest, progress if verify else None)
        if tag is not None:
            hub.tag(options.repo_id, tag, commit)
    return Published(folder, manifest, files, commit, commit != remote.commit, remote.private, verify)


@contextmanager
def _mentioning_empty(remote: Remote, repo_id: str, created: bool) -> Iterator[None]:
    """Mention in errors of the block that there is an empty data set now, if this call created it.

    It is not deleted: uploaded files wait there for the next attempt, and somebody else may have written to it.
    """
    try:
        yield
    except ServerError as error:
        if created and not isinstance(error, ChangedError):
            seen = "private" if remote.private else "public"
            empty = f"{repo_id} is there now, {seen} and empty: the same command fills it, or delete it on the hub"
            error.remedy = ". ".join(filter(None, (error.remedy, empty)))
        raise


def _repository(
    hub: Hub, repo_id: str, manifest: Manifest, *, private: bool, overwrite: bool, tag: str | None
) -> tuple[Remote, bool]:
    """The data set to write to, and whether this call created it; refused if it holds something else."""
    remote = hub.look(repo_id)
    created = remote is None
    if remote is None:
        hub.create(repo_id, private)
        remote = hub.look(repo_id)
        if remote is None:
            raise ServerError("the hub created the data set, but does not list it", file=repo_id)
    if private and not remote.private:
        raise OptionError(
            "the data set is there already, and public", file=repo_id, remedy="Make it private on the hub first"
        )
    if not overwrite and not _is_ours(remote, manifest):
        raise OptionError(
            f"the data set holds {_summary(remote)}",
            file=repo_id,
            remedy="Choose another name, or replace it with --overwrite: earlier revisions stay in its history",
        )
    tagged = None if tag is None else hub.tagged(repo_id, tag)
    if tagged is not None and not (tagged == remote.commit and remote.manifest.get("digest") == manifest.digest):
        raise OptionError(
            "the data set has this tag already, for another revision",
            file=repo_id,
            value=tag,
            remedy="Choose another tag",
        )
    return remote, created


def _is_ours(remote: Remote, manifest: Manifest) -> bool:
    """Whether the data set is empty, or an earlier revision of the same artefact."""
    if not set(remote.files) - set(HUB_FILES):
        return True
    held = _params(remote)
    same = ("artefact", "artefact_digest")
    return remote.manifest.get("kind") == KIND and all(held.get(name) == manifest.params[name] for name in same)


def _summary(remote: Remote) -> str:
    """The content of a data set, in words."""
    held = _params(remote)
    if remote.manifest.get("kind") == KIND and held.get("artefact"):
        return (
            f"other {held['artefact']}: {str(held.get('name'))[:80]!r}, digest {held.get('artefact_digest')}, "
            f"published by qbench {remote.manifest.get('version')}"
        )
    names = sorted(set(remote.files) - set(HUB_FILES))
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{len(names):,} files that qbench did not publish: {', '.join(names[:_NAMED])}{more}"


def _params(remote: Remote) -> Mapping[str, Any]:
    params = remote.manifest.get("params")
    return params if isinstance(params, dict) else {}


def _upload(hub: Hub, repo_id: str, folder: Path, manifest: Manifest, remote: Remote, progress: Progress) -> str:
    """Upload and commit the files that the data set lacks; returns the commit, that of `remote` if nothing is new."""
    paths = [*manifest.files, MANIFEST]
    missing = remote.lacks(folder, paths)
    extra = set(remote.files) - set(paths) - set(HUB_FILES)
    published = remote.manifest.get("files")
    if _is_ours(remote, manifest) and isinstance(published, dict):
        extra &= set(published)  # files that the owner has added on the hub stay
    if not missing and not extra:
        return remote.commit
    message = f"{manifest.params['artefact']} {manifest.params['name']}, digest {manifest.params['artefact_digest']}"
    try:
        return hub.commit(repo_id, folder, missing, extra, remote.commit, message, progress)
    except ChangedError:
        # Perhaps by this very call: a commit whose answer is lost is sent again.
        newest = hub.look(repo_id)
        if newest is None or newest.lacks(folder, paths):
            raise
        return newest.commit


def _compare(hub: Hub, repo_id: str, commit: str, folder: Path, manifest: Manifest, verify: Progress | None) -> None:
    """Compare the digests that the hub lists with the files; or, called with a progress, the files themselves."""
    paths = [*manifest.files, MANIFEST]
    if verify is None:
        listed = hub.look(repo_id, commit)
        wrong = paths if listed is None else listed.lacks(folder, paths)
    else:
        with tempfile.TemporaryDirectory(prefix=".downloaded-", dir=folder.absolute().parent) as scratch:
            hub.fetch(repo_id, commit, Path(scratch), paths, verify)
            wrong = [path for path in paths if file_digest(Path(scratch) / path) != file_digest(folder / path)]
    if wrong:
        raise ServerError(
            "the hub has another file than was sent", file=f"{repo_id}/{wrong[0]}", remedy="Run the same command again"
        )
