//! Schemas of criteria, rubrics, panels and judge settings.

use serde_json::json;

use super::SchemaDefinitions;
use super::shape::{
    MapSchema, ValueSchema, above, any_of, anything, boolean, count, integer, list, number, reference,
    string, text, unit, word,
};

/// Adds the definitions.
pub(super) fn add(defs: &mut SchemaDefinitions) {
    defs.add_keys("criterion-map", criterion());
    defs.add_shape(
        "criterion",
        any_of([
            text().with_keyword(
                "description",
                json!("Criterion text. A plain string is a gate: the case fails if the criterion is unmet."),
            ),
            reference("criterion-map"),
        ]),
    );

    defs.add_shape("criteria", any_of([text(), list(reference("criterion"))]));
    defs.add_keys("score-range", range());
    defs.add_shape("score-ranges", any_of([list(reference("score-range")), ranges_by_start()]));
    defs.add_keys(
        "judging-map",
        MapSchema::new("`judging`", "How criteria are sent to the judge.").required_key(
            "batched",
            batch(),
            "Number of criteria in one call.",
        ),
    );

    defs.add_keys("panel", panel());
    defs.add_keys(
        "panel-judge",
        MapSchema::new("a judge of `judges`", "A judge of the panel.")
            .required_key("judge", text(), "Judge: a model, the name of a target, or `offline`.")
            .optional_key("weight", above(0.0), "Weight of its votes, with `combine: weighted`."),
    );

    defs.add_keys(
        "escalation",
        MapSchema::new("`escalate`", "A stronger judge for decisions that the panel is unsure of.")
            .required_key("to", text(), "Judge to escalate to.")
            .optional_key(
                "when",
                word(&["unsure", "split"]),
                "When to escalate: `unsure` (the default) or `split`.",
            ),
    );

    defs.add_keys("rubric-file-map", rubric_file());
    defs.add_shape("rubric-file", any_of([list(reference("criterion")), reference("rubric-file-map")]));
}

fn criterion() -> MapSchema {
    MapSchema::new("a criterion", "One thing to decide about an answer.")
        .optional_key("id", text(), "Criterion id, unique in its rubric. Default: by position, such as `rubric-1`.")
        .optional_key("outcome", text(), "Criterion text: a sentence that is true or false of an answer.")
        .optional_key("expected_outcome", text(), "Criterion text (the `evalcases` format).")
        .older_key("description", "outcome")
        .optional_key("weight", number(), "Weight. Default: 1. A criterion of weight 0 can still be a gate. A negative weight is a penalty.")
        .optional_key("required", boolean(), "Gate: the case fails if the criterion is unmet.")
        .optional_key("min_score", unit(), "Minimum score, 0 to 1.")
        .optional_key("required_min_score", integer(0, 10), "Minimum raw score, 0 to 10. Needs `score_ranges`.")
        .optional_key("score_ranges", reference("score-ranges"), "Scores the criterion from 0 to 10: a description of each score range.")
        .optional_key(
            "operator",
            word(&["correctness", "contradiction"]),
            "`correctness` (the default), or `contradiction`: met unless the answer contradicts it.",
        )
        .optional_key("allow_not_applicable", boolean(), "Whether the judge may decide \"not applicable\".")
        .one_of(&["outcome", "expected_outcome", "description", "score_ranges"])
        .not_both(&["min_score", "required_min_score"])
        .rule(json!({ "if": { "required": ["required_min_score"], "properties": { "required_min_score": { "type": "number" } } }, "then": { "required": ["score_ranges"] } }))
}

fn range() -> MapSchema {
    let bound = integer(0, 10);
    let bounds = ValueSchema(
        json!({ "type": "array", "prefixItems": [bound.0, bound.0], "items": false, "minItems": 2 }),
    );
    MapSchema::new("a score range", "A range of scores with its description.")
        .required_key("score_range", bounds, "Lowest and highest score, inclusive: `[0, 4]`.")
        .optional_key("outcome", text(), "Description of an answer in this range.")
        .optional_key(
            "expected_outcome",
            text(),
            "Description of an answer in this range (the `evalcases` format).",
        )
        .older_key("description", "outcome")
        .one_of(&["outcome", "expected_outcome", "description"])
}

