#!/usr/bin/env bash
# Benchmarks from documents and tables: phones with their own texts; laptops and foods with pages made by `qbench synth`.
#
#     benchmarks/grounded.sh DATA OUT [RESULTS]
#
# DATA holds tables/ and corpora/; OUT gets indexes, benchmarks, boards and audit sheets; RESULTS (by default
# benchmarks/results) gets each leaderboard. benchmarks/grounded.md has the figures.
set -euo pipefail
data=$1 out=$2 here=$(dirname "$0") results=${3:-$(dirname "$0")/results}
mkdir -p "$out" "$results"
systems=(--systems BM25 --systems BM25_filter --systems QBM25 --systems BindBM25)

board() { # NAME
    qbench gen-queries "$out/$1-index" -o "$out/$1" --max-train 200 --max-dev 50 --max-test 200
    qbench benchmark check "$out/$1"
    time qbench leaderboard "$out/$1" -o "$out/$1-leaderboard" "${systems[@]}"
    qbench benchmark audit "$out/$1" -o "$out/$1-audit"
    cp "$out/$1-leaderboard/leaderboard.md" "$results/grounded_$1.md"
}

pages() { # NAME TABLE ID MAPPING
    qbench synth "$2" -o "$out/$1-corpus" --mapping "$4" --sentences-per-row 3
    python "$here/pages.py" "$2" "$3" "$out/$1-corpus" "$out/$1-pages.jsonl"
    time qbench ground "$2" "$out/$1-pages.jsonl" -o "$out/$1-index" --id "$3" --mapping "$4"
    python "$here/pages.py" "$2" "$3" "$out/$1-corpus" "$out/$1-pages.jsonl" "$out/$1-index"
    board "$1"
}

pages laptops "$data/tables/laptops.csv" laptop_ID "$here/mappings/laptops.toml"
time qbench ground "$data/tables/phones.csv" "$data/corpora/phones.jsonl.gz" -o "$out/phones-index" --join title \
    --mapping "$here/mappings/phone_pages.toml"
board phones
gzip -dc "$data/tables/openfoodfacts_us_50k.jsonl.gz" | sed -n 1,1000p > "$out/foods.jsonl"
pages foods "$out/foods.jsonl" barcode "$here/mappings/openfoodfacts.toml"
