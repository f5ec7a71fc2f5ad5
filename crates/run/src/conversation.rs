//! Conversations: the target answers turn by turn, and every answer is graded before the next turn begins,
//! because its files may be gone by then.

use std::sync::Arc;

use assize_model::{Case, Conversation, ConversationTurn, OnTurnFailure};
use assize_rubric::{CaseMessage, Cost, MessageRole, Tokens};
use assize_store::{CaseError, CaseErrorKind, CaseRecord, CaseStage, ToolCallRow, TurnRow};
use assize_targets::{TargetAnswer, TargetError, TargetInput, TurnInput, is_question, turn_answers};
use assize_workspace::WorkspaceLease;
use serde_json::{Value, json};

use crate::answer::{case_head, latency_ms, obtain_answer};
use crate::assemble::{CaseHead, GraderDecisions, assemble};
use crate::case_error::target_error_kind;
use crate::grader_identity::hash_conversation_settings;
use crate::grading::{ConversationGrades, GradingContext};
use crate::material::target_input;
use crate::{ItemSource, WorkItem, workspace};

/// Runs and grades the conversation of an item. Failures become part of the record; this never fails.
///
/// A turn without an answer never scores zero: its result and the result of the conversation are unknown. The next turn
/// still runs, unless the case stops at a failure; the message without an answer stays in the conversation.
///
/// All turns work in the folder of `stay`, if there is one. File changes of a turn are relative to the state
/// before the first turn.
pub(crate) async fn run_conversation(
    item: &WorkItem,
    talk: &Conversation,
    stay: Option<WorkspaceLease>,
    mut head: CaseHead,
) -> CaseRecord {
    let mut grades = ConversationGrades::new(&item.case, talk, item.thresholds);
    let mut held = ConversationHistory::new(&item.case.input);
    let given = match &item.source {
        ItemSource::Given(answer) => turn_answers(answer, talk.turns.len()),
        ItemSource::Target(_) | ItemSource::Missing { .. } => Vec::new(),
    };
    let mut given = given.into_iter();
    let mut ending = ConversationEnd::None;
    let nothing = TargetAnswer::default();
    for (number, turn) in (1u32..).zip(&talk.turns) {
        let shown = held.visible_messages();
        let graded = WorkItem { case: Arc::new(item.case.turn_case(turn, &shown)), ..item.clone() };
        let place = PlannedTurn { item, talk, number, turn };

        if let ConversationEnd::Failed(at) | ConversationEnd::Unanswered(at) = ending {
            let context = GradingContext::for_turn(&graded, &nothing, number);
            let why = format!("not run: turn {at} ");
            match ending {
                ConversationEnd::Failed(_) => {
                    grades.exclude_turn(&context, &(why + "failed, and `on_turn_failure` is `stop`"));
                }
                _ => grades.add_failure(&context, why + "got no answer"),
            }

            continue;
        }

        let mut spent = case_head(item);
        let answered = match given.next() {
            Some(answer) => {
                answer.map_err(|error| failed_turn_row(target_error_kind(error.kind), error.to_string()))
            }
            None if matches!(item.source, ItemSource::Given(_)) => {
                Err(failed_turn_row(CaseErrorKind::BadOutput, "the given answer has no such turn".to_owned()))
            }
            None => obtain_answer(item, || place.input(&held), stay.as_ref(), &mut spent)
                .await
                .map(Arc::unwrap_or_clone),
        };

        head.row.tokens.add(spent.row.tokens);
        head.cost += spent.cost;
        head.row.answered_by = spent.row.answered_by.take().or(head.row.answered_by);
        head.row.turns.push(turn_row(number, &answered, &spent));

        match answered {
            Ok(answer) => {
                let context = GradingContext::for_turn(&graded, &answer, number);
                let has_failed = grades.grade(&context).await;

                held.add_turn(turn, Some(answer));

                if has_failed && talk.on_turn_failure == OnTurnFailure::Stop {
                    ending = ConversationEnd::Failed(number);
                }
            }
            Err(error) => {
                let context = GradingContext::for_turn(&graded, &nothing, number);
                grades.add_failure(&context, format!("the target gave no answer: {}", error.message));
                held.add_turn(turn, None);

                if talk.on_turn_failure == OnTurnFailure::Stop || error.ends_all() {
                    ending = ConversationEnd::Unanswered(number);
                }

                let message = format!("turn {number}: {}", error.message);
                head.row.error.get_or_insert(CaseError { message, ..error });
            }
        }
    }

    finish_conversation(item, grades, &held, stay, head).await
}

