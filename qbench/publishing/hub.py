"""The hub of data sets, through huggingface_hub: its listing, one commit, a tag, downloads.

huggingface_hub repeats uploads and downloads that break off, sends nothing twice and guards a commit with its parent.
It does not repeat single calls (`dataset_info`, `create_repo`, `create_commit`, `create_tag`): this is done here. Its
`upload_folder` makes several commits if Xet is installed, so that `create_commit` is used. Errors are one line, and
do not hold the token.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from qbench.errors import InputError, OptionError, QbenchError, ServerError, shorten
from qbench.progress import Progress, silent
from qbench.store import MANIFEST, file_digest, read_json

if TYPE_CHECKING:
    from huggingface_hub import HfApi

T = TypeVar("T")

HUB_FILES = (".gitattributes",)
"""Files that the hub makes itself."""

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_NO_XET = re.compile(r"\b404\b.*/xet-(?:write|read)-token\b", re.DOTALL)
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_REFUSALS = {
    401: ("the hub does not accept the token", "Log in again with `hf auth login`, or set HF_TOKEN"),
    403: ("this token lacks the permission", "Use one that may write to the owner's data sets"),
    404: ("the hub has no such data set, or shows it to others only", ""),
    412: (
        "somebody else wrote to the data set while this was uploaded, and nothing was changed",
        "Run the same command again: it looks at the newest state, and sends no file twice",
    ),
}
"""HTTP status -> message and remedy."""


class ChangedError(ServerError):
    """Somebody else has written to the repository in the meantime."""


@dataclass(frozen=True)
class Remote:
    """A data set on the hub at one commit.

    Attributes:
        commit: id of the commit.
        private: whether only some may see it.
        files: path -> SHA-256 for large files, git's object id for others.
        manifest: that of the publication, or {} if there is none.
    """

    commit: str
    private: bool
    files: Mapping[str, str]
    manifest: Mapping[str, Any]

    def lacks(self, folder: Path, paths: Iterable[str]) -> list[str]:
        """The files of a local folder that the data set does not have, or has with other content."""
        return [path for path in paths if path not in self.files or not same_file(folder / path, self.files[path])]


@dataclass
class Hub:
    """A connection to the hub.

    Attributes:
        endpoint: address of the hub; None for huggingface_hub's own (HF_ENDPOINT).
        token: None for the one of `hf auth login` or HF_TOKEN.
        waits: seconds before each further attempt of a call that huggingface_hub does not repeat.
    """

    endpoint: str | None = None
    token: str | None = field(default=None, repr=False)
    waits: Sequence[float] = (1.0, 4.0, 15.0)

    def __post_init__(self) -> None:
        from huggingface_hub import HfApi, get_token

        self.token = self.token or get_token()
        self._api: HfApi = HfApi(endpoint=self.endpoint, token=self.token or False, library_name="qbench")

    def require_token(self) -> None:
        """Refuse to continue without a token.

        Raises:
            OptionError: there is none.
        """
        if not self.token:
            raise OptionError(
                "publishing needs a token of the hub",
                remedy="Log in with `hf auth login`, or set HF_TOKEN to a token that may write",
            )

    def look(self, repo_id: str, revision: str | None = None) -> Remote | None:
        """The state of a data set; None if there is no such data set, or none that this token may see.

        Args:
            repo_id: OWNER/NAME.
            revision: a branch, tag or commit; the main branch by default.

        Raises:
            InputError: the data set has no such revision.
            ServerError: the hub cannot be asked.
        """
        return self._call(self._listing, repo_id, revision)

    def _listing(self, repo_id: str, revision: str | None) -> Remote | None:
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
        from huggingface_hub.hf_api import RepoFile

        try:
            info = self._api.dataset_info(repo_id, revision=revision)
        except RepositoryNotFoundError as error:
            if _status(error) == 401 and self.token:
                raise  # the hub says the same of a token that it does not know
            return None
        except RevisionNotFoundError:
            raise InputError("the data set has no such revision", file=repo_id, value=revision) from None
        entries = self._api.list_repo_tree(repo_id, repo_type="dataset", revision=info.sha, recursive=True)
        files = {e.path: e.lfs.sha256 if e.lfs else e.blob_id for e in entries if isinstance(e, RepoFile)}
        manifest = None
        if MANIFEST in files:
            with tempfile.TemporaryDirectory() as scratch, suppress(InputError):  # not JSON: not one of qbench's
                options: dict[str, Any] = {"repo_type": "dataset", "revision": info.sha, "local_dir": scratch}
                manifest = read_json(Path(self._api.hf_hub_download(repo_id, MANIFEST, **options)))
        return Remote(str(info.sha), bool(info.private), files, manifest if isinstance(manifest, dict) else {})

    def create(self, repo_id: str, private: bool) -> None:
        """Make a data set, unless it exists.

        Raises:
            ServerError: the hub refuses, or cannot be asked.
        """
        self._call(self._api.create_repo, repo_id, repo_type="dataset", private=private, exist_ok=True)

    def commit(
        self,
        repo_id: str,
        folder: Path,
        paths: Sequence[str],
        deleted: Iterable[str],
        parent: str,
        message: str,
        progress: Progress = silent,
    ) -> str:
        """Upload files and make one commit of them: it holds all of them, or there is none.

        Args:
            repo_id: OWNER/NAME.
            folder, paths: the files to add; content that the hub has already is not sent again.
            deleted: paths to delete.
            parent: the commit that the changes refer to.
            message: of the commit.
            progress: called with the bytes uploaded, after each file.

        Returns:
            the id of the new commit.

        Raises:
            ChangedError: `parent` is not the newest commit any more.
            ServerError: the hub refuses, or cannot be asked; uploaded files need not be sent again.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        sizes = [(folder / path).stat().st_size for path in paths]
        additions = [CommitOperationAdd(path_in_repo=path, path_or_fileobj=folder / path) for path in paths]
        for number, addition in enumerate(additions):
            progress(sum(sizes[:number]), sum(sizes), addition.path_in_repo)
            self._call(self._api.preupload_lfs_files, repo_id, [addition], repo_type="dataset")
        progress(sum(sizes), sum(sizes), "uploaded")
        deletions = [CommitOperationDelete(path_in_repo=path, is_folder=False) for path in sorted(deleted)]
        options = {"repo_type": "dataset", "commit_message": message, "parent_commit": parent}
        return str(self._call(self._api.create_commit, repo_id, [*additions, *deletions], **options).oid)

    def tagged(self, repo_id: str, tag: str) -> str | None:
        """The commit with this tag; None if there is no such tag.

        Raises:
            ServerError: the hub cannot be asked.
        """
        refs = self._call(self._api.list_repo_refs, repo_id, repo_type="dataset")
        return next((ref.target_commit for ref in refs.tags if ref.name == tag), None)

    def tag(self, repo_id: str, tag: str, commit: str) -> None:
        """Name a commit.

        Raises:
            ChangedError: the tag names another commit.
            ServerError: the hub refuses, or cannot be asked.
        """
        self._call(self._api.create_tag, repo_id, tag=tag, revision=commit, repo_type="dataset", exist_ok=True)
        if self.tagged(repo_id, tag) != commit:
            raise ChangedError("somebody else has made this tag meanwhile", file=repo_id, value=tag)

    def fetch(self, repo_id: str, commit: str, folder: Path, paths: Sequence[str], progress: Progress = silent) -> None:
        """Download files of a commit into a folder; complete files are not downloaded again.

        Args:
            repo_id: OWNER/NAME.
            commit: id of the commit.
            folder: where the files are written.
            paths: the files.
            progress: called with the number of files that are complete.

        Raises:
            ServerError: the hub refuses, or cannot be asked.
        """
        for done, path in enumerate(paths):
            progress(done, len(paths), f"fetching {path}")
            download = self._api.hf_hub_download
            self._call(download, repo_id, path, repo_type="dataset", revision=commit, local_dir=folder)

    def _call(self, function: Callable[..., T], repo_id: str, *args: Any, **kwargs: Any) -> T:
        """Call a function until it succeeds, while its error is one that may pass."""
        for wait in (*self.waits, None):
            try:
                with _no_progress_bars():
                    return function(repo_id, *args, **kwargs)
            except QbenchError:
                raise
            except Exception as error:
                if isinstance(error, OSError) and error.errno and not isinstance(error, ConnectionError | TimeoutError):
                    raise  # an error of this machine, a full disk for instance
                if wait is None or not _may_pass(error):
                    path = str(args[0]) if function == self._api.hf_hub_download else ""
                    raise _readable(error, repo_id, path, self.token) from None
                time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover


