"""The fuzzer's longer mode, for a person: `python -m tests.fuzz [--inputs 100000] [--seed N] [--subject NAME ...]`.

Inputs are shared out among the subjects. Each finding is printed with its traceback; its input is kept in --keep. To
see one again: `python -m tests.fuzz --subject NAME --seed N --first NUMBER --inputs 1`. A finding that is mended
becomes a test beside the reader.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.fuzzing import fuzz
from tests.fuzz.subjects import SUBJECTS


def main() -> int:
    """Run; the exit code is 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input of each subject")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--subject", action="append", choices=list(SUBJECTS), help="[default: all]")
    parser.add_argument("--keep", type=Path, help="folder for inputs with findings [default: a new one]")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="most seconds a subject")
    args = parser.parse_args()
    kept = args.keep or Path(tempfile.mkdtemp(prefix="qbench-fuzz-"))
    names = args.subject or list(SUBJECTS)
    os.environ.setdefault("RUST_BACKTRACE", "0")  # as the command line has it
    found = 0
    for name in names:
        start = time.monotonic()
        last = args.first + max(1, args.inputs // len(names))
        scratch = kept / f"{name.replace(' ', '-')}-{time.time_ns()}"
        here = inputs = 0
        for finding in fuzz(name, scratch, args.seed, range(args.first, last), args.seconds):
            inputs += 1
            if finding is None:
                continue
            here += 1
            where = f"seed {finding.seed}, number {finding.number}: {finding.folder}"
            sys.stdout.write(f"== {name}, {where}\n{finding.what}\n")
        found += here
        sys.stdout.write(f"{name}: {inputs} inputs, {here} findings, {time.monotonic() - start:.0f} s\n")
        sys.stdout.flush()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
