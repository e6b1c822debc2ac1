"""Keys and addresses: from the environment, and never shown."""

from __future__ import annotations

import pytest

from qbench.errors import OptionError
from qbench.llm.api_keys import read_key, server_url, without_secrets, words_without_secrets

DEFAULT = "https://api.example.org/v1"


def test_the_first_key_that_is_set_is_taken(monkeypatch):
    monkeypatch.delenv("FIRST_KEY", raising=False)
    monkeypatch.setenv("SECOND_KEY", " secret-2 \n")
    key = read_key(("FIRST_KEY", "SECOND_KEY"))
    assert (key.variable, key.secret) == ("SECOND_KEY", "secret-2")
    assert repr(key) == "Key(SECOND_KEY)"
    assert key.hidden("a secret-2 b") == "a [key] b"
    monkeypatch.delenv("SECOND_KEY")
    none = read_key(("FIRST_KEY", "SECOND_KEY"))
    assert (none.variable, none.secret, none.hidden("text")) == ("FIRST_KEY", "", "text")


@pytest.mark.parametrize("secret", ["two words", "line\nbreak", "schlüssel", "a\x7fb"])
def test_a_key_with_odd_signs_is_refused_and_not_shown(monkeypatch, secret):
    monkeypatch.setenv("SOME_KEY", secret)
    with pytest.raises(OptionError, match="SOME_KEY holds characters that no key has") as caught:
        read_key(("SOME_KEY",))
    assert secret not in str(caught.value)


def test_addresses_come_from_the_option_the_environment_or_the_provider(monkeypatch):
    monkeypatch.delenv("SOME_URL", raising=False)
    assert server_url("auto", "SOME_URL", DEFAULT) == DEFAULT
    monkeypatch.setenv("SOME_URL", "http://localhost:8000/v1/")
    assert server_url("auto", "SOME_URL", DEFAULT) == "http://localhost:8000/v1"
    assert server_url("https://there/", "SOME_URL", DEFAULT) == "https://there"


@pytest.mark.parametrize("where", ["localhost:8000", "ftp://x", "http://", "http://x:99999", "http://[x", "http://a b"])
def test_what_is_no_address_is_refused(monkeypatch, where):
    with pytest.raises(OptionError, match=r"base_url is no address of a server.*http://localhost:8000/v1"):
        server_url(where, "SOME_URL", DEFAULT)
    monkeypatch.setenv("SOME_URL", where)
    with pytest.raises(OptionError, match="SOME_URL is no address"):
        server_url("auto", "SOME_URL", DEFAULT)


@pytest.mark.parametrize(
    "where", ["http://me:secret@x/v1", "http://secret@x", "http://x?key=secret", "http://x#secret"]
)
def test_an_address_with_a_secret_is_refused_and_not_shown(where):
    with pytest.raises(OptionError, match="holds more than an address") as caught:
        server_url(where, "SOME_URL", DEFAULT)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("postgresql://me:hush@h/x", "postgresql://me:[secret]@h/x"),
        ("postgresql://me:hu@sh/hush@h/x", "postgresql://me:[secret]@h/x"),
        ("postgresql://h/x?user=me&password=hush&sslmode=on", "postgresql://h/x?user=me&password=[secret]&sslmode=on"),
        ("HTTPS://hush@h/x", "HTTPS://[secret]@h/x"),
        ("host=h sslpassword = 'it\\'s hush' port=1", "host=h sslpassword = [secret] port=1"),
        ("host=h password='hush", "host=h password=[secret]"),
        ('Postgres(dsn="host=h password=hush", k1=2)', 'Postgres(dsn="host=h password=[secret]", k1=2)'),
        ("http://h/v1?a=1&key=hush", "http://h/v1?a=1&key=[secret]"),
        ("--api-key=hush", "--api-key=[secret]"),
        ("PGPASSWORD=hush", "PGPASSWORD=[secret]"),
        ("x sk-" + "hush" * 6, "x [secret]"),
    ],
)
def test_secrets_in_a_text_are_hidden(typed, kept):
    assert without_secrets(typed) == kept
    assert without_secrets(kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://reader@db.org:5432/x",
        "http://localhost:8000/v1",
        "BM25 + LLM-itemwise(model=me@home,base_url=http://localhost:8000/v1,max_tokens=5)",
        "LLM-itemwise(base_url=http://localhost:8000/v1,model=me@home)",
        "Coded(token_weight=3, code_weight=2)",
        "host=db user=me dbname=secrets",
        "tokens above 5 = many",
        "write to me@example.org: it is //not an address",
    ],
)
def test_what_holds_no_secret_stays_as_it_is(text):
    assert without_secrets(text) == text


def test_the_word_behind_a_flag_for_secrets_is_hidden_and_values_of_the_environment(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", " hush-hush ")
    words = ["--token", "hush", "--password", "--last", "5", "--max-tokens", "9", "of=hush-hush"]
    hidden = ["--token", "[secret]", "--password", "--last", "5", "--max-tokens", "9", "of=[secret]"]
    assert words_without_secrets(words) == hidden
