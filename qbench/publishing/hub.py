"""The hub of data sets, through huggingface_hub: what is there, one commit, a tag, and back.

Errors are told in a line, without the token. What the library does not try again by itself is tried again here.
"""

from __future__ import annotations

import re
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from qbench.errors import InputError, OptionError, QbenchError, ServerError, shorten
from qbench.progress import Progress, silent
from qbench.store import MANIFEST, file_digest, read_json

if TYPE_CHECKING:
    from huggingface_hub import HfApi

T = TypeVar("T")

KEPT = (".gitattributes",)
"""Files that the hub makes itself."""

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_WAIT = 60.0
_NO_XET = re.compile(r"\b404\b.*/xet-(?:write|read)-token\b", re.DOTALL)
_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


class ChangedError(ServerError):
    """Somebody else has written to the repository since it was looked at."""


@dataclass(frozen=True)
class Remote:
    """A data set on the hub at one commit.

    Attributes:
        commit: its id.
        private: whether only some may see it.
        files: path -> SHA-256 for large files, git's object id for others.
        manifest: the publication's, or {} where there is none.
        tags: name -> commit.
    """

    commit: str
    private: bool
    files: Mapping[str, str]
    manifest: Mapping[str, Any]
    tags: Mapping[str, str]


@dataclass
class Hub:
    """A connection to the hub.

    Attributes:
        endpoint: its address; None for huggingface_hub's own (HF_ENDPOINT).
        token: None for the one that `hf auth login` or HF_TOKEN gives.
        waits: seconds before each further attempt.
    """

    endpoint: str | None = None
    token: str | None = field(default=None, repr=False)
    waits: Sequence[float] = (1.0, 4.0, 15.0)

    def __post_init__(self) -> None:
        from huggingface_hub import HfApi, get_token

        self.token = self.token or get_token()
        self._api: HfApi = HfApi(endpoint=self.endpoint, token=self.token or False, library_name="qbench")

    @property
    def address(self) -> str:
        """Where it is."""
        return str(self._api.endpoint)

    def need_token(self) -> None:
        """Refuse to go on without a token.

        Raises:
            OptionError: there is none.
        """
        if not self.token:
            raise OptionError(
                "the hub takes nothing without a token",
                remedy="Log in with `hf auth login`, or set HF_TOKEN to a token that may write",
            )

    def look(self, repo_id: str, revision: str | None = None) -> Remote | None:
        """What is there; None where there is no such data set (or none that this token may see).

        Args:
            repo_id: OWNER/NAME.
            revision: a branch, tag or commit; the main branch by default.

        Raises:
            InputError: the data set has no such revision.
            ServerError: the hub cannot be asked.
        """
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError
        from huggingface_hub.hf_api import RepoFile

        def ask() -> Remote | None:
            try:
                info = self._api.dataset_info(repo_id, revision=revision)
            except RepositoryNotFoundError as fault:
                if _status(fault) == 401 and self.token:
                    raise  # the hub says the same of a token that it does not know
                return None
            except RevisionNotFoundError:
                raise InputError("the data set has no such revision", file=repo_id, value=revision) from None
            entries = self._api.list_repo_tree(repo_id, repo_type="dataset", revision=info.sha, recursive=True)
            files = {
                one.path: one.lfs.sha256 if one.lfs else one.blob_id for one in entries if isinstance(one, RepoFile)
            }
            refs = self._api.list_repo_refs(repo_id, repo_type="dataset")
            manifest = self._manifest(repo_id, str(info.sha)) if MANIFEST in files else {}
            tags = {tag.name: tag.target_commit for tag in refs.tags}
            return Remote(str(info.sha), bool(info.private), files, manifest, tags)

        return self._patiently(ask, repo_id)

    def create(self, repo_id: str, private: bool) -> None:
        """Make a data set, unless it is there.

        Raises:
            ServerError: the hub refuses, or cannot be asked.
        """
        self._patiently(
            lambda: self._api.create_repo(repo_id, repo_type="dataset", private=private, exist_ok=True), repo_id
        )

    def send(self, repo_id: str, folder: Path, paths: Sequence[str], progress: Progress = silent) -> list[Any]:
        """Upload files, without committing them; those that the hub has already are not sent again.

        Args:
            repo_id: OWNER/NAME.
            folder, paths: which files.
            progress: told of the bytes that are there, after each file.

        Returns:
            what `commit` takes.

        Raises:
            ServerError: the hub refuses, or cannot be asked; what was sent stays sent.
        """
        from huggingface_hub import CommitOperationAdd

        sizes = [(folder / path).stat().st_size for path in paths]
        done, total, made = 0, sum(sizes), []
        for path, size in zip(paths, sizes, strict=True):
            progress(done, total, path)
            one = CommitOperationAdd(path_in_repo=path, path_or_fileobj=folder / path)
            self._patiently(
                lambda one=one: self._api.preupload_lfs_files(repo_id, [one], repo_type="dataset"),  # type: ignore[misc]
                repo_id,
            )
            made.append(one)
            done += size
        progress(done, total, "uploaded")
        return made

    def commit(self, repo_id: str, additions: Sequence[Any], gone: Iterable[str], parent: str, message: str) -> str:
        """Make one commit of what was sent: all of it is there, or nothing.

        Args:
            repo_id: OWNER/NAME.
            additions: what `send` gave.
            gone: paths to delete.
            parent: the commit that was looked at; the hub refuses if another one has come since.
            message: the commit's.

        Returns:
            the new commit.

        Raises:
            ChangedError: somebody else has committed in between.
            ServerError: the hub refuses, or cannot be asked.
        """
        from huggingface_hub import CommitOperationDelete

        operations = [*additions, *(CommitOperationDelete(path_in_repo=path, is_folder=False) for path in sorted(gone))]
        with _quiet(), self._told(repo_id):
            made = self._api.create_commit(
                repo_id, operations, commit_message=message, repo_type="dataset", parent_commit=parent
            )
        return str(made.oid)

    def tag(self, repo_id: str, tag: str, commit: str) -> None:
        """Name a commit.

        Raises:
            ServerError: the hub refuses, or cannot be asked.
        """
        self._patiently(
            lambda: self._api.create_tag(repo_id, tag=tag, revision=commit, repo_type="dataset", exist_ok=True), repo_id
        )

    def fetch(self, repo_id: str, commit: str, folder: Path, paths: Sequence[str], progress: Progress = silent) -> None:
        """Download files of a commit into a folder; what is there already, whole, is not fetched again.

        Args:
            repo_id: OWNER/NAME.
            commit: a commit, so that all files are of one state.
            folder: where to.
            paths: which files.
            progress: told of the files that are there.

        Raises:
            ServerError: the hub refuses, or cannot be asked.
        """
        for done, path in enumerate(paths):
            progress(done, len(paths), f"fetching {path}")
            self._patiently(
                lambda path=path: self._api.hf_hub_download(  # type: ignore[misc]
                    repo_id, path, repo_type="dataset", revision=commit, local_dir=folder
                ),
                repo_id,
            )

    def _manifest(self, repo_id: str, commit: str) -> Mapping[str, Any]:
        import tempfile

        with tempfile.TemporaryDirectory() as scratch:
            path = self._api.hf_hub_download(
                repo_id, MANIFEST, repo_type="dataset", revision=commit, local_dir=Path(scratch)
            )
            try:
                found = read_json(Path(path))
            except InputError:
                return {}
        return found if isinstance(found, dict) else {}

    def _patiently(self, call: Callable[[], T], repo_id: str) -> T:
        """Call until it succeeds, as long as what goes wrong may pass."""
        for wait in (*self.waits, None):
            try:
                with _quiet():
                    return call()
            except QbenchError:
                raise
            except Exception as fault:
                _let_through(fault)
                if wait is None or not may_pass(fault):
                    raise _error(fault, repo_id, self.token) from None
                time.sleep(max(wait, _asked_wait(fault)))
        raise AssertionError("the last attempt returns or raises")  # pragma: no cover

    @contextmanager
    def _told(self, repo_id: str) -> Iterator[None]:
        try:
            yield
        except Exception as fault:
            _let_through(fault)
            raise _error(fault, repo_id, self.token) from None


