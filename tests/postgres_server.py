"""A PostgreSQL server in a temporary folder, for the tests that ask a real one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/bin", "/usr/pgsql-*/bin", "/opt/homebrew/bin")
USERS = ("postgres", "nobody")


def program(name: str) -> str | None:
    """A program of PostgreSQL; Debian keeps them out of the path."""
    found = [str(path) for place in PLACES for path in sorted(Path("/").glob(f"{place[1:]}/{name}"), reverse=True)]
    return shutil.which(name) or next(iter(found), None)


def program_with_vectors(name: str) -> str | None:
    """A program of a PostgreSQL with pgvector: Debian's postgresql-NN-pgvector, or the one in the wheel pgserver."""
    bins = [path for place in PLACES for path in sorted(Path("/").glob(place[1:]), reverse=True)]
    if wheel := importlib.util.find_spec("pgserver"):
        bins += [Path(folder) / "pginstall" / "bin" for folder in wheel.submodule_search_locations or ()]
    for folder in bins:
        shares = (folder.parent / "share" / "postgresql", Path("/usr/share/postgresql") / folder.parent.name)
        if (folder / name).exists() and any((each / "extension" / "vector.control").exists() for each in shares):
            return str(folder / name)
    return None


def lacking_vectors() -> str:
    """Why no server with pgvector can be started here; "" where one can."""
    if program_with_vectors("initdb") is None:
        return "pgvector is not installed: apt-get install postgresql-NN-pgvector, or pip install pgserver"
    return lacking(program_with_vectors)


def lacking(program: Callable[[str], str | None] = program) -> str:
    """Why no server can be started here; "" where one can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed: pip install 'qbench[postgres]'"
    if program("initdb") is None or program("postgres") is None:
        return "PostgreSQL is not installed: apt-get install postgresql"
    if os.geteuid() == 0 and (shutil.which("setpriv") is None or _user() is None):
        return "PostgreSQL does not run as root, and there is no other user to run it as"
    return ""


def _user() -> str | None:
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in USERS if name in known), None)


@contextmanager
def running(folder: Path, program: Callable[[str], str | None] = program) -> Iterator[str]:
    """Start a server whose data and socket are in a folder, which listens to nothing else; gives its address."""
    as_user: list[str] = []
    if os.geteuid() == 0:
        user = str(_user())
        as_user = ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups"]
        shutil.chown(folder, user)
    data = folder / "data"
    quick = ["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=32MB"]
    alone = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"]
    subprocess.run(
        [*as_user, str(program("initdb")), "-D", data, *"-U tester -A trust -E UTF8 --no-locale -N".split()],
        check=True, capture_output=True, cwd="/",
    )  # fmt: skip
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [*as_user, str(program("postgres")), "-D", data, *quick, *alone], stdout=log, stderr=log, cwd="/"
        )
    try:
        address = f"host={folder} user=tester dbname=postgres"
        _wait(address, server, folder / "log")
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    import time

    import psycopg

    for _ in range(200):
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None:
                break
            time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}")
