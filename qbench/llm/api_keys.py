"""Keys and addresses of servers. Keys come from the environment alone, and are in no message and no file.

What users type all the same (a password in an address, a token behind a flag) is hidden where commands are recorded.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote, quote_plus, urlsplit

from qbench.errors import OptionError

AUTO = "auto"
"""The address in the environment, or else the provider's own."""

_HIDDEN = "[key]"
_SECRETED = "[secret]"

_SECRET = ("_KEY", "_TOKEN", "PASSWORD")
_SHORTEST = 8
"""Characters of a key: a shorter value is in many files by chance."""
_KEY_FORM = r"\b(?:sk-[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{30,})"

_USER = re.compile(
    r"://(?:(?P<user>[^\s/?#@:]*):(?!\d{1,5}/)\S*|(?<=http://)[^\s/?#@]+|(?<=https://)[^\s/?#@]+)@", re.IGNORECASE
)
"""User and password in an address, up to the last @, since a password may hold some; a port is none. A user alone is a
token where it is sent by HTTP, and a name elsewhere."""
_SECRET_NAME = r"(?:pass(?:word|wd|phrase)|pwd|secret|(?:api|access|private)[_-]?key|(?<![a-z0-9])token)"  # noqa: S105
_NAMED = re.compile(
    rf"([\w-]*{_SECRET_NAME}|[?&]key)(\s*=\s*)"
    r"""('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^\s&;,)'"]+)""",
    re.IGNORECASE,
)
"""A parameter whose name says that its value is secret, as flags, queries and libpq write it."""
_FLAG = re.compile(rf"--?[\w-]*{_SECRET_NAME}", re.IGNORECASE)


class Key:
    """A provider's key. Its repr shows only the variable.

    Attributes:
        variable: environment variable of the key, or the one to set if there is none.
        secret: the key; "" if there is none.
    """

    def __init__(self, variable: str, secret: str) -> None:
        self.variable, self.secret = variable, secret

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def hidden(self, text: str) -> str:
        """The text without the key, which a server may repeat; a few letters are a stand-in, and no secret."""
        if len(self.secret) < _SHORTEST:
            return text
        for form in (self.secret, quote(self.secret, safe=""), quote_plus(self.secret)):
            text = text.replace(form, _HIDDEN)
        return text


def read_key(variables: Sequence[str]) -> Key:
    """The key in the first of these environment variables that is set.

    Raises:
        OptionError: its value cannot be a key.
    """
    for name in variables:
        secret = os.environ.get(name, "").strip()
        if secret and not all("!" <= sign <= "~" for sign in secret):
            # Refused here, because the libraries would quote it in their errors.
            raise OptionError(f"{name} holds characters that no key has", remedy="Set it to the key alone")
        if secret:
            return Key(name, secret)
    return Key(variables[0], "")


def find_key(path: Path) -> str | None:
    """Look for a secret in a file: the value of an environment variable for keys, or something that looks like a key.

    Returns:
        the variable's name, or "a key"; None if there is no secret.
    """
    if path.stat().st_size == 0:
        return None
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for name, value in _environment().items():
            if data.find(value.encode()) >= 0:
                return name
        return "a key" if re.search(_KEY_FORM.encode(), data) else None


def _environment() -> dict[str, str]:
    """The environment variables for secrets, and their values."""
    found = {name: value.strip() for name, value in os.environ.items() if name.endswith(_SECRET)}
    return {name: value for name, value in found.items() if len(value) >= _SHORTEST}


def without_secrets(text: str) -> str:
    """A text to be recorded, without secrets: passwords in addresses, parameters that are called so, keys.

    >>> without_secrets("postgresql://me:hush@db.org/x host=db password='it is' user=me")
    'postgresql://me:[secret]@db.org/x host=db password=[secret] user=me'
    """
    text = _USER.sub(lambda at: f"://{'' if at['user'] is None else at['user'] + ':'}{_SECRETED}@", text)
    return re.sub(_KEY_FORM, _SECRETED, _NAMED.sub(rf"\1\2{_SECRETED}", text))


def words_without_secrets(words: Iterable[str]) -> list[str]:
    """The words of a command as `without_secrets`, and without the values of environment variables for secrets.

    What follows a flag such as --token is hidden whole.
    """
    shown, before, secrets = [], "", _environment().values()
    for word in words:
        secret = _FLAG.fullmatch(before) and not word.startswith("-")
        shown.append(_SECRETED if secret else without_secrets(word))
        for value in secrets:
            shown[-1] = shown[-1].replace(value, _SECRETED)
        before = word
    return shown


def server_url(
    given: str, variable: str, default: str, *, option: str = "base_url", example: str = "http://localhost:8000/v1"
) -> str:
    """The address of a server: the given one; for "auto" that of the environment, or else the default.

    Args:
        given: from the system's name or an option.
        variable: environment variable of the address.
        default: the provider's own address.
        option: where `given` was given, for errors.
        example: what an address looks like.

    Raises:
        OptionError: it is no address of a server, or holds a password or a query, which may be secret.
    """
    url = given if given != AUTO else os.environ.get(variable, "").strip() or default
    owner = option if url == given else variable
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise OptionError(f"{owner} is no address of a server", remedy=f"Write it like {example}") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        # Not quoted: what is wrong with it may be a key.
        raise OptionError(
            f"{owner} holds more than an address", remedy="Leave out user, password and query; keys have variables"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or any(map(str.isspace, url)):
        raise OptionError(f"{owner} is no address of a server", value=url, remedy=f"Write it like {example}")
    return url.rstrip("/")
