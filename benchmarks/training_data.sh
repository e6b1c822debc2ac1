#!/usr/bin/env bash
# Benchmarks with at least 20,000 training samples each, for trainings that are more than a smoke run.
#
#     benchmarks/training_data.sh DATA OUT [NAME ...]
#
# DATA holds corpora/*.jsonl.gz, retrieval/* and tables/*; OUT gets each benchmark under its name, beside its
# index (NAME-index) and corpus (NAME-corpus). Without names all are made. It goes on where it was stopped.
#
#     finance   all of sec_filings and reuters21578
#     medical   all of rct_abstracts
#     numconq   the documents of NumConQ: training and development queries alone, the set's own queries are the test
#     foods     Open Food Facts: queries of two and three constraints (DeepQuant, 4.8): 50,000 pairs, 10,000 test queries
#     laptops   a table of laptops
#     phones    a table of phones
#     general   general search, for joint training: pooled MS MARCO passages, queries of others for the test, training and
#               development queries made of passages (compression_data.py)
#
# A few hundred topics bound what real text gives: a concept is asked about if five sentences state it in one unit, and
# the gate lets the question through. Samples grow with the values asked for (--random-sets), and with the sentences
# taken for each (--samples); values are permuted too, which NumConQ and rct_abstracts need to reach 20,000. NumConQ's own
# queries have up to three conditions, so that its training queries have several as well (--joint-sets).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) data=$(cd "$1" && pwd) out=$2
shift 2
mkdir -p "$out"
cd "$out"

corpus_of() { # NAME FILE ...: a folder with the files
    local name=$1
    shift
    mkdir -p "$name-corpus"
    for file in "$@"; do [ -f "$name-corpus/${file##*/}" ] || cp "$file" "$name-corpus/"; done
}
synth() { # NAME TABLE SENTENCES MAPPING [OPTION ...]: a corpus of the table's facts, and its index
    qbench synth "$data/tables/$2" -o "$1-corpus" --mapping "$here/mappings/$4.toml" --sentences-per-row "$3" "${@:5}"
    qbench build-index "$1-corpus" -o "$1-index" --extractor given
}

[ $# -gt 0 ] || set -- finance medical numconq laptops phones foods general
for name in "$@"; do
    case $name in
        finance)
            corpus_of finance "$data"/corpora/{sec_filings,reuters21578}.jsonl.gz
            qbench build-index finance-corpus -o finance-index
            qbench gen-queries finance-index -o finance --random-sets 3 --samples 5 --value-permutation
            ;;
        medical)
            qbench build-index "$data/corpora/rct_abstracts.jsonl.gz" -o medical-index
            qbench gen-queries medical-index -o medical --random-sets 12 --samples 10 --value-permutation
            ;;
        numconq)
            mkdir -p numconq-corpus
            for set in imdb league olympic; do
                [ -f "numconq-corpus/$set.jsonl.gz" ] ||
                    cp "$data/retrieval/numconq-$set/corpus.jsonl.gz" "numconq-corpus/$set.jsonl.gz"
            done
            qbench build-index numconq-corpus -o numconq-index --years
            qbench gen-queries numconq-index -o numconq --random-sets 40 --joint-sets 40 --max-train 3000 --samples 10 \
                --value-permutation --per-topic 60 --test-share 0 --max-test 0
            ;;
        foods)
            synth foods openfoodfacts_us_50k.jsonl.gz 2 openfoodfacts --no-comparisons
            qbench gen-queries foods-index -o foods --no-single --joint-sets 120 --samples 10 --no-unit-permutation \
                --max-train 8500 --max-test 10000 --per-topic 10000
            ;;
        laptops)
            synth laptops laptops.csv 8 laptops
            qbench gen-queries laptops-index -o laptops --expansions laptops-corpus/expansions.tsv --max-train 4000 --samples 5 \
                --value-permutation
            ;;
        phones)
            synth phones phones.csv 3 phones
            qbench gen-queries phones-index -o phones --expansions phones-corpus/expansions.tsv --max-train 4000 --samples 5 \
                --value-permutation
            ;;
        general)
            [ -d general-beir ] ||
                python "$here/compression_data.py" "$data/retrieval/msmarco-dl" general-beir --others 40000 --train 8000 --dev 500
            qbench benchmark import beir general-beir -o general --quantities ours
            ;;
        *)
            echo "no such benchmark: $name" >&2
            exit 1
            ;;
    esac
done
