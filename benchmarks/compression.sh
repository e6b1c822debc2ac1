#!/usr/bin/env bash
# Codebooks on passages with TREC's judgments: those of benchmarks/compression.md that learn from few queries.
#
#     benchmarks/compression.sh DATA MODEL OUT
#
# DATA holds retrieval/msmarco-dl; MODEL is the folder of an encoder of sentence-transformers, such as MiniLM; OUT gets
# benchmarks, models, codebooks and rows. It goes on where it was stopped, and what is finished is not done again.
#
# From the environment:
#     STEPS="sixteen small jpq distilled tokens aggretriever"   each makes the benchmarks that it needs
#     SEEDS="13 14 15"    of codecs and codebooks
#     QUERIES=2000        training queries of codebooks on all passages
#     PAIRS=640           queries that the ColBERT learns from
#     STUDENT=4000        queries that its student learns from
set -euo pipefail
data=$(realpath "$1") model=$(realpath "$2") out=$3 here=$(realpath "$(dirname "$0")")
steps=${STEPS:-sixteen small jpq distilled tokens aggretriever} queries=${QUERIES:-2000} pairs=${PAIRS:-640}
student=${STUDENT:-4000}
read -ra seeds <<< "${SEEDS:-13 14 15}"
train=(--set epochs=4 patience=4 'choose="agreement"')
mkdir -p "$out"
cd "$out"

all_passages() {
    [ -d bench ] && return
    python "$here/compression_data.py" "$data/retrieval/msmarco-dl" msmarco --others 40000 --train 8000 --dev 500
    qbench benchmark import beir msmarco -o bench
    qbench leaderboard bench -o board --systems BM25
}

found_passages() { # those among BM25's best 50 of a test query
    all_passages
    [ -d foundbench ] && return
    run=$(dirname "$(grep -l '"system": "BM25"' board/runs/*/manifest.json | head -1)")/run.parquet
    python "$here/compression_data.py" "$data/retrieval/msmarco-dl" found --others 40000 --train 1200 --dev 150 \
        --found "$run" --depth 50
    qbench benchmark import beir found -o foundbench
}

colbert() {
    qbench train colbert bench -o colbert --model "$model" --limit "$pairs" --epochs 1 --batch-size 32 --lr 3e-5 \
        --max-length 80 --precision bfloat16 --by-length --evaluations 2 --dev-queries 0
}

seeded() { # CODEC(M=..., K=...) ...: each with every seed
    codecs=()
    for codec in "$@"; do
        for seed in "${seeds[@]}"; do
            if [ "$seed" = 13 ]; then codecs+=("$codec"); else codecs+=("${codec%)}, seed=$seed)"); fi
        done
    done
}

rows() { # BENCH WORK ROWS BOOKS ENCODER NAME...
    python "$here/compression_study.py" "$1" "$3" "${@:6}" --encoder "$5" --work "$2" --books "$4"
}