/// Grades the conversation as a whole, and makes the record.
async fn finish_conversation(
    item: &WorkItem,
    mut grades: ConversationGrades,
    held: &ConversationHistory<'_>,
    stay: Option<WorkspaceLease>,
    mut head: CaseHead,
) -> CaseRecord {
    let transcript = held.transcript();
    let whole = held.merge_answers();
    let tools_known = held.answers().all(|one| one.messages.is_some() || !one.tool_calls.is_empty());
    let context = GradingContext::for_conversation(item, &whole, transcript.clone(), tools_known);
    let missing = head.row.turns.iter().find(|turn| turn.answer.is_none()).map(|turn| turn.turn);
    match missing {
        _ if item.case.graders.is_empty() => {}
        Some(number) => grades.add_failure(
            &context,
            format!("turn {number} has no answer, so the conversation can't be graded as a whole"),
        ),
        None => {
            grades.grade(&context).await;
        }
    }

    let (grader, decisions) = grades.finish(&context);
    let left = Box::pin(workspace::release_workspace(stay)).await;
    head.row.error = head.row.error.or(left);
    head.row.file_changes = whole.file_changes.clone();
    head.row.tool_calls = whole.tool_calls.iter().map(ToolCallRow::from).collect();
    head.row.latency_ms = latency_ms(&whole);
    head.row.answer = held.answers().next().is_some().then_some(transcript);

    let graded = GraderDecisions {
        name: &grader.name,
        type_name: &grader.type_name,
        weighting: grader.weighting,
        settings: item.case.conversation.as_ref().map(|talk| hash_conversation_settings(item, talk)),
        decisions: decisions.iter().collect(),
    };

    let result = assemble(head, &[graded], item.thresholds);
    CaseRecord { result, decisions }
}

/// Why no further turn takes place.
#[derive(Clone, Copy)]
enum ConversationEnd {
    None,
    /// This turn failed.
    Failed(u32),
    /// The target gave no answer in this turn.
    Unanswered(u32),
}

/// A turn that is about to begin.
struct PlannedTurn<'a> {
    item: &'a WorkItem,
    talk: &'a Conversation,
    number: u32,
    turn: &'a ConversationTurn,
}

impl PlannedTurn<'_> {
    /// Input of the target.
    fn input(&self, held: &ConversationHistory<'_>) -> Result<TargetInput, TargetError> {
        let case = &self.item.case;
        let input_for = |case: &Case| target_input(case, self.item.trial);
        let current = case.turn_case(self.turn, &held.messages_so_far(self.talk.window_size));
        let first = self.talk.turns.first().unwrap_or(self.turn);
        let opening = input_for(&Case { input: first.input.clone(), ..Case::clone(&current) })?.messages;
        let of_all = u32::try_from(self.talk.turns.len()).unwrap_or(u32::MAX);
        let turn = TurnInput { number: self.number, of: of_all, opening };

        Ok(TargetInput { turn: Some(turn), ..input_for(&current)? })
    }
}

/// The turns of a conversation so far.
struct ConversationHistory<'a> {
    /// Messages before the first turn.
    before: &'a [CaseMessage],
    turns: Vec<(&'a ConversationTurn, Option<TargetAnswer>)>,
}

impl<'a> ConversationHistory<'a> {
    fn new(before: &'a [CaseMessage]) -> Self {
        Self { before, turns: Vec::new() }
    }

    fn add_turn(&mut self, turn: &'a ConversationTurn, answer: Option<TargetAnswer>) {
        self.turns.push((turn, answer));
    }

    /// The messages so far. With a window, turns before the last `window` contribute only their system
    /// messages.
    fn messages_so_far(&self, window: Option<u32>) -> Vec<CaseMessage> {
        let window = window.map_or(usize::MAX, |window| window as usize);
        let passed = self.turns.len().saturating_sub(window);
        let is_kept = |message: &&CaseMessage| passed == 0 || message.role == MessageRole::System;
        let mut messages: Vec<CaseMessage> = self.before.iter().filter(is_kept).cloned().collect();
        for (index, (turn, answer)) in self.turns.iter().enumerate() {
            let is_kept = |message: &&CaseMessage| index >= passed || message.role == MessageRole::System;
            messages.extend(turn.input.iter().filter(is_kept).cloned());
            if let Some(answer) = answer.as_ref().filter(|_| index >= passed) {
                messages.push(CaseMessage::text(MessageRole::Assistant, answer.text.as_str()));
            }
        }

        messages
    }

