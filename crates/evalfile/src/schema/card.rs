//! Schemas of scorecards: rubrics, benchmarks, the index, cases, labels and results.

use serde_json::json;

use super::Defs;
use super::shape::{
    Keys, Shape, any_of, anything, boolean, like, list, list_or_none, number, string, text, texts, unit,
    whole,
};

/// Adds the definitions.
pub(super) fn add(defs: &mut Defs) {
    defs.keys("scorecard-rubric", rubric());
    defs.keys("guidelines", guidelines());
    defs.keys("scorecard-benchmark", benchmark());
    defs.keys("evaluator-config", evaluator());
    defs.keys(
        "judge-settings",
        Keys::of("the judge's settings", "Settings of the judge.").key(
            "prompt_file",
            text(),
            "The prompt file.",
        ),
    );
    defs.keys("scoring-scale", scale());
    defs.keys("scorecard-index", index());
    defs.keys("scorecard-case", case());
    defs.keys("scorecard-label", label());
    defs.keys("scorecard-result", result());
    for (rows, row) in [("scorecard-cases", "scorecard-case"), ("scorecard-labels", "scorecard-label")] {
        let key = rows.trim_start_matches("scorecard-");
        let rows_of = list_or_none(like(row));
        let map = Shape(
            json!({ "type": "object", "required": [key], "properties": { key: rows_of.0 }, "additionalProperties": false }),
        );
        defs.shape(rows, any_of([list_or_none(like(row)), map]));
    }
    defs.keys(
        "scorecard-map",
        Keys::of("a scorecard", "A whole scorecard in one file.")
            .key("$schema", anything(), "The schema of this file, for editors.")
            .key("index", like("scorecard-index"), "What its rubrics come to.")
            .key("rubrics", list_or_none(like("scorecard-rubric")), "Its rubrics.")
            .key("benchmarks", list_or_none(like("scorecard-benchmark")), "Its benchmarks.")
            .key("cases", list_or_none(like("scorecard-case")), "The cases.")
            .key("labels", list_or_none(like("scorecard-label")), "What people said.")
            .one_of(&["index", "rubrics"]),
    );
    defs.shape(
        "scorecard",
        Shape(json!({
            "if": { "required": ["code"] },
            "then": { "if": { "required": ["components"] }, "then": like("scorecard-index").0, "else": like("scorecard-rubric").0 },
            "else": like("scorecard-map").0,
        })),
    );
}

/// Returns the shape of one of several words, with an optional class name: `Criticality.hard_gate`.
fn word(words: &[&str]) -> Shape {
    let dashed: Vec<String> = words.iter().map(|word| word.replace('_', "[-_]")).collect();
    any_of([
        Shape(json!({ "enum": words })),
        Shape(
            json!({ "type": "string", "deprecated": true, "pattern": format!("^([A-Za-z0-9_]+\\.)?({})$", dashed.join("|")) }),
        ),
    ])
}

fn code() -> Shape {
    Shape(json!({ "type": "string", "pattern": "^\\S+$" }))
}

fn aggregation() -> Shape {
    word(&["WEIGHTED_AVERAGE", "MINIMUM", "MAXIMUM"])
}

fn rubric() -> Keys {
    let list_of = |name: &str| list(any_of([text(), like(name)]));
    Keys::of("a rubric", "A node of the tree: what its benchmarks or other rubrics come to.")
        .key("$schema", anything(), "The schema of this file, for editors.")
        .needed("code", code(), "Its code, in one word; the file is named after it.")
        .needed("label", text(), "Its name for people.")
        .key("description", string(), "What it is about.")
        .key("weight", unit(), "Its share of the node above, 0 to 1.")
        .needed("aggregation_method", aggregation(), "What its parts come to.")
        .key("passing_threshold", unit(), "Its pass line, 0 to 1; 0.80 unless given.")
        .key("hard_gate", boolean(), "Whether everything above it fails with it.")
        .key("evaluation_guidelines", like("guidelines"), "What judges should keep in mind.")
        .key("benchmarks", list_of("scorecard-benchmark"), "Codes of its benchmarks, for a leaf.")
        .key("sub_rubrics", list_of("scorecard-rubric"), "Codes of the rubrics below it.")
        .one_of(&["benchmarks", "sub_rubrics"])
        .rule(json!({ "not": { "properties": { "benchmarks": { "type": "array" }, "sub_rubrics": { "type": "array" } }, "required": ["benchmarks", "sub_rubrics"] } }))
}

fn guidelines() -> Keys {
    Keys::of("the evaluation guidelines", "What judges should keep in mind.")
        .key("focus_areas", texts(), "What to look at.")
        .key("acceptable_deviations", texts(), "What may differ.")
        .key("critical_requirements", texts(), "What must be there.")
        .key("evidence_requirements", string(), "What a decision must rest on.")
        .key("special_instructions", string(), "Anything else.")
}