/// Returns the shape of a map from the lowest score of each range to its text.
fn ranges_by_start() -> ValueSchema {
    ValueSchema(json!({
        "type": "object",
        "description": "Descriptions of score ranges by their lowest score. The first is 0. Each range ends before the next.",
        "patternProperties": { "^\\s*0*([0-9]|10)\\s*$": text().0, "^x-": {} },
        "additionalProperties": false,
        "required": ["0"],
    }))
}

fn batch() -> ValueSchema {
    any_of([count(1), boolean()])
}

/// Returns `judging`, `batched`, `evidence`, `truncate` and `panel`, which always occur together.
pub(super) fn judging_keys() -> MapSchema {
    MapSchema::new("", "")
        .optional_key(
            "judging",
            any_of([word(&["per-criterion", "batched"]), reference("judging-map")]),
            "One call for each criterion (`per-criterion`, the default), or several criteria in a call (`batched`, `{batched: N}`).",
        )
        .optional_key("batched", batch(), "Judges several criteria in one call. Same as `judging: {batched: N}`.")
        .optional_key("evidence", word(&["checked", "required"]), "`required`: a decision without a quote found in the answer is ungraded. `checked`: quotes are only checked.")
        .optional_key(
            "truncate",
            word(&["never", "head", "tail", "middle", "chunk"]),
            "How to shorten material that exceeds the judge's context window.",
        )
        .optional_key("panel", reference("panel"), "Panel: several judges, repeats, escalation.")
        .not_both(&["judging", "batched"])
}

fn panel() -> MapSchema {
    MapSchema::new("`panel`", "Several judges, or one judge asked several times.")
        .optional_key("judges", list(any_of([text(), reference("panel-judge")])), "Judges that vote.")
        .optional_key("repeats", integer(1, 100), "Number of calls of each judge.")
        .optional_key(
            "combine",
            word(&["majority", "mean", "median", "unanimous", "any", "weighted"]),
            "How votes are combined. Default: `majority` for met and unmet, `mean` for scores.",
        )
        .optional_key("ties", word(&["ungraded", "fail", "pass"]), "Outcome of a tie.")
        .optional_key(
            "temperature",
            number().with_keyword("minimum", json!(0)).with_keyword("maximum", json!(2)),
            "Sampling temperature, 0 to 2.",
        )
        .optional_key(
            "escalate",
            any_of([text(), reference("escalation")]),
            "A stronger judge for decisions that the panel is unsure of.",
        )
        .optional_key(
            "scoring",
            word(&["written", "logprobs"]),
            "How decisions are read: as `written`, or from token probabilities (`logprobs`).",
        )
}

fn rubric_file() -> MapSchema {
    MapSchema::new(
        "a rubric file",
        "A rubric in a file of its own, for `assize grade` and `assize score --rubric`.",
    )
    .optional_key("$schema", anything(), "URL or path of the JSON Schema, for editors.")
    .optional_key("name", text(), "Name shown in results. Default: the file name.")
    .optional_key("description", string(), "Description.")
    .non_null_key("criteria", reference("criteria"), "Criteria.")
    .older_key("rubrics", "criteria")
    .merge(&threshold_keys())
    .merge(&judging_keys())
    .optional_key("judge", text(), "Judge: a model, the name of a target, or `offline`.")
    .one_of(&["criteria", "rubrics"])
    .not_both(&["criteria", "rubrics"])
}

/// Returns the thresholds of the verdict.
pub(super) fn threshold_keys() -> MapSchema {
    MapSchema::new("", "")
        .optional_key("threshold", unit(), "Pass threshold, 0 to 1. Default: 0.8.")
        .optional_key("borderline", unit(), "Borderline threshold, 0 to 1. Scores below it fail.")
}
