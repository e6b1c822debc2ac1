#!/usr/bin/env bash
# Trains the papers' models on benchmarks of benchmarks/training_data.sh, and makes their boards.
#
#     benchmarks/trained.sh BENCHMARKS DATA MODEL OUT [RESULTS]
#
# BENCHMARKS holds finance, medical, ...; DATA retrieval/numconq-*; MODEL is the folder of an encoder; OUT gets checkpoints,
# runs and pages; RESULTS (by default benchmarks/results/suites) gets the tables as Markdown and JSON. It goes on where it
# was stopped: a training after its last evaluation, a quarter of an epoch apart. What is finished is not done again.
#
# Steps, EXPERIMENT-BENCHMARK, from the environment; a benchmark that is not there yet is left out:
#     STEPS="papers-finance papers-medical papers-foods papers-laptops papers-phones papers_numconq-numconq
#            training_curve-finance seeds-finance seeds-medical deepquant-finance numcolbert-finance coded-laptops
#            coded-medical"
# And joint-finance, which learns general search from GENERAL, by default BENCHMARKS/general.
# Inputs of the experiments, from the environment: EPOCHS=2 (of all but DeepQuant) LIMIT=20000 BATCH=64 LENGTH=96 DEV=100
# PRECISION=auto (bfloat16 on a processor that has it).
set -euo pipefail
benches=$1 data=$2 model=$3 out=$4 here=$(dirname "$0")
results=${5:-$here/results/suites}
steps=${STEPS:-papers-finance papers-medical papers-foods papers-laptops papers-phones papers_numconq-numconq
    training_curve-finance seeds-finance seeds-medical deepquant-finance numcolbert-finance coded-laptops coded-medical}
mkdir -p "$out" "$results"

inputs=("model=$model" "batch=${BATCH:-64}" "length=${LENGTH:-96}" "dev=${DEV:-100}")
inputs+=("precision=${PRECISION:-auto}")

failed=0
for step in $steps; do
    name=${step%-*} bench=${step##*-} given=()
    [ -f "$benches/$bench/manifest.json" ] || { echo "$step: $benches/$bench is not there yet" >&2; continue; }
    for one in "${inputs[@]}"; do given+=(--with "$one"); done
    # Trainings of deepquant have those on made-up numbers among theirs, half of their epochs.
    if [ "$name" != deepquant ]; then
        epochs=${EPOCHS:-2}
        given+=(--with "epochs=$epochs")
    fi
    if [ "$name" = joint ]; then
        general=${GENERAL:-$benches/general}
        [ -f "$general/manifest.json" ] || { echo "$step: $general is not there yet" >&2; continue; }
        given+=(--with "general=$general")
    fi
    [ "$name" = training_curve ] || given+=(--with "limit=${LIMIT:-20000}")
    if [ "$name" = papers_numconq ]; then
        for set in imdb league olympic; do given+=(--with "$set=$data/retrieval/numconq-$set"); done
    fi
    # Rows without a run fail a step, too, and its tables say which. A step that fails does not keep the others.
    qbench leaderboard "$benches/$bench" --experiment "$here/experiments/$name.toml" "${given[@]}" -o "$out" ||
        { status=$?; echo "$step failed" >&2; failed=1; [ $status -lt 128 ] || exit $status; }
    for page in "$out/$name-$bench"/*/leaderboard.{md,json} "$out/$name-$bench"/experiment.{md,json}; do
        [ -f "$page" ] || continue
        place=$results/${page#"$out/"}
        mkdir -p "$(dirname "$place")"
        cp "$page" "$place"
    done
done
exit $failed
