//! Decoder of conversations: `mode`, `turns` and related keys.

use std::sync::Arc;

use assize_diagnostic::Diagnostic;
use assize_document::{MapReader, TreeNode, codes};
use assize_model::{
    Conversation, ConversationTurn, EvalFileFormat, FilePosition, Grader, GraderKind, LlmGrader,
    OnTurnFailure, PanelSpec, TurnAggregation,
};
use assize_rubric::GraderWeighting;
use serde_json::Map;

use super::DecodeContext;
use super::common::{decode_keyword, empty, find_spelling, non_empty_list};
use super::grader::{AssertionContext, refuse_selection};
use super::graders;
use super::messages;

/// Decodes the keys of a conversation. Returns `None` for an ordinary case, and after adding a diagnostic.
pub(crate) fn decode_conversation(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    base: &AssertionContext,
) -> Option<Conversation> {
    let mode = object.value("mode");
    if let Some(node) = mode {
        decode_keyword(cx, node, "mode", &[("conversation", ())]);
    }

    let aggregation = object
        .value("aggregation")
        .map(|node| (node, decode_keyword(cx, node, "aggregation", &TurnAggregation::NAMED)));

    let on_turn_failure = object
        .value("on_turn_failure")
        .map(|node| (node, decode_keyword(cx, node, "on_turn_failure", &OnTurnFailure::NAMED)));
    let window_size = object.integer("window_size", 1, i64::from(u32::MAX), &mut cx.problems);
    let Some(entry) = object.entry("turns") else {
        let stray = [
            mode.map(|node| ("mode", node.use_span())),
            aggregation.map(|(node, _)| ("aggregation", node.use_span())),
            on_turn_failure.map(|(node, _)| ("on_turn_failure", node.use_span())),
            window_size.map(|window| ("window_size", window.span)),
        ];
        for (key, span) in stray.into_iter().flatten() {
            Diagnostic::error(codes::NO_TURNS, format!("`{key}` needs `turns`"))
                .at(span, "there is no conversation")
                .with_help("add `turns:`, or remove this key")
                .add_to(&mut cx.problems);
        }

        return None;
    };

    let items = non_empty_list(cx, entry)?;
    let before = cx.problems.error_count();
    let turns: Vec<ConversationTurn> = items.iter().filter_map(|item| decode_turn(cx, item, base)).collect();

    if cx.problems.error_count() > before {
        return None;
    }

    Some(Conversation {
        turns,
        aggregation: aggregation.map_or(Some(TurnAggregation::default()), |(_, word)| word)?,
        on_turn_failure: on_turn_failure.map_or(Some(OnTurnFailure::default()), |(_, word)| word)?,
        window_size: window_size.map(|window| window.value as u32),
    })
}

fn decode_turn(cx: &mut DecodeContext, node: &TreeNode, base: &AssertionContext) -> Option<ConversationTurn> {
    let mut object = MapReader::new(node, "a turn", &mut cx.problems)?;
    let head = object.head();
    let input = if let Some(entry) = object.entry("input") {
        if entry.value.is_null() {
            cx.problems.add(empty("input", entry.key_span));
        }
        messages::decode_input(cx, &entry.value, "input")
    } else {
        Diagnostic::error(codes::NO_INPUT, "a turn has no input")
            .at(head, "this turn")
            .with_help("add `input:` with the message to the target")
            .add_to(&mut cx.problems);
        None
    };

    let expected_output = object
        .value("expected_output")
        .and_then(|node| messages::decode_expected_messages(cx, node, "expected_output"))
        .unwrap_or_default();
    let list = find_spelling(cx, &mut object, &["assertions", "assert"], 1);
    // Only the `tests` format has turns, but the reader of the `evalcases` format accepts them too.
    let format = std::mem::replace(&mut cx.format, EvalFileFormat::Two);
    let own = list.map(|entry| graders::decode_list(cx, entry, base.clone())).unwrap_or_default();
    cx.format = format;
    let mut graders = graders::combine_with_suite(cx, list, own, &[]);
    if let Some(entry) = list {
        refuse_selection(cx, &entry.value, graders.iter().map(|grader| &**grader), "a turn");
    }
    if let (Some(entry), false) = (list, graders.is_empty())
        && graders.iter().all(|grader| grader.weighting.weight.get() == 0.0)
    {
        Diagnostic::error(codes::NO_GRADER_WEIGHT, "all graders of this turn have weight 0")
            .at(entry.key_span, "no weight, no score")
            .with_help("give at least one grader a weight above 0")
            .add_to(&mut cx.problems);
    }

    if list.is_none() && !expected_output.is_empty() {
        graders.push(Arc::new(reference_grader(cx.position(head))));
    }

    object.finish(&mut cx.problems);
    Some(ConversationTurn { input: input?, expected_output, graders, place: cx.position(head) })
}

/// Returns the grader for a turn that only has a reference answer: a judge that scores the whole answer.
fn reference_grader(place: FilePosition) -> Grader {
    let llm = LlmGrader {
        prompt: None,
        judge: None,
        panel: PanelSpec::default(),
        temperature: None,
        max_steps: None,
        config: Map::new(),
        preprocessors: Vec::new(),
        given: None,
    };

    let name = "llm-grader".to_owned();
    let weighting = GraderWeighting::default();
    Grader { name: name.clone(), type_name: name, weighting, place, kind: GraderKind::Llm(llm) }
}
