//! Schemas of criteria, rubrics, panels and judge settings.

use serde_json::json;

use super::Defs;
use super::shape::{
    Keys, Shape, above, any_of, anything, boolean, count, like, list, number, string, text, unit, whole, word,
};

/// Adds the definitions.
pub(super) fn add(defs: &mut Defs) {
    defs.keys("criterion-map", criterion());
    defs.shape(
        "criterion",
        any_of([
            text().with("description", json!("A criterion in one sentence; the case fails without it.")),
            like("criterion-map"),
        ]),
    );
    defs.shape("criteria", any_of([text(), list(like("criterion"))]));
    defs.keys("score-range", range());
    defs.shape("score-ranges", any_of([list(like("score-range")), ranges_by_start()]));
    defs.keys(
        "judging-map",
        Keys::of("`judging`", "How criteria are put to the judge.").needed(
            "batched",
            batch(),
            "How many criteria go into one call.",
        ),
    );
    defs.keys("panel", panel());
    defs.keys(
        "panel-judge",
        Keys::of("a judge of `judges`", "A judge of the panel.")
            .needed("judge", text(), "Its name: a model, a target, `offline`.")
            .key("weight", above(0.0), "How much its votes count, with `combine: weighted`."),
    );
    defs.keys(
        "escalation",
        Keys::of("`escalate`", "Who decides where the panel is not sure.")
            .needed("to", text(), "The judge that is asked then.")
            .key("when", word(&["unsure", "split"]), "`unsure` (the default) or `split`."),
    );
    defs.keys("rubric-file-map", rubric_file());
    defs.shape("rubric-file", any_of([list(like("criterion")), like("rubric-file-map")]));
}

fn criterion() -> Keys {
    Keys::of("a criterion", "Something that an answer does or does not do, judged by itself.")
        .key("id", text(), "Its name, unique in its rubric. By position (`rubric-1`) when it is left out.")
        .key("outcome", text(), "What is checked, in a sentence that is true or false of an answer.")
        .key("expected_outcome", text(), "What is checked (the key of format 1).")
        .older("description", "outcome")
        .key("weight", number(), "How much it counts, 1 if left out. 0 still gates; a negative weight is a penalty.")
        .key("required", boolean(), "Whether the case fails without it.")
        .key("min_score", unit(), "The lowest value that will do, 0 to 1.")
        .key("required_min_score", whole(0, 10), "The lowest raw score that will do, 0 to 10; needs `score_ranges`.")
        .key("score_ranges", like("score-ranges"), "Makes it a criterion that is scored 0 to 10: what each range looks like.")
        .key(
            "operator",
            word(&["correctness", "contradiction"]),
            "`correctness`, or `contradiction`: a fact, met as long as nothing contradicts it.",
        )
        .key("allow_not_applicable", boolean(), "Whether the judge may answer \"not applicable\".")
        .one_of(&["outcome", "expected_outcome", "description", "score_ranges"])
        .not_both(&["min_score", "required_min_score"])
        .rule(json!({ "if": { "required": ["required_min_score"], "properties": { "required_min_score": { "type": "number" } } }, "then": { "required": ["score_ranges"] } }))
}

fn range() -> Keys {
    let bound = whole(0, 10);
    let bounds =
        Shape(json!({ "type": "array", "prefixItems": [bound.0, bound.0], "items": false, "minItems": 2 }));
    Keys::of("a score range", "What an answer with such a score looks like.")
        .needed("score_range", bounds, "The lowest and the highest score, both included: `[0, 4]`.")
        .key("outcome", text(), "What an answer in this range looks like.")
        .key("expected_outcome", text(), "What an answer in this range looks like (the key of format 1).")
        .older("description", "outcome")
        .one_of(&["outcome", "expected_outcome", "description"])
}

/// Returns the shape of a map from the lowest score of each range to its text.
fn ranges_by_start() -> Shape {
    Shape(json!({
        "type": "object",
        "description": "What each range looks like, by its lowest score; the first is 0, each ends before the next.",
        "patternProperties": { "^\\s*0*([0-9]|10)\\s*$": text().0, "^x-": {} },
        "additionalProperties": false,
        "required": ["0"],
    }))
}

fn batch() -> Shape {
    any_of([count(1), boolean()])
}

/// Returns `judging`, `batched`, `evidence`, `truncate` and `panel`, which always occur together.
pub(super) fn judging() -> Keys {
    Keys::of("", "")
        .key(
            "judging",
            any_of([word(&["per-criterion", "batched"]), like("judging-map")]),
            "One call a criterion (`per-criterion`, the default), or several in one (`batched`, `{batched: N}`).",
        )
        .key("batched", batch(), "Several criteria in one call; the same as `judging: {batched: N}`.")
        .key("evidence", word(&["checked", "required"]), "Whether a decision needs a quote that stands in the answer.")
        .key(
            "truncate",
            word(&["never", "head", "tail", "middle", "chunk"]),
            "What becomes of material that is longer than the judge can read.",
        )
        .key("panel", like("panel"), "Several judges, repeats, escalation.")
        .not_both(&["judging", "batched"])
}

fn panel() -> Keys {
    Keys::of("`panel`", "Several judges, or one asked several times.")
        .key("judges", list(any_of([text(), like("panel-judge")])), "Who votes.")
        .key("repeats", whole(1, 100), "How often each is asked.")
        .key(
            "combine",
            word(&["majority", "mean", "median", "unanimous", "any", "weighted"]),
            "How votes become a decision; `majority` on met and unmet, `mean` on scores.",
        )
        .key("ties", word(&["ungraded", "fail", "pass"]), "What becomes of a tie.")
        .key(
            "temperature",
            number().with("minimum", json!(0)).with("maximum", json!(2)),
            "Sampling temperature, 0 to 2.",
        )
        .key(
            "escalate",
            any_of([text(), like("escalation")]),
            "A stronger judge for what the panel is not sure of.",
        )
        .key(
            "scoring",
            word(&["written", "logprobs"]),
            "Whether decisions are read as written or out of token probabilities.",
        )
}

fn rubric_file() -> Keys {
    Keys::of("a rubric file", "A rubric by itself, for `assize grade` and `assize score --rubric`.")
        .key("$schema", anything(), "The schema of this file, for editors.")
        .key("name", text(), "Its name in results; the file name unless given.")
        .key("description", string(), "What it is about.")
        .filled("criteria", like("criteria"), "The criteria.")
        .older("rubrics", "criteria")
        .and(&lines())
        .and(&judging())
        .key("judge", text(), "Who judges: a model, a target's name, `offline`.")
        .one_of(&["criteria", "rubrics"])
        .not_both(&["criteria", "rubrics"])
}

/// Returns the thresholds of the verdict.
pub(super) fn lines() -> Keys {
    Keys::of("", "").key("threshold", unit(), "The pass line, 0 to 1; 0.8 unless given.").key(
        "borderline",
        unit(),
        "The line between fail and borderline, 0 to 1.",
    )
}
