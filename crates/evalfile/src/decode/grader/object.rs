//! Decoder of one grader written as a map.

use assize_diagnostic::{Diagnostic, Span};

use super::assertion_context::AssertionContext;
use super::kind::{Kind, resolve};
use super::standing::common;
use super::{code, composite, custom, json, llm, metrics, pairwise, rubrics, text, trajectory};
use crate::codes;
use crate::decode::object::{not_blank, string, wrong_type};
use crate::decode::rubric::text_became_map;
use crate::decode::{Context, Object};
use crate::model::{Format, Grader};
use crate::tree::Node;

/// Decodes one grader. Returns `None` after adding a diagnostic.
pub(super) fn grader(cx: &mut Context, node: &Node, format: Format, at: &AssertionContext) -> Option<Grader> {
    if let Some(mistaken) = text_became_map(cx, node) {
        cx.problems.add(mistaken);
        return None;
    }
    let errors = cx.problems.errors();
    let Some(written) = node.get("type") else {
        cx.problems.add(missing_type(node));
        return None;
    };
    if written.as_str().is_none() {
        cx.problems.add(
            wrong_type(written, "`type`", "a word").with_help("write a type such as `rubrics` or `contains`"),
        );
        return None;
    }
    let written = string(written, "type", &mut cx.problems)?;
    let written = not_blank(written, "type", &mut cx.problems)?;
    let has_criteria = node.get("rubrics").is_some() || node.get("criteria").is_some();
    let kind = resolve(cx, &written, format, has_criteria)?;
    // A judge with criteria is a rubric, whatever its type name.
    let kind = match kind {
        Kind::Llm if has_criteria => {
            if format == Format::Two {
                cx.problems.add(
                    Diagnostic::warning(
                        codes::OLDER_SPELLING,
                        format!("`{}` with criteria is an older spelling", written.value),
                        written.span,
                        "now `rubrics`",
                    )
                    .with_help("write `type: rubrics` with `criteria`")
                    .with_suggestion("use the present spelling", written.span, "rubrics"),
                );
            }
            Kind::Rubrics
        }
        kind => kind,
    };
    let mut object = Object::new(node, kind.what(), &mut cx.problems)?;
    object.entry("type");
    let common = common(cx, &mut object, kind.name(), format);
    let place = cx.place(object.head());
    let decoded = match &kind {
        Kind::Rubrics => rubrics::rubrics(cx, &mut object, format),
        Kind::Llm => llm::llm(cx, &mut object, format),
        Kind::Pairwise => pairwise::pairwise(cx, &mut object),
        Kind::Code => code::code(cx, &mut object, format, at),
        Kind::Composite => composite::composite(cx, &mut object, format, at),
        Kind::Text(name) => text::text(cx, &mut object, name),
        Kind::IsJson => json::is_json(cx, &mut object),
        Kind::FieldAccuracy => json::field_accuracy(cx, &mut object),
        Kind::ToolTrajectory => trajectory::trajectory(cx, &mut object, format),
        Kind::Latency => metrics::latency(cx, &mut object),
        Kind::Cost => metrics::cost(cx, &mut object),
        Kind::TokenUsage => metrics::token_usage(cx, &mut object),
        Kind::ExecutionMetrics => metrics::execution_metrics(cx, &mut object),
        Kind::SkillTrigger => metrics::skill_trigger(cx, &mut object),
        Kind::Custom { name, path } => Some(custom::custom(cx, &mut object, name, path)),
    };
    object.finish(&mut cx.problems);
    let decoded = decoded?;
    (cx.problems.errors() == errors).then(|| Grader {
        name: common.name.unwrap_or_else(|| kind.name().to_owned()),
        type_name: kind.name().to_owned(),
        standing: common.standing,
        place,
        kind: decoded,
    })
}

fn missing_type(node: &Node) -> Diagnostic {
    let at: Span =
        node.as_map().and_then(|entries| entries.first()).map_or(node.place(), |entry| entry.key_span);
    let has = |keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    let diagnostic =
        Diagnostic::error(codes::MISSING_TYPE, "this entry does not say its type", at, "no `type` here");
    if has(&["outcome", "expected_outcome", "score_ranges"]) {
        diagnostic
            .with_help("criteria with details stand in a grader: `type: rubrics` with this under `criteria`")
    } else if has(&["criteria", "rubrics"]) {
        diagnostic.with_help("add `type: rubrics`")
    } else if has(&["command", "script"]) {
        diagnostic.with_help("add `type: code-grader`")
    } else if has(&["baseline"]) {
        diagnostic.with_help("add `type: pairwise`")
    } else if has(&["prompt"]) {
        diagnostic.with_help("add `type: llm-grader`")
    } else if has(&["value"]) {
        diagnostic.with_help("add `type: contains`, or another text check")
    } else {
        diagnostic.with_help("add a `type`, such as `rubrics` or `contains`; a criterion is a plain text")
    }
}
