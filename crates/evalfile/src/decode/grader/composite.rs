//! Decoder of `composite`: a combination of other graders.

use std::collections::HashMap;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, did_you_mean};
use assize_document::{MapReader, TreeNode, codes, number, wrong_type};
use assize_model::{CompositeAggregator, CompositeGrader, EvalFileFormat, Grader, GraderCommand, GraderKind};
use assize_rubric::Weight;

use super::assertion_context::AssertionContext;
use super::list::decode_assertions;
use super::prompt::{decode_command, decode_prompt};
use super::rubrics::decode_judge;
use super::selection::refuse_selection;
use super::shared::{decode_choice, missing_key, older_spelling};
use crate::decode::DecodeContext;

/// Decodes the keys of `type: composite`.
pub(super) fn decode_composite(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    at: &AssertionContext,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let keys: [&'static str; 3] =
        cx.format.choose(["evaluators", "assertions", "assert"], ["assertions", "evaluators", "assert"]);
    let members = if let Some(entry) = object.first_of(&keys, &mut cx.problems) {
        if cx.format == EvalFileFormat::Two && entry.key != keys[0] {
            cx.problems.add(older_spelling(entry.key_span, &entry.key, keys[0]));
        }

        report_duplicate_members(cx, &entry.value);
        let at = AssertionContext { names_are_checked: true, ..at.clone() };
        let members = decode_assertions(cx, &entry.value, at);
        refuse_selection(cx, &entry.value, members.iter().map(|member| &**member), "a composite");
        if members.is_empty() && cx.problems.error_count() == errors {
            cx.problems
                .add(missing_key(entry.key_span, "a composite", "members", "- {name: a, type: is-json}"));
        }

        members
    } else {
        let example = format!("{}: [{{name: a, type: is-json}}]", keys[0]);
        cx.problems.add(missing_key(object.head(), "a composite", keys[0], &example));
        Vec::new()
    };

    let aggregator = match object.value("aggregator") {
        Some(node) => decode_aggregator(cx, node, &members, errors),
        None => Some(CompositeAggregator::WeightedAverage(Vec::new())),
    };
    let aggregator = aggregator?;
    (cx.problems.error_count() == errors)
        .then_some(GraderKind::Composite(CompositeGrader { members, aggregator }))
}

/// Reports duplicate names. They are errors here, because members are referred to by name.
fn report_duplicate_members(cx: &mut DecodeContext, list: &TreeNode) {
    let mut seen: HashMap<&str, &TreeNode> = HashMap::new();
    for name in list.as_seq().unwrap_or_default().iter().filter_map(|item| item.get("name")) {
        let Some(text) = name.as_str() else { continue };
        if let Some(first) = seen.insert(text, name) {
            Diagnostic::error(codes::DUPLICATE_MEMBER, format!("two members are called `{text}`"))
                .at(name.use_span(), "second time")
                .with_secondary(first.use_span(), "first time")
                .with_help("members are referred to by name; give each its own")
                .add_to(&mut cx.problems);
        }
    }
}

fn decode_aggregator(
    cx: &mut DecodeContext,
    node: &TreeNode,
    members: &[Arc<Grader>],
    errors_before: usize,
) -> Option<CompositeAggregator> {
    let mut object = MapReader::new(node, "an aggregator", &mut cx.problems)?;
    let Some(written) = object.value("type") else {
        let missing = missing_key(object.head(), "an aggregator", "type", "type: weighted_average");
        return cx.problems.reject(missing);
    };
    let words = ["weighted_average", "threshold", "code-grader", "llm-grader", "code-judge", "llm-judge"];
    let word = decode_choice(written, "type", &words, &mut cx.problems)?;
    if cx.format == EvalFileFormat::Two
        && let Some(present) = word.strip_suffix("judge")
    {
        cx.problems.add(older_spelling(written.use_span(), word, &format!("{present}grader")));
    }

    let aggregator = match word {
        "weighted_average" => {
            let weights = object.value("weights");
            let members_are_sound = cx.problems.error_count() == errors_before;
            let weights = weights
                .map_or_else(Vec::new, |node| decode_member_weights(cx, node, members, members_are_sound));
            if members_are_sound && cx.problems.error_count() == errors_before {
                check_total(cx, &object, &weights, members);
            }

            Some(CompositeAggregator::WeightedAverage(weights))
        }
        "threshold" => {
            if object.value("threshold").is_none() {
                cx.problems.add(missing_key(object.head(), "`threshold`", "threshold", "threshold: 0.5"));
            }
            object.unit("threshold", &mut cx.problems).map(|unit| CompositeAggregator::Threshold(unit.value))
        }
        "code-grader" | "code-judge" => {
            let command = decode_program(cx, &mut object);
            let cwd = object.text("cwd", &mut cx.problems);
            let cwd = cwd.and_then(|written| cx.find_file(&written.value, written.span));
            command.map(|command| CompositeAggregator::Code { command, cwd })
        }
        _ => {
            let written = object.entry("prompt").filter(|entry| !entry.value.is_null());
            let prompt = written.and_then(|entry| decode_prompt(cx, entry)).map(|(prompt, _)| prompt);
            let judge = decode_judge(cx, &mut object);
            Some(CompositeAggregator::Llm { prompt, judge })
        }
    };

    object.finish(&mut cx.problems);
    aggregator
}

/// Decodes `command`, or its older name `path`, whose text the shell runs.
fn decode_program(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderCommand> {
    let Some(entry) = object.first_of(&["command", "path", "script"], &mut cx.problems) else {
        return missing_key(object.head(), "this aggregator", "command", "command: [python3, combine.py]")
            .reject_in(&mut cx.problems);
    };
    decode_command(cx, entry)
}

fn decode_member_weights(
    cx: &mut DecodeContext,
    node: &TreeNode,
    members: &[Arc<Grader>],
    check_names: bool,
) -> Vec<(String, Weight)> {
    let Some(entries) = node.as_map() else {
        cx.problems
            .add(wrong_type(node, "`weights`", "a map").with_help("write a weight by member: `safety: 0.3`"));
        return Vec::new();
    };
    let mut weights = Vec::with_capacity(entries.len());
    for entry in entries {
        if check_names && !members.iter().any(|member| member.name == entry.key) {
            let mut diagnostic =
                Diagnostic::error(codes::UNKNOWN_MEMBER, format!("no member is called `{}`", entry.key))
                    .at(entry.key_span, "unknown member");

            let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
            diagnostic = match did_you_mean(&entry.key, names.iter().copied()) {
                Some(near) => diagnostic
                    .with_help(format!("did you mean `{near}`?"))
                    .with_suggestion("use this name", entry.key_span, near),
                None => diagnostic.with_help(format!("members: `{}`", names.join("`, `"))),
            };

            cx.problems.add(diagnostic);
        }

        let Some(value) = number(&entry.value, &entry.key, &mut cx.problems) else { continue };
        match Weight::new(value.value) {
            Ok(weight) if !weight.is_penalty() => weights.push((entry.key.clone(), weight)),
            _ => Diagnostic::error(codes::GRADER_WEIGHT, "the weight of a member can't be negative")
                .at(value.span, format!("found {}", value.value))
                .with_help("use 0 or more; `negate: true` inverts a member")
                .add_to(&mut cx.problems),
        }
    }

    weights
}

fn check_total(
    cx: &mut DecodeContext,
    object: &MapReader<'_>,
    weights: &[(String, Weight)],
    members: &[Arc<Grader>],
) {
    let weight = |member: &Grader| {
        weights
            .iter()
            .find(|(name, _)| *name == member.name)
            .map_or(member.weighting.weight, |(_, weight)| *weight)
    };
    if !members.is_empty() && members.iter().all(|member| weight(member).get() == 0.0) {
        Diagnostic::error(codes::NO_USABLE_WEIGHT, "all members have weight 0")
            .at(object.head(), "nothing counts")
            .with_help("give at least one member a weight above 0")
            .add_to(&mut cx.problems);
    }
}

#[cfg(test)]
mod tests {
    use assize_model::GraderPrompt;

    use super::*;
    use crate::tests::snippets::{codes, graders, one};

    const MEMBERS: &str = "assertions: [{name: a, type: is-json}, {name: b, type: contains, value: x}]";

    fn read(aggregator: &str) -> CompositeGrader {
        let grader = one(&format!("- {{type: composite, {MEMBERS}, {aggregator}}}\n"));
        let GraderKind::Composite(composite) = &grader.kind else { panic!("a composite") };
        composite.clone()
    }

    #[test]
    fn members_and_aggregators_are_read() {
        let composite = read("aggregator: {type: weighted_average, weights: {a: 0.3, b: 0.7}}");
        assert_eq!(composite.members.len(), 2);
        let CompositeAggregator::WeightedAverage(weights) = composite.aggregator else { panic!("a mean") };
        assert_eq!(weights.iter().map(|(_, weight)| weight.get()).collect::<Vec<_>>(), [0.3, 0.7]);
        assert_eq!(read("x-a: 1").aggregator, CompositeAggregator::WeightedAverage(vec![]));
        let CompositeAggregator::Threshold(share) =
            read("aggregator: {type: threshold, threshold: 0.5}").aggregator
        else {
            panic!("a share")
        };
        assert_eq!(share.get(), 0.5);
        assert_eq!(
            read("aggregator: {type: code-grader, path: node x.js}").aggregator,
            CompositeAggregator::Code { command: GraderCommand::Shell("node x.js".into()), cwd: None }
        );
        let llm =
            read("aggregator: {type: llm-grader, prompt: 'Weigh {{ results }}', target: big}").aggregator;
        let CompositeAggregator::Llm { prompt: Some(GraderPrompt::Text { .. }), judge: Some(judge) } = llm
        else {
            panic!("a judge")
        };
        assert_eq!(judge, "big");
    }

    #[test]
    fn composites_nest_and_take_texts() {
        let grader = one(
            "- type: composite\n  assertions:\n  - Is kind\n  - type: composite\n    assertions: [Is short, Is true]\n",
        );
        let GraderKind::Composite(outer) = &grader.kind else { panic!("a composite") };
        assert_eq!(outer.members[0].name, "rubrics");
        let GraderKind::Composite(inner) = &outer.members[1].kind else { panic!("a composite") };
        assert_eq!(inner.members[0].weighting.weight.get(), 2.0);
        let text = "- {name: c, type: composite, evaluators: [{name: a, type: llm_judge}], aggregator: {type: code_judge, path: x}}\n";
        assert!(graders(text, EvalFileFormat::One).1.is_empty());
        assert_eq!(codes(text), ["W0301", "W0301", "W0301"]);
    }

    #[test]
    fn mistakes_are_refused() {
        for (text, expected) in [
            ("x-a: 1", "E0304"),
            ("assertions: []", "E0304"),
            ("assertions: [{type: nonsense}]", "E0301"),
            ("assertions: [{name: a, type: is-json}, {name: a, type: is-json}]", "E0316"),
        ] {
            assert!(codes(&format!("- {{type: composite, {text}}}\n")).contains(&expected), "{text}");
        }
        for (aggregator, code) in [
            ("{}", "E0304"),
            ("{type: median}", "E0307"),
            ("{type: threshold}", "E0304"),
            ("{type: threshold, threshold: 50}", "E0106"),
            ("{type: weighted_average, weights: {c: 1}}", "E0315"),
            ("{type: weighted_average, weights: {a: -1}}", "E0305"),
            ("{type: weighted_average, weights: {a: 0, b: 0}}", "E0204"),
            ("{type: weighted_average, weights: [1]}", "E0105"),
            ("{type: code-grader}", "E0304"),
            ("{type: weighted_average, threshold: 1}", "E0103"),
        ] {
            let text = format!("- {{type: composite, {MEMBERS}, aggregator: {aggregator}}}\n");
            assert_eq!(codes(&text), [code], "{aggregator}");
        }
    }
}
