//! Decoder of `tool-trajectory`: the tool calls of an answer.

use std::time::Duration;

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, NodeValue, TreeNode, codes, string, wrong_type};
use assize_model::{AnswerCheck, ArgsMatch, ExpectedCall, GraderKind, ToolTrajectory, TrajectoryMode};
use serde_json::Value;

use super::shared::{decode_choice, decode_duration, missing_key, unused_key};
use crate::decode::DecodeContext;
use crate::decode::common::{decode_required_text, refuse_foreign_keys};

const GRADER_LABEL: &str = "a tool-trajectory grader";

/// Decodes the keys of `type: tool-trajectory`.
pub(super) fn decode_trajectory(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let mode = decode_mode(cx, object);
    let minimums_at = object.entry("minimums").filter(|entry| !entry.value.is_null());
    let minimums = minimums_at.map_or_else(Vec::new, |entry| decode_minimums(cx, &entry.value));
    let expected_at = object.entry("expected").filter(|entry| !entry.value.is_null());
    let expected = expected_at.map_or_else(Vec::new, |entry| decode_expected_calls(cx, &entry.value));
    let args_match = object.value("args_match").and_then(|node| decode_args_match(cx, node));
    let mode = mode?;
    if mode == TrajectoryMode::AnyOrder {
        if let Some(entry) = expected_at {
            unused_key(
                entry.key_span,
                "`mode: any_order` does not use `expected`",
                "write `minimums: {TOOL: 1}`, or `mode: superset` for calls that may come in any order",
            )
            .add_to(&mut cx.problems);
        }
        if minimums.is_empty() && cx.problems.error_count() == errors {
            let at = minimums_at.map_or(object.head(), |entry| entry.key_span);
            cx.problems.add(missing_key(at, "`mode: any_order`", "minimums", "minimums: {search: 1}"));
        }
    } else {
        if let Some(entry) = minimums_at {
            unused_key(
                entry.key_span,
                "`minimums` is used by `mode: any_order` only",
                "list the calls under `expected`, or write `mode: any_order`",
            )
            .add_to(&mut cx.problems);
        }

        // Only these two modes can require that there are no calls. In the other modes, an empty list would
        // check nothing.
        let may_be_empty =
            matches!(mode, TrajectoryMode::Exact | TrajectoryMode::Subset) && expected_at.is_some();
        if expected.is_empty() && !may_be_empty && cx.problems.error_count() == errors {
            let at = expected_at.map_or(object.head(), |entry| entry.key_span);
            cx.problems.add(missing_key(at, GRADER_LABEL, "expected", "expected: [{tool: search}]"));
        }
    }

    // By default, the `evalcases` format compares only the arguments that are listed.
    let default = cx.format.choose(ArgsMatch::Superset, ArgsMatch::Exact);
    (cx.problems.error_count() == errors).then(|| {
        GraderKind::Check(AnswerCheck::ToolTrajectory(ToolTrajectory {
            mode,
            minimums,
            expected,
            args_match: Some(args_match.unwrap_or(default)),
        }))
    })
}

fn decode_mode(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<TrajectoryMode> {
    let Some(node) = object.value("mode") else {
        return cx.problems.reject(missing_key(object.head(), GRADER_LABEL, "mode", "mode: in_order"));
    };
    decode_choice(node, "mode", &TrajectoryMode::NAMES, &mut cx.problems).and_then(TrajectoryMode::from_name)
}

fn decode_minimums(cx: &mut DecodeContext, node: &TreeNode) -> Vec<(String, u32)> {
    let Some(entries) = node.as_map() else {
        wrong_type(node, "`minimums`", "a map")
            .with_help("write the least number of calls by tool: `search: 1`")
            .add_to(&mut cx.problems);
        return Vec::new();
    };

    let mut minimums = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry.value.data {
            NodeValue::Int(value) if u32::try_from(value).is_ok_and(|value| value > 0) => {
                minimums.push((entry.key.clone(), u32::try_from(value).unwrap_or(u32::MAX)));
            }
            NodeValue::Int(value) => Diagnostic::error(
                codes::OUT_OF_RANGE,
                format!("the minimum for `{}` is out of range", entry.key),
            )
            .at(entry.value.use_span(), format!("found {value}"))
            .with_help("use a whole number, 1 or more")
            .add_to(&mut cx.problems),
            _ => wrong_type(&entry.value, &format!("the minimum for `{}`", entry.key), "a whole number")
                .add_to(&mut cx.problems),
        }
    }

    minimums
}

fn decode_expected_calls(cx: &mut DecodeContext, node: &TreeNode) -> Vec<ExpectedCall> {
    let Some(items) = node.as_seq() else {
        cx.problems
            .add(wrong_type(node, "`expected`", "a list").with_help("write each call as `- tool: NAME`"));
        return Vec::new();
    };
    items.iter().filter_map(|item| decode_expected_call(cx, item)).collect()
}