def _let_through(fault: Exception) -> None:
    """Raise what is trouble of this machine (a full disk), and none of the hub's."""
    if (
        isinstance(fault, OSError)
        and fault.errno is not None
        and not isinstance(fault, (ConnectionError, TimeoutError))
    ):
        raise fault


def check_names(repo_id: str, tag: str | None) -> None:
    """Refuse names that the hub would refuse, before any work.

    Raises:
        OptionError: one of them makes no sense.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils._validators import validate_repo_id

    try:
        validate_repo_id(repo_id)
        plain = re.fullmatch(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+", repo_id) is not None
    except HFValidationError:
        plain = False
    if not plain:
        raise OptionError(
            "not a name of a data set on the hub",
            value=repo_id,
            remedy="Write OWNER/NAME, of letters, digits, . _ and -",
        )
    if tag is not None and (not _TAG.fullmatch(tag) or tag == "main" or ".." in tag or tag.endswith((".", ".lock"))):
        raise OptionError("not a name of a revision", value=tag, remedy="Letters, digits, . _ + and -, as in v1.0")


def git_digest(path: Path) -> str:
    """The id that git gives to a file's content, which is what the hub tells of small files."""
    import hashlib

    found = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def same_file(path: Path, remote: str) -> bool:
    """Whether a file is the one of which the hub tells this digest."""
    return git_digest(path) == remote if len(remote) == 40 else file_digest(path) == remote[:16]


