#!/usr/bin/env bash
# The experiments of *Numbers Matter* on real text: benchmarks/experiments on finance, medical and NumConQ.
#
#     benchmarks/neural_experiments.sh DATA MODEL OUT [RESULTS]
#
# DATA holds corpora/*.jsonl.gz and retrieval/numconq-*; MODEL is the folder of an encoder; OUT gets everything that is
# made; RESULTS (by default benchmarks/results/suites) gets the tables as Markdown and JSON. It goes on where it was stopped;
# benchmarks that are in OUT already (finance, medical) are not made again. Experiments can run at once: one call, one of EXPERIMENTS.
#
# Sizes, from the environment; the defaults are what two CPU cores can do in two hours:
#     FILINGS=6 ARTICLES=800 ABSTRACTS=700        documents of sec_filings, reuters21578 and rct_abstracts
#     TRAIN=2500 TEST=400                         queries, at most
#     EPOCHS=1 PAIRS=800 BATCH=16                 of each training: epochs, positives in each, batch,
#     LR=1e-4 COLBERT_LR=2e-5                     learning rate, and that of ColBERT,
#     LENGTH=64 DEV=60                            tokens that are read, development queries
#     EXPERIMENTS="main-finance masking ..."           which experiments
set -euo pipefail
data=$1 model=$2 out=$3 here=$(dirname "$0")
results=${4:-$here/results/suites}
mkdir -p "$out/finance-corpus" "$results"

head_of() { # FILE COUNT
    python -c 'import gzip, itertools, sys
for line in itertools.islice(gzip.open(sys.argv[1], "rb"), int(sys.argv[2])): sys.stdout.buffer.write(line)' "$1" "$2"
}
make_benchmark() { # NAME CORPUS
    qbench build-index "$2" -o "$out/$1-index"
    qbench gen-queries "$out/$1-index" -o "$out/$1" --expansions "$here/expansions/$1.tsv" \
        --value-permutation --max-train "${TRAIN:-2500}" --max-dev 300 --max-test "${TEST:-400}"
}

if [ ! -d "$out/finance" ]; then
    head_of "$data/corpora/sec_filings.jsonl.gz" "${FILINGS:-6}" > "$out/finance-corpus/sec_filings.jsonl"
    head_of "$data/corpora/reuters21578.jsonl.gz" "${ARTICLES:-800}" > "$out/finance-corpus/reuters21578.jsonl"
    make_benchmark finance "$out/finance-corpus"
fi
if [ ! -d "$out/medical" ]; then
    head_of "$data/corpora/rct_abstracts.jsonl.gz" "${ABSTRACTS:-700}" > "$out/medical-corpus.jsonl"
    make_benchmark medical "$out/medical-corpus.jsonl"
fi

experiment() { # NAME BENCHMARK [INPUT=VALUE ...]
    local name=$1 bench=$2 given=()
    shift 2
    for one in "model=$model" "$@"; do given+=(--with "$one"); done
    # Exit status 1 says that rows have no run: the tables say which.
    qbench leaderboard "$out/$bench" --experiment "$here/experiments/$name.toml" "${given[@]}" -o "$out/experiments" || [ $? = 1 ]
    for page in "$out/experiments/$name-$bench"/*/leaderboard.{md,json} "$out/experiments/$name-$bench"/experiment.{md,json}; do
        place=$results/${page#"$out/experiments/"}
        mkdir -p "$(dirname "$place")"
        cp "$page" "$place"
    done
}

trainings=("epochs=${EPOCHS:-1}" "pairs=${PAIRS:-800}" "batch=${BATCH:-16}" "length=${LENGTH:-64}" "dev=${DEV:-60}")
trainings+=("lr=${LR:-1e-4}" "colbert_lr=${COLBERT_LR:-2e-5}")

for experiment in ${EXPERIMENTS:-main-finance main-medical cross_dataset masking augmentation numconq alpha storage}; do
    case $experiment in
        main-*) experiment main "${experiment#main-}" "${trainings[@]}" ;;
        cross_dataset) experiment cross_dataset finance "other=$out/medical" "${trainings[@]}" ;;
        numconq)
            experiment numconq finance "${trainings[@]}" "imdb=$data/retrieval/numconq-imdb" \
                "league=$data/retrieval/numconq-league" "olympic=$data/retrieval/numconq-olympic"
            ;;
        storage) experiment storage finance ;;
        *) experiment "$experiment" finance "${trainings[@]}" ;;
    esac
done
