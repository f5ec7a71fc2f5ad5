//! Decoder of `trials` and `repeat`: several trials of each case.

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::Trials;
use assize_rubric::{TrialStrategy, Usd};

use super::DecodeContext;
use super::common::{decode_dollars, decode_keyword};

/// Spellings of the key.
const TRIALS_KEYS: [&str; 2] = ["trials", "repeat"];
/// Maximum number of trials of a case.
pub const MAX_TRIALS: i64 = assize_limits::TRIALS as i64;

/// Names of the strategies, in current and older spellings.
const STRATEGIES: [(&str, TrialStrategy); 6] = [
    ("pass_at_k", TrialStrategy::PassAtK),
    ("mean", TrialStrategy::Mean),
    ("confidence_interval", TrialStrategy::ConfidenceInterval),
    ("pass_all", TrialStrategy::PassAll),
    ("pass_any", TrialStrategy::PassAtK),
    ("pass_pow_k", TrialStrategy::PassAll),
];

/// Returns the accepted names, the current ones first.
pub fn strategy_names() -> Vec<&'static str> {
    STRATEGIES.iter().map(|(word, _)| *word).collect()
}

/// Decodes the trials of a suite or a case, from its own keys or from the keys of its `execution`.
pub(crate) fn decode_trials(
    cx: &mut DecodeContext,
    outer: &mut MapReader<'_>,
    inner: Option<&mut MapReader<'_>>,
) -> Option<Trials> {
    let own = outer.first_of(&TRIALS_KEYS, &mut cx.problems);
    let within = inner.and_then(|inner| inner.first_of(&TRIALS_KEYS, &mut cx.problems));
    if let (Some(own), Some(within)) = (own, within) {
        Diagnostic::error(codes::TWO_SPELLINGS, "the number of trials is set twice")
            .at(own.key_span, "this one is extra")
            .with_secondary(within.key_span, "already set here")
            .with_help("keep the one under `execution`")
            .add_to(&mut cx.problems);
    }

    let entry = within.or(own)?;
    match &entry.value.data {
        NodeValue::Null => None,
        NodeValue::Map(_) => decode_trials_map(cx, &entry.value),
        NodeValue::Int(_) | NodeValue::Float(_) => decode_trial_count(cx, &entry.value),
        _ => {
            wrong_type(&entry.value, &format!("`{}`", entry.key), "a number or a map")
                .with_help("write `trials: 3`, or `trials: {count: 3, strategy: mean}`")
                .add_to(&mut cx.problems);
            None
        }
    }
}

fn decode_trial_count(cx: &mut DecodeContext, node: &TreeNode) -> Option<Trials> {
    let written = match node.data {
        NodeValue::Int(count) => u32::try_from(count).ok(),
        _ => None,
    };
    let Some(count) = written.filter(|count| (1..=MAX_TRIALS).contains(&i64::from(*count))) else {
        Diagnostic::error(
            codes::OUT_OF_RANGE,
            format!("the number of runs must be a whole number from 1 to {MAX_TRIALS}"),
        )
        .at(node.use_span(), "not such a number")
        .with_help("write how many times each case is run, such as 3")
        .add_to(&mut cx.problems);
        return None;
    };
    Some(Trials { count, ..Trials::default() })
}

fn decode_trials_map(cx: &mut DecodeContext, node: &TreeNode) -> Option<Trials> {
    let mut object = MapReader::new(node, "`trials`", &mut cx.problems)?;
    let head = object.head();
    let given = object.has("count");
    let count = object.integer("count", 1, MAX_TRIALS, &mut cx.problems);
    let strategy_node = object.value("strategy");
    let strategy = strategy_node.map(|node| decode_keyword(cx, node, "strategy", &STRATEGIES));
    let early_stop = object.boolean("early_stop", &mut cx.problems);
    let cost_limit_usd = decode_dollars(cx, &mut object, "cost_limit_usd");

    if !given {
        Diagnostic::error(codes::MISSING_SETTING, "`trials` needs a `count`")
            .at(head, "no `count` here")
            .with_help("add `count: N`, the number of runs of each case")
            .add_to(&mut cx.problems);
    }

    object.finish(&mut cx.problems);
    let (count, strategy) = (count?, strategy.unwrap_or(Some(TrialStrategy::default()))?);
    if strategy == TrialStrategy::ConfidenceInterval && count.value < 2 {
        Diagnostic::error(codes::OUT_OF_RANGE, "one trial has no confidence interval")
            .at(count.span, format!("found {}", count.value))
            .with_help("write `count: 2` or more, or `strategy: mean`")
            .add_to(&mut cx.problems);
        return None;
    }

    if let Some(early) = &early_stop
        && early.value
        && strategy != TrialStrategy::PassAtK
    {
        Diagnostic::error(codes::NOT_SUPPORTED, "`early_stop` needs the strategy `pass_at_k`")
            .at(early.span, format!("`{}` needs every run", strategy.name()))
            .with_help("remove `early_stop`, or write `strategy: pass_at_k`")
            .add_to(&mut cx.problems);
        return None;
    }

    // An amount that is too large to represent means no limit.
    let cost_limit = cost_limit_usd.and_then(Usd::from_dollars);
    Some(Trials {
        count: count.value as u32,
        strategy,
        early_stop: early_stop.is_some_and(|early| early.value),
        cost_limit,
    })
}