def may_pass(fault: BaseException) -> bool:
    """Whether the same request may succeed a little later: too many requests, a server in trouble, a broken line."""
    if _lacks_xet(fault):
        return False
    for one in _chain(fault):
        status = _status(one)
        if status is not None:
            return status in _PASSING
        if type(one).__module__.split(".")[0] in ("httpx", "httpx2", "httpcore") or isinstance(
            one, (ConnectionError, TimeoutError)
        ):
            return True
    return False


def _lacks_xet(fault: BaseException) -> bool:
    """Whether a hub does not know Xet, which huggingface_hub tells only in words, as a broken connection."""
    return any(_NO_XET.search(str(one)) for one in _chain(fault))


def _chain(fault: BaseException) -> Iterator[BaseException]:
    """A fault and those that it came from."""
    seen: BaseException | None = fault
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _status(fault: BaseException) -> int | None:
    response = getattr(fault, "response", None)
    status = getattr(response, "status_code", None)
    return status if isinstance(status, int) else None


def _asked_wait(fault: BaseException) -> float:
    """Seconds that the server wants us to wait; 0 where it does not say."""
    for one in _chain(fault):
        headers = getattr(getattr(one, "response", None), "headers", None) or {}
        try:
            return min(_LONGEST_WAIT, max(0.0, float(headers.get("Retry-After", ""))))
        except ValueError:
            continue
    return 0.0


def _error(fault: BaseException, repo_id: str, token: str | None) -> QbenchError:
    """What happened, for a person."""
    status = next((found for one in _chain(fault) if (found := _status(one)) is not None), None)
    if isinstance(fault, QbenchError):
        return fault
    if _lacks_xet(fault):
        return ServerError(
            "this hub has no Xet storage, to which huggingface_hub sends large files",
            file=repo_id,
            remedy="Set HF_HUB_DISABLE_XET=1, and run the same command again",
        )
    if status == 401:
        return ServerError(
            "the hub does not accept the token",
            file=repo_id,
            remedy="Log in again with `hf auth login`, or set HF_TOKEN",
        )
    if status == 403:
        return ServerError(
            "this token may not do that", file=repo_id, remedy="Use one that may write to the owner's data sets"
        )
    if status == 404:
        if (path := _file_asked_for(fault)) is not None:
            return ServerError(
                "the hub does not give this file (404)",
                file=f"{repo_id}/{path}",
                remedy="Run the same command again; if it stays so, look at the data set on the hub",
            )
        return ServerError("the hub has no such data set, or shows it to others only", file=repo_id)
    if status == 412:
        return ChangedError(
            "somebody else wrote to the data set while this was uploaded, and nothing was changed",
            file=repo_id,
            remedy="Run the same command again: it looks at what is there now, and sends no file twice",
        )
    said = shorten(_scrubbed(_words(fault), token), 200)
    if may_pass(fault):
        what = f"the hub answers {status}" if status else "the hub cannot be reached, or the connection broke"
        return ServerError(
            what, file=repo_id, value=said, remedy="Run the same command again: files that arrived are not sent again"
        )
    return ServerError("the hub refuses" + (f" ({status})" if status else ""), file=repo_id, value=said)


def _file_asked_for(fault: BaseException) -> str | None:
    """The file that a download was to give; None where something else was asked for, or the data set is not there."""
    from huggingface_hub.errors import RepositoryNotFoundError

    chain = list(_chain(fault))
    if any(isinstance(one, RepositoryNotFoundError) for one in chain):
        return None
    for one in chain:
        address = urllib.parse.urlsplit(str(getattr(getattr(one, "response", None), "url", "")))
        if found := re.search(r"/resolve/[^/]+/(.+)", address.path):
            return urllib.parse.unquote(found[1])
    return None


def _words(fault: BaseException) -> str:
    """The server's own words where there are any, else the first line of the fault."""
    for one in _chain(fault):
        said = getattr(one, "server_message", None)
        if said:
            return str(said)
    return next((line for line in str(fault).splitlines() if line.strip()), type(fault).__name__)


def _scrubbed(text: str, token: str | None) -> str:
    text = re.sub(r"hf_[A-Za-z0-9]{6,}", "hf_...", text)
    return text.replace(token, "...") if token else text


@contextmanager
def _quiet() -> Iterator[None]:
    """huggingface_hub's own progress bars off while the block runs: ours is there."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    before = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not before:
            enable_progress_bars()
