#!/usr/bin/env bash
# From each real corpus to a leaderboard, and the three NumConQ sets as they are.
#
#     benchmarks/real_corpora.sh DATA OUT [RESULTS]
#
# DATA holds corpora/*.jsonl.gz and retrieval/numconq-*; OUT gets indexes, benchmarks and runs; RESULTS (by default
# benchmarks/results) gets each leaderboard as Markdown and JSON.
set -euo pipefail
data=$1 out=$2 results=${3:-$(dirname "$0")/results}
mkdir -p "$out" "$results"

keep() {
    cp "$out/$1-leaderboard/leaderboard.md" "$results/$1.md"
    cp "$out/$1-leaderboard/leaderboard.json" "$results/$1.json"
}

systems=(--systems BM25 --systems BM25_filter --systems QBM25 --systems BindBM25)

for corpus in sec_filings reuters21578 rct_abstracts; do
    qbench build-index "$data/corpora/$corpus.jsonl.gz" -o "$out/$corpus-index"
    qbench gen-queries "$out/$corpus-index" -o "$out/$corpus"
    qbench benchmark check "$out/$corpus"
    qbench leaderboard "$out/$corpus" -o "$out/$corpus-leaderboard" "${systems[@]}"
    keep "$corpus"
done

for set in imdb league olympic; do
    qbench leaderboard "$data/retrieval/numconq-$set" -o "$out/numconq-$set-leaderboard" \
        "${systems[@]}" --systems "QBM25(alpha=3)"
    keep "numconq-$set"
done
