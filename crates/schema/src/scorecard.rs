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
        defs.add_shape(rows, any_of([list_or_none(reference(row)), map, reference(row)]));
    }

    defs.add_keys(
        "scorecard-map",
        MapSchema::new("a scorecard", "A scorecard in one file.")
            .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
            .optional_key("index", reference("scorecard-index"), "Index over its rubrics.")
            .optional_key("rubrics", list_or_none(reference("scorecard-rubric")), "Rubrics.")
            .optional_key("benchmarks", list_or_none(reference("scorecard-benchmark")), "Benchmarks.")
            .optional_key("cases", list_or_none(reference("scorecard-case")), "Cases.")
            .optional_key(
                "labels",
                list_or_none(reference("scorecard-label")),
                "Labels: decisions by people.",
            )
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
    MapSchema::new("a rubric", "A node of the tree that aggregates benchmarks or other rubrics.")
        .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
        .required_key("code", code(), "Code without spaces. The file is named after it.")
        .required_key("label", text(), "Display name.")
        .optional_key("description", string(), "Description.")
        .optional_key("weight", unit(), "Weight in the parent node, 0 to 1.")
        .required_key("aggregation_method", aggregation(), "How its children are aggregated.")
        .optional_key("passing_threshold", unit(), "Pass threshold, 0 to 1. Default: 0.80.")
        .optional_key("hard_gate", boolean(), "Whether a failure of this node blocks all nodes above it.")
        .optional_key("evaluation_guidelines", reference("guidelines"), "Guidelines for judges.")
        .optional_key("benchmarks", list_of("scorecard-benchmark"), "Codes of its benchmarks. For leaf rubrics.")
        .optional_key("sub_rubrics", list_of("scorecard-rubric"), "Codes of its child rubrics.")
        .one_of(&["benchmarks", "sub_rubrics"])
        .rule(json!({ "not": { "properties": { "benchmarks": { "type": "array" }, "sub_rubrics": { "type": "array" } }, "required": ["benchmarks", "sub_rubrics"] } }))
}

fn guidelines() -> MapSchema {
    MapSchema::new("the evaluation guidelines", "Guidelines for judges.")
        .optional_key("focus_areas", texts(), "Aspects to focus on.")
        .optional_key("acceptable_deviations", texts(), "Deviations that are acceptable.")
        .optional_key("critical_requirements", texts(), "Requirements that must be met for a pass.")
        .optional_key(
            "evidence_requirements",
            string(),
            "Evidence that a decision needs: a pass without a verified quote does not count.",
        )
        .optional_key(
            "evidence",
            word(&["required", "advisory"]),
            "`advisory`: a pass may do without the evidence. Default: `required`.",
        )
        .optional_key("special_instructions", string(), "Further instructions.")
}

fn benchmark() -> MapSchema {
    MapSchema::new("a benchmark", "A leaf of a scorecard, scored over all cases that it applies to.")
        .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
        .required_key("code", code(), "Code without spaces. The file is named after it.")
        .required_key("concept", text(), "Concept to measure.")
        .required_key("weight", unit(), "Weight in its rubric, 0 to 1.")
        .required_key("threshold", unit(), "Pass threshold, 0 to 1.")
        .required_key(
            "evaluator_type",
            word(&["code", "llm_judge", "hybrid", "manual_sme"]),
            "Type of evaluator.",
        )
        .required_key("inclusion_criteria", text(), "`Apply when ... Flag if ...`.")
        .optional_key("exclusion_criteria", text(), "`Do not apply when ...`.")
        .optional_key("parent_rubric", text(), "Code of the rubric it belongs to.")
        .optional_key("label", string(), "Display name.")
        .optional_key(
            "criticality",
            word(&["hard_gate", "threshold_gate", "improvement_signal"]),
            "Effect of a failure on the nodes above.",
        )
        .optional_key("scoring_scale", reference("scoring-scale"), "Scale of its scores. Default: 0 to 1.")
        .optional_key("evaluator_config", reference("evaluator-config"), "Settings of the evaluator.")
        .optional_key(
            "llm_prompt_file",
            text(),
            "Path of the judge's prompt, relative to the scorecard's folder.",
        )
        .optional_key("metric", anything(), "Description of the metric, for people. Not interpreted.")
        .optional_key("examples", texts(), "Examples.")
        .optional_key("tags", texts(), "Tags.")
}

fn evaluator() -> MapSchema {
    MapSchema::new("an evaluator's settings", "Settings of the evaluator.")
        .optional_key("deterministic", list_or_none(anything()), "Deterministic checks, which need no judge.")
        .optional_key("llm_judge", reference("judge-settings"), "Settings of the judge.")
        .optional_key("aggregation", word(&["all_must_pass"]), "How checks and judge are combined.")
        .optional_key(
            "raters",
            integer(1, 100),
            "Number of reviewers needed before labels count. Default: 1.",
        )
}

