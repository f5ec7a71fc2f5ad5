//! Decoder of `trials` and `repeat`: several trials of each case.

use assize_diagnostic::Diagnostic;
use assize_rubric::{RepeatStrategy, Usd};

use super::common::{dollars, one_word};
use super::object::wrong_type;
use super::{Context, Object};
use crate::codes;
use crate::model::Trials;
use crate::tree::{Data, Node};

/// Spellings of the key.
const KEYS: [&str; 2] = ["trials", "repeat"];
/// Maximum number of trials of a case.
pub(crate) const MOST: i64 = 1000;

/// Names of the strategies, in current and older spellings.
const STRATEGIES: [(&str, RepeatStrategy); 6] = [
    ("pass_at_k", RepeatStrategy::PassAtK),
    ("mean", RepeatStrategy::Mean),
    ("confidence_interval", RepeatStrategy::ConfidenceInterval),
    ("pass_all", RepeatStrategy::PassAll),
    ("pass_any", RepeatStrategy::PassAtK),
    ("pass_pow_k", RepeatStrategy::PassAll),
];

/// Returns the accepted names, the current ones first.
pub(crate) fn words() -> Vec<&'static str> {
    STRATEGIES.iter().map(|(word, _)| *word).collect()
}

/// Decodes the trials of a suite or a case from its own keys, or from those of its `execution`.
pub(crate) fn trials(
    cx: &mut Context,
    outer: &mut Object<'_>,
    inner: Option<&mut Object<'_>>,
) -> Option<Trials> {
    let own = outer.one_of(&KEYS, &mut cx.problems);
    let within = inner.and_then(|inner| inner.one_of(&KEYS, &mut cx.problems));
    if let (Some(own), Some(within)) = (own, within) {
        cx.problems.add(
            Diagnostic::error(
                codes::TWO_SPELLINGS,
                "how often cases are run is said twice",
                own.key_span,
                "this one is extra",
            )
            .with_secondary(within.key_span, "already said here")
            .with_help("keep the one under `execution`"),
        );
    }
    let entry = within.or(own)?;
    match &entry.value.data {
        Data::Null => None,
        Data::Map(_) => in_full(cx, &entry.value),
        Data::Int(_) | Data::Float(_) => just_count(cx, &entry.value),
        _ => {
            cx.problems.add(
                wrong_type(&entry.value, &format!("`{}`", entry.key), "a number or a map")
                    .with_help("write `trials: 3`, or `trials: {count: 3, strategy: mean}`"),
            );
            None
        }
    }
}

fn just_count(cx: &mut Context, node: &Node) -> Option<Trials> {
    let written = match node.data {
        Data::Int(count) => u32::try_from(count).ok(),
        _ => None,
    };
    let Some(count) = written.filter(|count| (1..=MOST).contains(&i64::from(*count))) else {
        cx.problems.add(
            Diagnostic::error(
                codes::OUT_OF_RANGE,
                format!("the number of runs must be a whole number from 1 to {MOST}"),
                node.place(),
                "not such a number",
            )
            .with_help("write how many times each case is run, such as 3"),
        );
        return None;
    };
    Some(Trials { count, ..Trials::default() })
}

fn in_full(cx: &mut Context, node: &Node) -> Option<Trials> {
    let mut object = Object::new(node, "`trials`", &mut cx.problems)?;
    let head = object.head();
    let given = object.has("count");
    let count = object.integer("count", 1, MOST, &mut cx.problems);
    let strategy_node = object.value("strategy");
    let strategy = strategy_node.map(|node| one_word(cx, node, "strategy", &STRATEGIES));
    let early_stop = object.boolean("early_stop", &mut cx.problems);
    let cost_limit_usd = dollars(cx, &mut object, "cost_limit_usd");
    if !given {
        cx.problems.add(
            Diagnostic::error(
                codes::MISSING_SETTING,
                "`trials` needs a `count`",
                head,
                "how many is not said",
            )
            .with_help("add `count: N`, the number of runs of each case"),
        );
    }
    object.finish(&mut cx.problems);
    let (count, strategy) = (count?, strategy.unwrap_or(Some(RepeatStrategy::default()))?);
    if strategy == RepeatStrategy::ConfidenceInterval && count.value < 2 {
        cx.problems.add(
            Diagnostic::error(
                codes::OUT_OF_RANGE,
                "one run has no confidence interval",
                count.span,
                format!("found {}", count.value),
            )
            .with_help("write `count: 2` or more, or `strategy: mean`"),
        );
        return None;
    }
    if let Some(early) = &early_stop
        && early.value
        && strategy != RepeatStrategy::PassAtK
    {
        cx.problems.add(
            Diagnostic::error(
                codes::NOT_SUPPORTED,
                "`early_stop` needs the strategy `pass_at_k`",
                early.span,
                format!("`{}` needs every run", strategy.name()),
            )
            .with_help("remove `early_stop`, or write `strategy: pass_at_k`"),
        );
        return None;
    }
    // An amount too large to represent is no limit.
    let cost_limit = cost_limit_usd.and_then(Usd::from_dollars);
    Some(Trials {
        count: count.value as u32,
        strategy,
        early_stop: early_stop.is_some_and(|early| early.value),
        cost_limit,
    })
}
