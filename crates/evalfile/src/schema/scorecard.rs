//! Schemas of scorecards: rubrics, benchmarks, the index, cases, labels and results.

use serde_json::json;

use super::SchemaDefinitions;
use super::shape::{
    MapSchema, ValueSchema, any_of, anything, boolean, integer, list, list_or_none, number, reference,
    string, text, texts, unit,
};

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    defs.add_keys("scorecard-rubric", rubric());
    defs.add_keys("guidelines", guidelines());
    defs.add_keys("scorecard-benchmark", benchmark());
    defs.add_keys("evaluator-config", evaluator());
    defs.add_keys(
        "judge-settings",
        MapSchema::new("the judge's settings", "Settings of the judge.").optional_key(
            "prompt_file",
            text(),
            "The prompt file.",
        ),
    );

    defs.add_keys("scoring-scale", scale());
    defs.add_keys("scorecard-index", index());
    defs.add_keys("scorecard-case", case());
    defs.add_keys("scorecard-label", label());
    defs.add_keys("scorecard-result", result());

    for (rows, row) in [("scorecard-cases", "scorecard-case"), ("scorecard-labels", "scorecard-label")] {
        let key = rows.trim_start_matches("scorecard-");
        let rows_of = list_or_none(reference(row));
        let map = ValueSchema(
            json!({ "type": "object", "required": [key], "properties": { key: rows_of.0 }, "additionalProperties": false }),
        );
        defs.add_shape(rows, any_of([list_or_none(reference(row)), map]));
    }

    defs.add_keys(
        "scorecard-map",
        MapSchema::new("a scorecard", "A whole scorecard in one file.")
            .optional_key("$schema", anything(), "The schema of this file, for editors.")
            .optional_key("index", reference("scorecard-index"), "What its rubrics come to.")
            .optional_key("rubrics", list_or_none(reference("scorecard-rubric")), "Its rubrics.")
            .optional_key("benchmarks", list_or_none(reference("scorecard-benchmark")), "Its benchmarks.")
            .optional_key("cases", list_or_none(reference("scorecard-case")), "The cases.")
            .optional_key("labels", list_or_none(reference("scorecard-label")), "What people said.")
            .one_of(&["index", "rubrics"]),
    );
    defs.add_shape(
        "scorecard",
        ValueSchema(json!({
            "if": { "required": ["code"] },
            "then": { "if": { "required": ["components"] }, "then": reference("scorecard-index").0, "else": reference("scorecard-rubric").0 },
            "else": reference("scorecard-map").0,
        })),
    );
}

/// Returns the shape of one of several words, with an optional class name: `Criticality.hard_gate`.
fn word(words: &[&str]) -> ValueSchema {
    let dashed: Vec<String> = words.iter().map(|word| word.replace('_', "[-_]")).collect();
    any_of([
        ValueSchema(json!({ "enum": words })),
        ValueSchema(
            json!({ "type": "string", "deprecated": true, "pattern": format!("^([A-Za-z0-9_]+\\.)?({})$", dashed.join("|")) }),
        ),
    ])
}

fn code() -> ValueSchema {
    ValueSchema(json!({ "type": "string", "pattern": "^\\S+$" }))
}

fn aggregation() -> ValueSchema {
    word(&["WEIGHTED_AVERAGE", "MINIMUM", "MAXIMUM"])
}

