#!/bin/sh
# Benchmarks from documents and tables: phones with their own texts, laptops and foods with pages made of `qbench synth`.
#
#     benchmarks/grounded.sh DATA LAB
#
# DATA is the folder with tables/ and corpora/, LAB where everything is written. benchmarks/grounded.md has the figures.
set -e
data=$1 lab=$2 here=$(dirname "$0")
mkdir -p "$lab"
systems="--systems BM25 --systems BM25_filter --systems QBM25 --systems BindBM25"

board() { # NAME
    qbench gen-queries "$lab/$1-index" -o "$lab/$1"
    qbench leaderboard "$lab/$1" -o "$lab/$1-board" $systems
    qbench benchmark audit draw "$lab/$1" -o "$lab/$1-audit"
}

pages() { # NAME TABLE ID MAPPING SENTENCES
    qbench synth "$2" -o "$lab/$1-corpus" --mapping "$4" --sentences-per-row "$5"
    python "$here/pages.py" "$2" "$3" "$lab/$1-corpus" "$lab/$1-pages.jsonl"
    qbench ground "$2" "$lab/$1-pages.jsonl" -o "$lab/$1-index" --id "$3" --mapping "$4"
    python "$here/pages.py" "$2" "$3" "$lab/$1-corpus" "$lab/$1-pages.jsonl" "$lab/$1-index"
    board "$1"
}

qbench ground "$data/tables/phones.csv" "$data/corpora/phones.jsonl.gz" -o "$lab/phones-index" --join title \
    --mapping "$here/mappings/phone_pages.toml"
board phones
pages laptops "$data/tables/laptops.csv" laptop_ID "$here/mappings/laptops.toml" 3
gzip -dc "$data/tables/openfoodfacts_us_50k.jsonl.gz" | head -3000 > "$lab/foods.jsonl"
pages foods "$lab/foods.jsonl" barcode "$here/mappings/openfoodfacts.toml" 3
