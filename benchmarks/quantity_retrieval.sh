#!/usr/bin/env bash
# Quantity retrieval on real text: descriptions, pairs, training, test sets, and table 2 of *Quantity Retrieval*.
#
#     benchmarks/quantity_retrieval.sh DATA MODEL OUT [RESULTS]
#
# DATA holds corpora/*.jsonl.gz; MODEL is the folder of an encoder; OUT gets everything that is made; RESULTS (by default
# benchmarks/results) gets each leaderboard as Markdown and JSON, and nothing of the corpora's text.
set -euo pipefail
data=$1 model=$2 out=$3 results=${4:-$(dirname "$0")/results}
mkdir -p "$out/finance" "$out/rct" "$results"
cp "$data"/corpora/{sec_filings,tatqa_paragraphs,reuters21578}.jsonl.gz "$out/finance"
cp "$data"/corpora/rct_abstracts.jsonl.gz "$out/rct"

for name in finance rct; do
    qbench build-index "$out/$name" -o "$out/$name-index"
    qbench describe "$out/$name-index" -o "$out/$name-descriptions"
    qbench mine-paraphrases "$out/$name-descriptions" -o "$out/$name-pairs"
    qbench train bi-encoder "$out/$name-pairs" -o "$out/$name-ws" --model "$model" --epochs 8 --max-length 64
    qbench test-set make "$out/$name-pairs" -o "$out/$name-test"
    qbench leaderboard "$out/$name-test" -o "$out/$name-board" --pool 10 --wins \
        --systems C_s-BM25 --systems C_q-BM25 \
        --systems "C_q-BERT(model=\"$model\")" \
        --systems "C_q-BERT-WS(model=\"$out/$name-ws\")"
    cp "$out/$name-board/leaderboard.md" "$results/quantity_retrieval_$name.md"
    cp "$out/$name-board/leaderboard.json" "$results/quantity_retrieval_$name.json"
done