fn benchmark() -> Keys {
    Keys::of("a benchmark", "One thing that is measured over all cases.")
        .key("$schema", anything(), "The schema of this file, for editors.")
        .needed("code", code(), "Its code, in one word; the file is named after it.")
        .needed("concept", text(), "What is measured.")
        .needed("weight", unit(), "Its share of the rubric, 0 to 1.")
        .needed("threshold", unit(), "Its pass line, 0 to 1.")
        .needed("evaluator_type", word(&["code", "llm_judge", "hybrid", "manual_sme"]), "Who judges it.")
        .needed("inclusion_criteria", text(), "`Apply when ... Flag if ...`.")
        .key("exclusion_criteria", text(), "`Do not apply when ...`.")
        .key("parent_rubric", text(), "The code of its rubric.")
        .key("label", string(), "Its name for people.")
        .key(
            "criticality",
            word(&["hard_gate", "threshold_gate", "improvement_signal"]),
            "What a failure does to the nodes above.",
        )
        .key("scoring_scale", like("scoring-scale"), "The scale of its scores; 0 to 1 unless given.")
        .key("evaluator_config", like("evaluator-config"), "Settings of who judges.")
        .key("llm_prompt_file", text(), "The judge's prompt: a path from the scorecard's folder.")
        .key("examples", texts(), "Examples.")
        .key("tags", texts(), "Labels.")
}

fn evaluator() -> Keys {
    Keys::of("an evaluator's settings", "Settings of who judges.")
        .key("deterministic", list_or_none(anything()), "Checks that need no judge.")
        .key("llm_judge", like("judge-settings"), "Settings of the judge.")
        .key("aggregation", word(&["all_must_pass"]), "What checks and judge come to.")
}

fn scale() -> Keys {
    Keys::of("a scoring scale", "The scale of a benchmark's scores.")
        .key("min_value", number(), "The lowest score; 0 unless given.")
        .key("max_value", number(), "The highest score; 1 unless given.")
        .key(
            "descriptions",
            Shape(json!({ "type": "object", "additionalProperties": { "type": "string" } })),
            "What scores look like.",
        )
        .key("normalization_formula", text(), "Arithmetic over `x`, `min` and `max` that leads to 0 to 1.")
}

fn index() -> Keys {
    let weights = Shape(json!({ "type": "object", "minProperties": 1, "additionalProperties": unit().0 }));
    let sets = Shape(json!({ "type": "object", "minProperties": 1, "additionalProperties": weights.0 }));
    Keys::of("an index", "One number over several rubrics.")
        .key("$schema", anything(), "The schema of this file, for editors.")
        .needed("code", code(), "Its code, in one word.")
        .key("label", string(), "Its name for people.")
        .key("description", string(), "What it is about.")
        .key("aggregation_method", aggregation(), "What its components come to.")
        .key("passing_threshold", unit(), "Its pass line, 0 to 1; 0.80 unless given.")
        .needed("components", list(any_of([text(), like("scorecard-rubric")])), "The codes of its rubrics.")
        .filled(
            "weight_sets",
            any_of([weights, sets]),
            "Weights of the components, or several sets of them by name.",
        )
        .older("weights", "weight_sets")
        .key("weight_set", text(), "The set that counts; the first unless given.")
        .one_of(&["weight_sets", "weights"])
}

fn case() -> Keys {
    Keys::of("a case", "What a benchmark looks at.")
        .needed("id", text(), "Its name.")
        .key("tags", texts(), "Labels.")
        .key("benchmarks", list_or_none(string()), "The benchmarks that apply; all unless given.")
        .key("ground_truth", anything(), "What is true.")
        .key("source_narrative", anything(), "What it is about.")
        .older("source", "source_narrative")
        .key("candidate_output", anything(), "What is judged.")
        .older("candidate", "candidate_output")
        .older("output", "candidate_output")
        .key("metadata", anything(), "Free data.")
}

fn label() -> Keys {
    Keys::of("a label", "What a person said about a case and a benchmark.")
        .filled("trace_id", text(), "The case.")
        .filled("case", text(), "The case (the key of labels files).")
        .filled("benchmark_code", text(), "The benchmark, or `NONE_OF_THE_ABOVE`.")
        .filled("criterion", text(), "The benchmark (the key of labels files).")
        .key("outcome", decision(), "What was said; `fail` unless given.")
        .key("label", decision(), "What was said (the key of labels files).")
        .key("severity", word(&["low", "medium", "high"]), "How bad it is.")
        .key("note", string(), "Why.")
        .key("reviewer", string(), "Who said it.")
        .key("who", string(), "Who said it (the key of labels files).")
        .key("at", string(), "When.")
        .key("version", string(), "Of what.")
        .key("suite", string(), "The suite of the case, for calibration.")
        .key("repeat", whole(1, i64::from(u32::MAX)), "Which run of the case, for calibration.")
        .key("system", string(), "Who gave the answer, for calibration.")
        .key("sampled", string(), "How the case came to be labelled, for calibration.")
        .key("split", string(), "What the label may be used for, for calibration.")
        .one_of(&["trace_id", "case"])
        .one_of(&["benchmark_code", "criterion"])
        .not_both(&["trace_id", "case"])
        .not_both(&["benchmark_code", "criterion"])
        .not_both(&["outcome", "label"])
        .not_both(&["reviewer", "who"])
}

fn decision() -> Shape {
    word(&["pass", "fail", "met", "unmet", "not_applicable", "unsure"])
}

fn result() -> Keys {
    Keys::of("a result", "What a benchmark came to on a case.")
        .needed("case", text(), "The case.")
        .needed("benchmark", text(), "The benchmark.")
        .key("pass", boolean(), "Whether it passed.")
        .key("score", number(), "Its score, on the benchmark's scale.")
        .key("uncertain", boolean(), "Whether the judge could not tell.")
        .key("applies", boolean(), "Whether the benchmark applies to the case.")
        .key("reason", string(), "Why.")
        .key("confidence", string(), "How sure the judge is.")
}