def check_names(repo_id: str, tag: str | None) -> None:
    """Refuse names that the hub would refuse, before any work.

    Raises:
        OptionError: a name is not valid.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    try:
        validate_repo_id(repo_id)
        valid = re.fullmatch(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", repo_id) is not None
    except HFValidationError:
        valid = False
    if not valid:
        raise OptionError(
            "not a name of a data set on the hub",
            value=repo_id,
            remedy="Write OWNER/NAME, of letters, digits, . _ and -",
        )
    if tag is not None and (not _TAG.fullmatch(tag) or tag == "main" or ".." in tag or tag.endswith((".", ".lock"))):
        raise OptionError("not a name of a revision", value=tag, remedy="Letters, digits, . _ + and -, as in v1.0")


def same_file(path: Path, remote: str) -> bool:
    """Whether a file has the digest that the hub lists: SHA-256 for large files, git's object id for others."""
    if len(remote) != 40:
        return file_digest(path) == remote[:16]
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == remote


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _status(error: BaseException) -> int | None:
    """The HTTP status of an error or of its causes."""
    statuses = (getattr(getattr(cause, "response", None), "status_code", None) for cause in _chain(error))
    return next((status for status in statuses if isinstance(status, int)), None)


def _may_pass(error: BaseException) -> bool:
    """Whether another attempt makes sense: too many requests, an error of the server, a broken connection."""
    import httpx2

    status = _status(error)
    if status is not None or _lacks_xet(error):
        return status in _PASSING
    return any(isinstance(cause, httpx2.TransportError | ConnectionError | TimeoutError) for cause in _chain(error))


