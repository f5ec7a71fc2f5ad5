//! Decoder of one grader written as a map.

use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{MapReader, TreeNode, check_not_blank, codes, string, wrong_type};
use assize_model::{CodeLanguage, EvalFileFormat, Grader, GraderKind, TransformedGrader};

use super::assertion_context::AssertionContext;
use super::common_keys::decode_common_keys;
use super::grader_type::GraderType;
use super::resolve_type::resolve_type;
use super::{
    code, composite, context, custom, json, labels, llm, metrics, pairwise, rubrics, script, selection,
    similar, sql, text, trajectory,
};
use crate::decode::DecodeContext;
use crate::decode::rubric::detect_text_as_map;

/// Decodes one grader. Returns `None` after adding a diagnostic.
pub(super) fn decode_grader(
    cx: &mut DecodeContext,
    node: &TreeNode,
    format: EvalFileFormat,
    at: &AssertionContext,
) -> Option<Grader> {
    if let Some(mistaken) = detect_text_as_map(cx, node) {
        cx.problems.add(mistaken);
        return None;
    }

    let errors = cx.problems.error_count();
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
    let written = check_not_blank(written, "type", &mut cx.problems)?;
    let has_criteria = node.get("rubrics").is_some() || node.get("criteria").is_some();
    let kind = resolve_type(cx, &written, format, has_criteria)?;

    // A judge with criteria is a rubric, whatever type is written.
    let kind = match kind {
        GraderType::Llm if has_criteria => {
            if format == EvalFileFormat::Two {
                cx.problems.add(
                    Diagnostic::warning(
                        codes::OLDER_SPELLING,
                        format!("`{}` with criteria is an older spelling", written.value),
                        written.span,
                        "now `rubrics`",
                    )
                    .with_help("write `type: rubrics` with `criteria`")
                    .with_suggestion("use the current spelling", written.span, "rubrics"),
                );
            }
            GraderType::Rubrics
        }
        kind => kind,
    };

    let mut object = MapReader::new(node, kind.name_with_article(), &mut cx.problems)?;
    object.entry("type");

    let common = decode_common_keys(cx, &mut object, kind.name(), format);
    let transform = match kind {
        GraderType::Custom { .. } => None,
        GraderType::SelectBest | GraderType::MaxScore => selection::refuse_transform(cx, &mut object),
        _ => script::decode_transform(cx, &mut object),
    };
    let place = cx.position(object.head());
    let decoded = decode_kind(cx, &mut object, &kind, (format, at));

    object.finish(&mut cx.problems);
    let grader = Grader {
        name: common.name.unwrap_or_else(|| kind.name().to_owned()),
        type_name: kind.name().to_owned(),
        standing: common.standing,
        place,
        kind: decoded?,
    };
    (cx.problems.error_count() == errors).then(|| match transform {
        None => grader,
        Some(transform) => Grader {
            kind: GraderKind::Transformed(TransformedGrader { inner: Arc::new(grader.clone()), transform }),
            ..grader
        },
    })
}

/// Decodes the keys of a type.
fn decode_kind(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    kind: &GraderType,
    (format, at): (EvalFileFormat, &AssertionContext),
) -> Option<GraderKind> {
    match kind {
        GraderType::Rubrics => rubrics::decode_rubrics(cx, object, format),
        GraderType::Llm => llm::decode_llm_grader(cx, object, format),
        GraderType::Pairwise => pairwise::decode_pairwise(cx, object),
        GraderType::Code => code::decode_code_grader(cx, object, format, at),
        GraderType::Composite => composite::decode_composite(cx, object, format, at),
        GraderType::Text(name) => text::decode_text_check(cx, object, name),
        GraderType::IsJson => json::decode_is_json(cx, object, false),
        GraderType::ContainsJson => json::decode_is_json(cx, object, true),
        GraderType::IsSql => sql::decode_sql(cx, object, false),
        GraderType::ContainsSql => sql::decode_sql(cx, object, true),
        GraderType::FieldAccuracy => json::decode_field_accuracy(cx, object),
        GraderType::ToolTrajectory => trajectory::decode_trajectory(cx, object, format),
        GraderType::Latency => metrics::decode_latency(cx, object),
        GraderType::Cost => metrics::decode_cost(cx, object),
        GraderType::TokenUsage => metrics::decode_token_usage(cx, object),
        GraderType::ExecutionMetrics => metrics::decode_execution_metrics(cx, object),
        GraderType::JavaScript => script::decode_script(cx, object, CodeLanguage::JavaScript),
        GraderType::Python => script::decode_script(cx, object, CodeLanguage::Python),
        GraderType::Ruby => script::decode_script(cx, object, CodeLanguage::Ruby),
        GraderType::Similar => similar::decode_similar(cx, object),
        GraderType::Moderation => labels::decode_moderation(cx, object),
        GraderType::Classifier => labels::decode_classifier(cx, object),
        GraderType::Context(kind) => context::decode_context(cx, object, *kind),
        GraderType::AnswerRelevance => context::decode_answer_relevance(cx, object),
        GraderType::SelectBest => selection::decode_select_best(cx, object),
        GraderType::MaxScore => selection::decode_max_score(cx, object),
        GraderType::SkillTrigger => metrics::decode_skill_trigger(cx, object),
        GraderType::Custom { name, path } => Some(custom::decode_custom(cx, object, name, path)),
    }
}

fn missing_type(node: &TreeNode) -> Diagnostic {
    let at: Span =
        node.as_map().and_then(|entries| entries.first()).map_or(node.use_span(), |entry| entry.key_span);
    let has = |keys: &[&str]| keys.iter().any(|key| node.get(key).is_some());
    let diagnostic =
        Diagnostic::error(codes::MISSING_TYPE, "this entry does not say its type", at, "no `type` here");
    if has(&["outcome", "expected_outcome", "score_ranges"]) {
        diagnostic
            .with_help("criteria with details belong in a grader: `type: rubrics` with this under `criteria`")
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