fn decode_expected_call(cx: &mut DecodeContext, node: &TreeNode) -> Option<ExpectedCall> {
    if let Some(name) = node.as_str() {
        return wrong_type(node, "an expected call", "a map")
            .with_suggestion("name the tool", node.use_span(), format!("{{tool: {name}}}"))
            .reject_in(&mut cx.problems);
    }

    let errors = cx.problems.error_count();
    let mut object = MapReader::new(node, "an expected call", &mut cx.problems)?;
    let tool = decode_required_text(cx, &mut object, "an expected call", "tool", "tool: search");

    let args = object.value("args").and_then(|node| decode_args(cx, node));
    let args_match = object.value("args_match").and_then(|node| decode_args_match(cx, node));
    let max_duration: Option<Duration> =
        decode_duration(&mut object, "max_duration_ms", 0.001, &mut cx.problems);

    refuse_foreign_keys(
        cx,
        &mut object,
        &[
            ("input", "write the arguments of the call under `args`"),
            ("arguments", "write the arguments of the call under `args`"),
            ("output", "tool results are not compared; check them with a `code-grader`, or remove the key"),
        ],
    );

    object.finish(&mut cx.problems);
    let tool = tool?.value;
    (cx.problems.error_count() == errors).then_some(ExpectedCall { tool, args, args_match, max_duration })
}

/// Decodes a map of arguments. `any` means that arguments are not compared.
fn decode_args(cx: &mut DecodeContext, node: &TreeNode) -> Option<Value> {
    match &node.data {
        NodeValue::Map(_) => Some(node.to_json()),
        NodeValue::Str(word) if word == "any" => None,
        _ => cx
            .problems
            .reject(wrong_type(node, "`args`", "a map").with_help("write `any` if arguments don't matter")),
    }
}

fn decode_args_match(cx: &mut DecodeContext, node: &TreeNode) -> Option<ArgsMatch> {
    if let Some(items) = node.as_seq() {
        if items.is_empty() {
            return wrong_type(node, "`args_match`", "a word or a list of fields")
                .with_help("to compare nothing write `ignore`")
                .reject_in(&mut cx.problems);
        }

        let fields: Option<Vec<String>> = items
            .iter()
            .map(|item| string(item, "args_match", &mut cx.problems).map(|field| field.value))
            .collect();
        return fields.map(ArgsMatch::Fields);
    }
    Some(
        match decode_choice(node, "args_match", &["exact", "superset", "subset", "ignore"], &mut cx.problems)?
        {
            "exact" => ArgsMatch::Exact,
            "superset" => ArgsMatch::Superset,
            "subset" => ArgsMatch::Subset,
            _ => ArgsMatch::Ignore,
        },
    )
}

#[cfg(test)]
mod tests {
    use assize_model::EvalFileFormat;

    use super::*;
    use crate::tests::snippets::{codes, graders, one};

    fn read(text: &str) -> ToolTrajectory {
        let grader = one(&format!("- {{type: tool-trajectory, {text}}}\n"));
        let GraderKind::Check(AnswerCheck::ToolTrajectory(trajectory)) = &grader.kind else {
            panic!("a trajectory")
        };
        trajectory.clone()
    }

    #[test]
    fn counts_and_sequences_are_read() {
        let any = read("mode: any_order, minimums: {search: 2, fetch: 1}");
        assert_eq!(any.minimums, [("search".to_owned(), 2), ("fetch".to_owned(), 1)]);
        let sequence = read(
            "mode: in-order, args_match: [a.b], expected: [{tool: a, args: any}, {tool: b, args: {q: 1}, args_match: superset, max_duration_ms: 20}]",
        );
        assert_eq!(sequence.mode, TrajectoryMode::InOrder);
        assert_eq!(sequence.args_match, Some(ArgsMatch::Fields(vec!["a.b".into()])));
        assert_eq!(sequence.expected[0].args, None);
        assert_eq!(sequence.expected[1].args, Some(serde_json::json!({"q": 1})));
        assert_eq!(sequence.expected[1].max_duration, Some(Duration::from_millis(20)));
        assert_eq!(read("mode: exact, expected: []").expected, []);
    }

    #[test]
    fn arguments_are_compared_as_the_format_does() {
        assert_eq!(read("mode: subset, expected: [{tool: a}]").args_match, Some(ArgsMatch::Exact));
        let text = "- {name: a, type: tool_trajectory, mode: exact, expected: [{tool: a}]}\n";
        let (graders, _) = graders(text, EvalFileFormat::One);
        let GraderKind::Check(AnswerCheck::ToolTrajectory(trajectory)) = &graders[0].kind else {
            panic!("a trajectory")
        };
        assert_eq!(trajectory.args_match, Some(ArgsMatch::Superset));
    }

    #[test]
    fn settings_that_do_not_go_together_are_refused() {
        for (text, code) in [
            ("expected: [{tool: a}]", "E0304"),
            ("mode: sorted, expected: [{tool: a}]", "E0307"),
            ("mode: any_order", "E0304"),
            ("mode: any_order, minimums: {}", "E0304"),
            ("mode: any_order, minimums: {a: 0}", "E0106"),
            ("mode: any_order, minimums: {a: x}", "E0105"),
            ("mode: any_order, minimums: {a: 1}, expected: [{tool: a}]", "E0306"),
            ("mode: exact, expected: [{tool: a}], minimums: {a: 1}", "E0306"),
            ("mode: in_order, expected: []", "E0304"),
            ("mode: exact", "E0304"),
            ("mode: exact, expected: [a]", "E0105"),
            ("mode: exact, expected: [{args: {}}]", "E0304"),
            ("mode: exact, expected: [{tool: a, args: 1}]", "E0105"),
            ("mode: exact, expected: [{tool: a}], args_match: close", "E0307"),
            ("mode: exact, expected: [{tool: a, max_duration: 1}]", "E0103"),
            ("mode: exact, expected: [{tool: a, input: {}}]", "E0414"),
        ] {
            assert_eq!(codes(&format!("- {{type: tool-trajectory, {text}}}\n")), [code], "{text}");
        }
    }
}