fn rubric() -> MapSchema {
    let list_of = |name: &str| list(any_of([text(), reference(name)]));
    MapSchema::new("a rubric", "A node of the tree: what its benchmarks or other rubrics come to.")
        .optional_key("$schema", anything(), "The schema of this file, for editors.")
        .required_key("code", code(), "Its code, in one word; the file is named after it.")
        .required_key("label", text(), "Its name for people.")
        .optional_key("description", string(), "What it is about.")
        .optional_key("weight", unit(), "Its share of the node above, 0 to 1.")
        .required_key("aggregation_method", aggregation(), "What its parts come to.")
        .optional_key("passing_threshold", unit(), "Its pass line, 0 to 1; 0.80 unless given.")
        .optional_key("hard_gate", boolean(), "Whether everything above it fails with it.")
        .optional_key("evaluation_guidelines", reference("guidelines"), "What judges should keep in mind.")
        .optional_key("benchmarks", list_of("scorecard-benchmark"), "Codes of its benchmarks, for a leaf.")
        .optional_key("sub_rubrics", list_of("scorecard-rubric"), "Codes of the rubrics below it.")
        .one_of(&["benchmarks", "sub_rubrics"])
        .rule(json!({ "not": { "properties": { "benchmarks": { "type": "array" }, "sub_rubrics": { "type": "array" } }, "required": ["benchmarks", "sub_rubrics"] } }))
}

fn guidelines() -> MapSchema {
    MapSchema::new("the evaluation guidelines", "What judges should keep in mind.")
        .optional_key("focus_areas", texts(), "What to look at.")
        .optional_key("acceptable_deviations", texts(), "What may differ.")
        .optional_key("critical_requirements", texts(), "What must be there.")
        .optional_key("evidence_requirements", string(), "What a decision must rest on.")
        .optional_key("special_instructions", string(), "Anything else.")
}

fn benchmark() -> MapSchema {
    MapSchema::new("a benchmark", "One thing that is measured over all cases.")
        .optional_key("$schema", anything(), "The schema of this file, for editors.")
        .required_key("code", code(), "Its code, in one word; the file is named after it.")
        .required_key("concept", text(), "What is measured.")
        .required_key("weight", unit(), "Its share of the rubric, 0 to 1.")
        .required_key("threshold", unit(), "Its pass line, 0 to 1.")
        .required_key(
            "evaluator_type",
            word(&["code", "llm_judge", "hybrid", "manual_sme"]),
            "Who judges it.",
        )
        .required_key("inclusion_criteria", text(), "`Apply when ... Flag if ...`.")
        .optional_key("exclusion_criteria", text(), "`Do not apply when ...`.")
        .optional_key("parent_rubric", text(), "The code of its rubric.")
        .optional_key("label", string(), "Its name for people.")
        .optional_key(
            "criticality",
            word(&["hard_gate", "threshold_gate", "improvement_signal"]),
            "What a failure does to the nodes above.",
        )
        .optional_key(
            "scoring_scale",
            reference("scoring-scale"),
            "The scale of its scores; 0 to 1 unless given.",
        )
        .optional_key("evaluator_config", reference("evaluator-config"), "Settings of who judges.")
        .optional_key("llm_prompt_file", text(), "The judge's prompt: a path from the scorecard's folder.")
        .optional_key("examples", texts(), "Examples.")
        .optional_key("tags", texts(), "Labels.")
}

fn evaluator() -> MapSchema {
    MapSchema::new("an evaluator's settings", "Settings of who judges.")
        .optional_key("deterministic", list_or_none(anything()), "Checks that need no judge.")
        .optional_key("llm_judge", reference("judge-settings"), "Settings of the judge.")
        .optional_key("aggregation", word(&["all_must_pass"]), "What checks and judge come to.")
}

fn scale() -> MapSchema {
    MapSchema::new("a scoring scale", "The scale of a benchmark's scores.")
        .optional_key("min_value", number(), "The lowest score; 0 unless given.")
        .optional_key("max_value", number(), "The highest score; 1 unless given.")
        .optional_key(
            "descriptions",
            ValueSchema(json!({ "type": "object", "additionalProperties": { "type": "string" } })),
            "What scores look like.",
        )
        .optional_key(
            "normalization_formula",
            text(),
            "Arithmetic over `x`, `min` and `max` that leads to 0 to 1.",
        )
}