sixteen() {
    all_passages
    encoder="SBERT(model=$model)"
    cat > sixteen.txt <<'JOBS'
--variants JPQ --set query_lr=0.0
--variants RepCONC DPQ
JOBS
    for seed in "${seeds[@]}"; do
        echo "--variants WolfPQ --as $queries-both --seeds $seed --set negatives=\"\\\"both\\\"\""
        echo "--variants WolfPQI --seeds $seed"
    done >> sixteen.txt
    python "$here/compression.py" bench books --encoder "$encoder" --work board --M 96 --queries "$queries" \
        --as "$queries" "${train[@]}" lr=0.001 --jobs sixteen.txt
    seeded "PQ(M=96)" "OPQ(M=96)"
    rows bench board rows books "$encoder" none "${codecs[@]}" $(cd books && ls -d ./*-96-"$queries"* | cut -c3-)
}

small() { # 171x and 64x; eight epochs of one
    all_passages
    encoder="SBERT(model=$model)" codecs=()
    cat > small.txt <<JOBS
--variants DPQ RepCONC
--variants JPQ --set query_lr=0.0
--variants WolfPQ --as $queries-both --set negatives="\"both\""
--variants WolfPQ --as $queries-both-opq --set negatives="\"both\"" start="\"OPQ\""
JOBS
    for size in 8:512 24:256; do
        IFS=: read -r M K <<< "$size"
        python "$here/compression.py" bench books --encoder "$encoder" --work board --M "$M" --K "$K" --queries "$queries" \
            --as "$queries" --seeds "${seeds[@]}" "${train[@]}" lr=0.01 --jobs small.txt
    done
    python "$here/compression.py" bench books --encoder "$encoder" --work board --M 8 --K 512 --queries "$queries" \
        --as "$queries-both-eight" --variants WolfPQ --set epochs=8 patience=8 'choose="agreement"' lr=0.01 'negatives="both"'
    seeded "PQ(M=8, K=512)" "OPQ(M=8, K=512)" "PQ(M=24)" "OPQ(M=24)"
    rows bench board rows books "$encoder" none "${codecs[@]}" \
        $(cd books && ls -d ./*-8-512-"$queries"* ./*-24-"$queries"* | cut -c3-)
}

jpq() { # with its encoder of queries, by judgments
    all_passages
    encoder="SBERT(model=$model)"
    python "$here/compression.py" bench books --encoder "$encoder" --work board --M 8 --K 512 --queries "$queries" \
        --as "$queries-query-judged" --variants JPQ \
        --set epochs=4 patience=4 lr=0.01 query_lr=2e-5 'choose="nDCG"' dev_queries=100
    rows bench board rows books "$encoder" "JPQ-8-512-$queries-query-judged"
}

codecs_of() { # ENCODER NAME M:K:LR ...: PQ, OPQ and WolfPQ of an encoder's vectors of the passages found
    encoder=$1 name=$2 names=()
    for size in "${@:3}"; do
        IFS=: read -r M K lr <<< "$size"
        names+=("PQ(M=$M, K=$K)" "OPQ(M=$M, K=$K)")
        echo "--M $M --K $K --set lr=$lr"
    done > "$name.txt"
    qbench leaderboard foundbench -o boardf --systems BM25 --systems "BM25 + $encoder"
    seeded "${names[@]}"
    rows foundbench boardf "rows-$name" "books-$name" "$encoder" none "${codecs[@]}"
    python "$here/compression.py" foundbench "books-$name" --encoder "$encoder" --work boardf --variants WolfPQ \
        --as both --seeds "${seeds[@]}" "${train[@]}" 'negatives="both"' --jobs "$name.txt"
    rows foundbench boardf "rows-$name" "books-$name" "$encoder" $(ls "books-$name")
}

distilled() {
    found_passages
    colbert
    mkdir -p plain # without the layer that gives vectors length 1
    cp "$model"/{config.json,model.safetensors,tokenizer.json,tokenizer_config.json,special_tokens_map.json,vocab.txt} plain/
    qbench train bi-encoder bench -o tct --teacher colbert --model plain --limit "$student" --epochs 1 --batch-size 32 \
        --lr 3e-5 --max-length 80 --precision bfloat16 --by-length --evaluations 4 --dev-queries 0
    encoder="SBERT(model=tct, similarity=dot, precision=bfloat16)"
    codecs_of "$encoder" tct 8:512:0.01 24:256:0.01 96:256:0.001
    python "$here/compression.py" foundbench books-tct --encoder "$encoder" --work boardf --variants WolfPQI \
        --M 8 --K 512 --seeds "${seeds[@]}" "${train[@]}" lr=0.01
    seeded "LexPQ(M=8, K=512)" "LexPQ(M=24, K=256)" "LexPQ(M=96, K=256)"
    rows foundbench boardf rows-tct books-tct "$encoder" "${codecs[@]}" $(ls books-tct)
    encoder="SBERT(model=tct, similarity=cosine, precision=bfloat16)"
    python "$here/compression.py" foundbench books-tct-cosine --encoder "$encoder" --work boardf --variants WolfPQ \
        --as both --M 8 --K 512 "${train[@]}" lr=0.01 'negatives="both"'
    rows foundbench boardf rows-tct-cosine books-tct-cosine "$encoder" none "PQ(M=8, K=512)" "PQ(M=24, K=256)" \
        "PQ(M=96, K=256)" "OPQ(M=8, K=512)" "LexPQ(M=8, K=512)" WolfPQ-8-512-both
}

tokens() {
    found_passages
    colbert
    boards=(--systems BM25 --systems "BM25 + ColBERT(model=colbert)"
        --systems "BM25 + ColBERT(model=colbert)-PQ(M=16)" --systems "BM25 + ColBERT(model=colbert)-PQ(M=32)")
    qbench leaderboard foundbench -o boardf "${boards[@]}"
    for factor in none learnt; do
        qbench train codebook foundbench -o "cq-$factor" --encoder "ColBERT(model=colbert)" --variant CQ --factor "$factor" \
            --M 16 --K 256 --pairs 8 --batch-size 8 --epochs 2 --patience 2 --dev-queries 50 --work boardf
        boards+=(--systems "BM25 + ColBERT(model=colbert)-CQ(codebook=cq-$factor)")
    done
    qbench leaderboard foundbench -o boardf "${boards[@]}"
}

aggretriever() {
    found_passages
    codecs_of "Aggretriever(model=$model)" aggretriever 32:64:0.01 64:256:0.01 256:256:0.001
}

for step in $steps; do "$step"; done
