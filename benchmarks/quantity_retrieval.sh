#!/usr/bin/env bash
# Quantity retrieval on real text: descriptions, pairs, training, test sets, and table 2 of *Quantity Retrieval*.
#
#     benchmarks/quantity_retrieval.sh DATA MODEL OUT [RESULTS [PARAPHRASES]]
#
# DATA holds corpora/*.jsonl.gz; MODEL is the folder of an encoder; OUT gets everything that is made; RESULTS (by default
# benchmarks/results) gets the leaderboard as Markdown and JSON, and nothing of the corpora's text; PARAPHRASES, a paraphrase model,
# adds the row C_q-BERT-P.
set -euo pipefail
data=$1 model=$2 out=$3 results=${4:-$(dirname "$0")/results} paraphrases=${5:-}
mkdir -p "$out/finance" "$out/rct" "$results"
cp "$data"/corpora/{sec_filings,tatqa_paragraphs,reuters21578}.jsonl.gz "$out/finance"
cp "$data"/corpora/rct_abstracts.jsonl.gz "$out/rct"

for name in finance rct; do
    qbench build-index "$out/$name" -o "$out/$name-index"
    qbench describe "$out/$name-index" -o "$out/$name-descriptions"
    qbench mine-paraphrases "$out/$name-descriptions" -o "$out/$name-pairs"
    qbench test-set make "$out/$name-pairs" -o "$out/$name-test"
done

# Trial abstracts repeat too few facts to train on, or to make a table of.
qbench train bi-encoder "$out/finance-pairs" -o "$out/finance-ws" --model "$model" --epochs 8 --max-length 64
qbench leaderboard "$out/finance-test" -o "$out/finance-board" --pool 10 --wins \
    --systems C_s-BM25 --systems C_q-BM25 \
    --systems "C_q-BERT(model=\"$model\")" \
    --systems "C_q-BERT-WS(model=\"$out/finance-ws\")" \
    ${paraphrases:+--systems "C_q-BERT-P(model=\"$paraphrases\")"}
cp "$out/finance-board/leaderboard.md" "$results/quantity_retrieval_finance.md"
cp "$out/finance-board/leaderboard.json" "$results/quantity_retrieval_finance.json"