fn index() -> MapSchema {
    let weights =
        ValueSchema(json!({ "type": "object", "minProperties": 1, "additionalProperties": unit().0 }));
    let sets =
        ValueSchema(json!({ "type": "object", "minProperties": 1, "additionalProperties": weights.0 }));
    MapSchema::new("an index", "One number over several rubrics.")
        .optional_key("$schema", anything(), "The schema of this file, for editors.")
        .required_key("code", code(), "Its code, in one word.")
        .optional_key("label", string(), "Its name for people.")
        .optional_key("description", string(), "What it is about.")
        .optional_key("aggregation_method", aggregation(), "What its components come to.")
        .optional_key("passing_threshold", unit(), "Its pass line, 0 to 1; 0.80 unless given.")
        .required_key(
            "components",
            list(any_of([text(), reference("scorecard-rubric")])),
            "The codes of its rubrics.",
        )
        .non_null_key(
            "weight_sets",
            any_of([weights, sets]),
            "Weights of the components, or several sets of them by name.",
        )
        .older_key("weights", "weight_sets")
        .optional_key("weight_set", text(), "The set that counts; the first unless given.")
        .one_of(&["weight_sets", "weights"])
}

fn case() -> MapSchema {
    MapSchema::new("a case", "What a benchmark looks at.")
        .required_key("id", text(), "Its name.")
        .optional_key("tags", texts(), "Labels.")
        .optional_key("benchmarks", list_or_none(string()), "The benchmarks that apply; all unless given.")
        .optional_key("ground_truth", anything(), "What is true.")
        .optional_key("source_narrative", anything(), "What it is about.")
        .older_key("source", "source_narrative")
        .optional_key("candidate_output", anything(), "What is judged.")
        .older_key("candidate", "candidate_output")
        .older_key("output", "candidate_output")
        .optional_key("metadata", anything(), "Free data.")
}

fn label() -> MapSchema {
    MapSchema::new("a label", "What a person said about a case and a benchmark.")
        .non_null_key("trace_id", text(), "The case.")
        .non_null_key("case", text(), "The case (the key of labels files).")
        .non_null_key("benchmark_code", text(), "The benchmark, or `NONE_OF_THE_ABOVE`.")
        .non_null_key("criterion", text(), "The benchmark (the key of labels files).")
        .optional_key("outcome", decision(), "What was said; `fail` unless given.")
        .optional_key("label", decision(), "What was said (the key of labels files).")
        .optional_key("severity", word(&["low", "medium", "high"]), "How bad it is.")
        .optional_key("note", string(), "Why.")
        .optional_key("reviewer", string(), "Who said it.")
        .optional_key("who", string(), "Who said it (the key of labels files).")
        .optional_key("at", string(), "When.")
        .optional_key("version", string(), "Of what.")
        .optional_key("suite", string(), "The suite of the case, for calibration.")
        .optional_key("repeat", integer(1, i64::from(u32::MAX)), "Which run of the case, for calibration.")
        .optional_key("system", string(), "Who gave the answer, for calibration.")
        .optional_key("sampled", string(), "How the case came to be labelled, for calibration.")
        .optional_key("split", string(), "What the label may be used for, for calibration.")
        .one_of(&["trace_id", "case"])
        .one_of(&["benchmark_code", "criterion"])
        .not_both(&["trace_id", "case"])
        .not_both(&["benchmark_code", "criterion"])
        .not_both(&["outcome", "label"])
        .not_both(&["reviewer", "who"])
}

fn decision() -> ValueSchema {
    word(&["pass", "fail", "met", "unmet", "not_applicable", "unsure"])
}

fn result() -> MapSchema {
    MapSchema::new("a result", "What a benchmark came to on a case.")
        .required_key("case", text(), "The case.")
        .required_key("benchmark", text(), "The benchmark.")
        .optional_key("pass", boolean(), "Whether it passed.")
        .optional_key("score", number(), "Its score, on the benchmark's scale.")
        .optional_key("uncertain", boolean(), "Whether the judge could not tell.")
        .optional_key("applies", boolean(), "Whether the benchmark applies to the case.")
        .optional_key("reason", string(), "Why.")
        .optional_key("confidence", string(), "How sure the judge is.")
}