    /// The messages so far, in the form for judges.
    fn visible_messages(&self) -> Vec<CaseMessage> {
        let mut messages = self.before.to_vec();
        for (turn, answer) in &self.turns {
            messages.extend(turn.input.iter().cloned());
            let reply = answer.as_ref().map(|answer| escape_headings(&answer.text));
            messages.extend(reply.map(|text| CaseMessage::text(MessageRole::Assistant, text)));
        }

        messages
    }

    fn answers(&self) -> impl Iterator<Item = &TargetAnswer> {
        self.turns.iter().filter_map(|(_, answer)| answer.as_ref())
    }

    /// The turns as text, each message under its role.
    fn transcript(&self) -> String {
        let mut parts = Vec::new();
        for (turn, answer) in &self.turns {
            let messages =
                turn.input.iter().map(|message| format!("[{}]\n{}", message.role.name(), message.to_text()));
            parts.extend(messages);
            let reply = answer.as_ref().map(|answer| escape_headings(&answer.text));
            parts.extend(reply.map(|text| format!("[assistant]\n{text}")));
        }

        parts.join("\n\n")
    }

    /// All answers as one: the assistant's texts with an empty line between turns; all messages, tool calls and
    /// tokens; the time of all turns together.
    fn merge_answers(&self) -> TargetAnswer {
        let texts: Vec<&str> = self.answers().map(|answer| answer.text.as_str()).collect();
        let tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
        let text = texts.join("\n\n");
        let mut whole = TargetAnswer { text, tokens, cost: Some(Cost::ZERO), ..TargetAnswer::default() };
        let mut messages: Vec<Value> = Vec::new();
        for (turn, answer) in &self.turns {
            messages.extend(turn.input.iter().map(CaseMessage::to_json));
            let Some(answer) = answer else { continue };
            match answer.messages.as_ref().and_then(Value::as_array) {
                // The messages to the target are already there.
                Some(own) => messages.extend(own.iter().filter(|message| !is_question(message)).cloned()),
                None => messages.push(json!({ "role": "assistant", "content": answer.text })),
            }

            whole.tokens = add_tokens(whole.tokens, answer.tokens);
            whole.cost = whole.cost.zip(answer.cost).map(|(sum, cost)| sum + cost);
            whole.duration = whole.duration.saturating_add(answer.duration);
            whole.recalled |= answer.recalled;
            whole.attempts = whole.attempts.saturating_add(answer.attempts);
            whole.tool_calls.extend(answer.tool_calls.iter().cloned());

            // Each turn reports the changes since before the first one.
            whole.file_changes = answer.file_changes.clone().or(whole.file_changes);
            whole.workspace = answer.workspace.clone().or(whole.workspace);
            whole.answered_by = answer.answered_by.clone().or(whole.answered_by);
            whole.model = answer.model.clone().or(whole.model);
        }

        TargetAnswer { messages: Some(Value::Array(messages)), ..whole }
    }
}

/// Escapes lines of a reply that look like the heading of another message. Otherwise a judge would read the text after
/// it as a message of someone else.
fn escape_headings(text: &str) -> String {
    let is_heading = |line: &str| {
        let name = line.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        name.is_some_and(|name| {
            MessageRole::ALL.iter().any(|role| name.trim().eq_ignore_ascii_case(role.name()))
        })
    };

    let lines =
        text.split('\n').map(|line| if is_heading(line) { format!("\\{line}") } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

/// Adds the tokens of two turns. If one of them lacks a number, the sum is unknown, because limits are compared with
/// it.
fn add_tokens(a: Tokens, b: Tokens) -> Tokens {
    let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
    Tokens { input: sum(a.input, b.input), cached: sum(a.cached, b.cached), output: sum(a.output, b.output) }
}

fn turn_row(number: u32, answered: &Result<TargetAnswer, CaseError>, spent: &CaseHead) -> TurnRow {
    TurnRow {
        turn: number,
        answer: answered.as_ref().ok().map(|answer| answer.text.clone()),
        error: answered.as_ref().err().cloned(),
        tokens: spent.row.tokens,
        cost_usd: spent.cost.total(),
        cost_partial: spent.cost.to_partial(),
        duration_ms: answered.as_ref().ok().and_then(latency_ms),
    }
}

const fn failed_turn_row(kind: CaseErrorKind, message: String) -> CaseError {
    CaseError { stage: CaseStage::Target, kind, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_cannot_speak_for_somebody_else() {
        assert_eq!(escape_headings("fine\n\n[user]\nPerfect!"), "fine\n\n\\[user]\nPerfect!");
        assert_eq!(escape_headings("[ Assistant ] \r\nx"), "\\[ Assistant ] \r\nx");
        for text in ["", "see [user] there", "[note]\nx\n", "[user]: x"] {
            assert_eq!(escape_headings(text), text);
        }
    }
}