def _lacks_xet(error: BaseException) -> bool:
    """Whether a hub does not know Xet, which huggingface_hub reports only in words, as a broken connection."""
    return any(_NO_XET.search(str(cause)) for cause in _chain(error))


def _readable(error: BaseException, repo_id: str, path: str, token: str | None) -> ServerError:
    """The error of huggingface_hub in one line."""
    from huggingface_hub.errors import RepositoryNotFoundError

    status = _status(error)
    if _lacks_xet(error):
        return ServerError(
            "this hub has no Xet storage, to which huggingface_hub sends large files",
            file=repo_id,
            remedy="Set HF_HUB_DISABLE_XET=1, and run the same command again",
        )
    if status == 404 and path and not any(isinstance(cause, RepositoryNotFoundError) for cause in _chain(error)):
        return ServerError(
            "the hub does not have this file (404)",
            file=f"{repo_id}/{path}",
            remedy="Run the same command again; if it stays so, look at the data set on the hub",
        )
    if status in _REFUSALS:
        message, remedy = _REFUSALS[status]
        return (ChangedError if status == 412 else ServerError)(message, file=repo_id, remedy=remedy)
    # The server's own words, or else the first line of the error.
    words = next((str(said) for cause in _chain(error) if (said := getattr(cause, "server_message", None))), None)
    words = words or next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    words = re.sub(r"hf_[A-Za-z0-9]{6,}", "hf_...", words)
    value = shorten(words.replace(token, "...") if token else words, 200)
    if _may_pass(error):
        message = f"the hub answers {status}" if status else "the hub cannot be reached, or the connection broke"
        remedy = "Run the same command again: files that arrived are not sent again"
        return ServerError(message, file=repo_id, value=value, remedy=remedy)
    return ServerError("the hub refuses" + (f" ({status})" if status else ""), file=repo_id, value=value)


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Switch huggingface_hub's progress bars off until the block ends, because qbench shows its own."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    before = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not before:
            enable_progress_bars()