fn scale() -> MapSchema {
    MapSchema::new("a scoring scale", "The scale of a benchmark's scores.")
        .optional_key("min_value", number(), "Lowest score. Default: 0.")
        .optional_key("max_value", number(), "Highest score. Default: 1.")
        .optional_key(
            "descriptions",
            ValueSchema(json!({ "type": "object", "additionalProperties": { "type": "string" } })),
            "Description of each score.",
        )
        .optional_key(
            "normalization_formula",
            text(),
            "Arithmetic over `x`, `min` and `max` with a result from 0 to 1.",
        )
}

fn index() -> MapSchema {
    let weights =
        ValueSchema(json!({ "type": "object", "minProperties": 1, "additionalProperties": unit().0 }));
    let sets =
        ValueSchema(json!({ "type": "object", "minProperties": 1, "additionalProperties": weights.0 }));
    MapSchema::new("an index", "One score aggregated from several rubrics.")
        .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
        .required_key("code", code(), "Code without spaces.")
        .optional_key("label", string(), "Display name.")
        .optional_key("description", string(), "Description.")
        .optional_key("aggregation_method", aggregation(), "How its components are aggregated.")
        .optional_key("passing_threshold", unit(), "Pass threshold, 0 to 1. Default: 0.80.")
        .required_key(
            "components",
            list(any_of([text(), reference("scorecard-rubric")])),
            "Codes of its rubrics.",
        )
        .non_null_key(
            "weight_sets",
            any_of([weights, sets]),
            "Weights of the components, or several named sets of weights.",
        )
        .older_key("weights", "weight_sets")
        .optional_key("weight_set", text(), "Name of the weight set to use. Default: the first.")
        .optional_key(
            "optional",
            boolean(),
            "If true, components without a case don't leave the index incomplete. Default: false.",
        )
        .one_of(&["weight_sets", "weights"])
}

fn case() -> MapSchema {
    MapSchema::new("a case", "A case of a scorecard.")
        .required_key("id", text(), "Case id.")
        .optional_key("tags", texts(), "Tags.")
        .optional_key(
            "benchmarks",
            list_or_none(string()),
            "Codes of the benchmarks that apply. Default: all.",
        )
        .optional_key("ground_truth", anything(), "Ground truth.")
        .optional_key("source_narrative", anything(), "Description.")
        .older_key("source", "source_narrative")
        .optional_key("candidate_output", anything(), "Output to grade.")
        .older_key("candidate", "candidate_output")
        .older_key("output", "candidate_output")
        .optional_key("metadata", anything(), "Any data. Not interpreted.")
}

fn label() -> MapSchema {
    MapSchema::new("a label", "A person's decision on a case and a benchmark.")
        .non_null_key("trace_id", text(), "Case id.")
        .non_null_key("case", text(), "Case id (as in labels files).")
        .non_null_key(
            "benchmark_code",
            text(),
            "Benchmark code, `NONE_OF_THE_ABOVE` (another failure) or `NO_FAILURE`.",
        )
        .non_null_key("criterion", text(), "Benchmark code (as in labels files).")
        .optional_key("outcome", decision(), "Decision. Default: `fail`.")
        .optional_key("label", decision(), "Decision (as in labels files).")
        .optional_key("severity", word(&["low", "medium", "high"]), "Severity.")
        .optional_key("note", string(), "Reason for the decision.")
        .optional_key("reviewer", string(), "Role of the sender.")
        .optional_key("who", string(), "Reviewer (as in labels files).")
        .optional_key("at", string(), "Time of the decision.")
        .optional_key("version", string(), "Version of what was labeled.")
        .optional_key("seen", string(), "Hash of what the reviewer saw, as `assize review` writes it.")
        .optional_key("suite", string(), "Suite of the case, for calibration.")
        .optional_key("repeat", integer(1, i64::from(u32::MAX)), "Trial of the case, for calibration.")
        .optional_key("system", string(), "Target that gave the answer.")
        .optional_key("adjudicates", boolean(), "True if it decides what other reviewers disagreed on.")
        .optional_key("sampled", string(), "Sampling method that chose the case, for calibration.")
        .optional_key("drawn", number(), "Probability with which the case was drawn, for calibration.")
        .optional_key("split", string(), "Data split of the label, for calibration.")
        .one_of(&["trace_id", "case"])
        .one_of(&["benchmark_code", "criterion"])
        .not_both(&["trace_id", "case"])
        .not_both(&["benchmark_code", "criterion"])
        .not_both(&["outcome", "label"])
        .not_both(&["reviewer", "who"])
}

fn decision() -> ValueSchema {
    any_of([word(&["pass", "fail", "met", "unmet", "not_applicable", "unsure"]), number()])
}

fn result() -> MapSchema {
    MapSchema::new("a result", "The decision of a benchmark on a case.")
        .required_key("case", text(), "Case id.")
        .required_key("benchmark", text(), "Benchmark code.")
        .optional_key("pass", boolean(), "Whether the case passed.")
        .optional_key("score", number(), "Score on the benchmark's scale.")
        .optional_key("uncertain", boolean(), "Whether the judge was uncertain.")
        .optional_key("applies", boolean(), "Whether the benchmark applies to the case.")
        .optional_key("reason", string(), "Reason for the decision.")
        .optional_key("confidence", string(), "Confidence of the judge.")
}
