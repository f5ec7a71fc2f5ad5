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
                json!("A criterion in one sentence; the case fails without it."),
            ),
            reference("criterion-map"),
        ]),
    );

    defs.add_shape("criteria", any_of([text(), list(reference("criterion"))]));
    defs.add_keys("score-range", range());
    defs.add_shape("score-ranges", any_of([list(reference("score-range")), ranges_by_start()]));
    defs.add_keys(
        "judging-map",
        MapSchema::new("`judging`", "How criteria are put to the judge.").required_key(
            "batched",
            batch(),
            "How many criteria go into one call.",
        ),
    );

    defs.add_keys("panel", panel());
    defs.add_keys(
        "panel-judge",
        MapSchema::new("a judge of `judges`", "A judge of the panel.")
            .required_key("judge", text(), "Its name: a model, a target, `offline`.")
            .optional_key("weight", above(0.0), "How much its votes count, with `combine: weighted`."),
    );

    defs.add_keys(
        "escalation",
        MapSchema::new("`escalate`", "Who decides where the panel is not sure.")
            .required_key("to", text(), "The judge that is asked then.")
            .optional_key("when", word(&["unsure", "split"]), "`unsure` (the default) or `split`."),
    );

    defs.add_keys("rubric-file-map", rubric_file());
    defs.add_shape("rubric-file", any_of([list(reference("criterion")), reference("rubric-file-map")]));
}

fn criterion() -> MapSchema {
    MapSchema::new("a criterion", "Something that an answer does or does not do, judged by itself.")
        .optional_key("id", text(), "Its name, unique in its rubric. By position (`rubric-1`) when it is left out.")
        .optional_key("outcome", text(), "What is checked, in a sentence that is true or false of an answer.")
        .optional_key("expected_outcome", text(), "What is checked (the key of format 1).")
        .older_key("description", "outcome")
        .optional_key("weight", number(), "How much it counts, 1 if left out. 0 still gates; a negative weight is a penalty.")
        .optional_key("required", boolean(), "Whether the case fails without it.")
        .optional_key("min_score", unit(), "The lowest value that will do, 0 to 1.")
        .optional_key("required_min_score", integer(0, 10), "The lowest raw score that will do, 0 to 10; needs `score_ranges`.")
        .optional_key("score_ranges", reference("score-ranges"), "Makes it a criterion that is scored 0 to 10: what each range looks like.")
        .optional_key(
            "operator",
            word(&["correctness", "contradiction"]),
            "`correctness`, or `contradiction`: a fact, met as long as nothing contradicts it.",
        )
        .optional_key("allow_not_applicable", boolean(), "Whether the judge may answer \"not applicable\".")
        .one_of(&["outcome", "expected_outcome", "description", "score_ranges"])
        .not_both(&["min_score", "required_min_score"])
        .rule(json!({ "if": { "required": ["required_min_score"], "properties": { "required_min_score": { "type": "number" } } }, "then": { "required": ["score_ranges"] } }))
}

fn range() -> MapSchema {
    let bound = integer(0, 10);
    let bounds = ValueSchema(
        json!({ "type": "array", "prefixItems": [bound.0, bound.0], "items": false, "minItems": 2 }),
    );
    MapSchema::new("a score range", "What an answer with such a score looks like.")
        .required_key("score_range", bounds, "The lowest and the highest score, both included: `[0, 4]`.")
        .optional_key("outcome", text(), "What an answer in this range looks like.")
        .optional_key(
            "expected_outcome",
            text(),
            "What an answer in this range looks like (the key of format 1).",
        )
        .older_key("description", "outcome")
        .one_of(&["outcome", "expected_outcome", "description"])
}

/// Returns the shape of a map from the lowest score of each range to its text.
fn ranges_by_start() -> ValueSchema {
    ValueSchema(json!({
        "type": "object",
        "description": "What each range looks like, by its lowest score; the first is 0, each ends before the next.",
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
            "One call a criterion (`per-criterion`, the default), or several in one (`batched`, `{batched: N}`).",
        )
        .optional_key("batched", batch(), "Several criteria in one call; the same as `judging: {batched: N}`.")
        .optional_key("evidence", word(&["checked", "required"]), "Whether a decision needs a quote that stands in the answer.")
        .optional_key(
            "truncate",
            word(&["never", "head", "tail", "middle", "chunk"]),
            "What becomes of material that is longer than the judge can read.",
        )
        .optional_key("panel", reference("panel"), "Several judges, repeats, escalation.")
        .not_both(&["judging", "batched"])
}

fn panel() -> MapSchema {
    MapSchema::new("`panel`", "Several judges, or one asked several times.")
        .optional_key("judges", list(any_of([text(), reference("panel-judge")])), "Who votes.")
        .optional_key("repeats", integer(1, 100), "How often each is asked.")
        .optional_key(
            "combine",
            word(&["majority", "mean", "median", "unanimous", "any", "weighted"]),
            "How votes become a decision; `majority` on met and unmet, `mean` on scores.",
        )
        .optional_key("ties", word(&["ungraded", "fail", "pass"]), "What becomes of a tie.")
        .optional_key(
            "temperature",
            number().with_keyword("minimum", json!(0)).with_keyword("maximum", json!(2)),
            "Sampling temperature, 0 to 2.",
        )
        .optional_key(
            "escalate",
            any_of([text(), reference("escalation")]),
            "A stronger judge for what the panel is not sure of.",
        )
        .optional_key(
            "scoring",
            word(&["written", "logprobs"]),
            "Whether decisions are read as written or out of token probabilities.",
        )
}

fn rubric_file() -> MapSchema {
    MapSchema::new("a rubric file", "A rubric by itself, for `assize grade` and `assize score --rubric`.")
        .optional_key("$schema", anything(), "The schema of this file, for editors.")
        .optional_key("name", text(), "Its name in results; the file name unless given.")
        .optional_key("description", string(), "What it is about.")
        .non_null_key("criteria", reference("criteria"), "The criteria.")
        .older_key("rubrics", "criteria")
        .merge(&threshold_keys())
        .merge(&judging_keys())
        .optional_key("judge", text(), "Who judges: a model, a target's name, `offline`.")
        .one_of(&["criteria", "rubrics"])
        .not_both(&["criteria", "rubrics"])
}

/// Returns the thresholds of the verdict.
pub(super) fn threshold_keys() -> MapSchema {
    MapSchema::new("", "")
        .optional_key("threshold", unit(), "The pass line, 0 to 1; 0.8 unless given.")
        .optional_key("borderline", unit(), "The line between fail and borderline, 0 to 1.")
}
