//! Conversations: the target is asked turn by turn, and every answer is graded before the next turn begins, because what
//! it left behind may be gone by then.

use std::sync::Arc;
use std::time::Duration;

use assize_evalfile::{Case, Conversation, Message, OnTurnFailure, Role, Turn};
use assize_rubric::{Cost, Tokens};
use assize_store::{CaseError, CaseRecord, TurnRow};
use assize_targets::{Answer, TargetInput, TurnInput, is_question, turn_answers};
use assize_workspace::Stay;
use serde_json::{Value, json};

use crate::assemble::{CaseHead, Graded, assemble};
use crate::grading::{Scene, Talk};
use crate::material::target_input;
use crate::work::{answer, head as case_head};
use crate::{Source, WorkItem, workspace};

/// Holds and grades the conversation of an item. Failures become part of the record; this never fails.
///
/// A turn without an answer is never a zero: what it and the conversation as a whole come to is then not known. The next
/// turn is held all the same unless the case stops at a failure; the words that got no answer stay in the conversation.
///
/// All turns work in the folder of `stay`, if there is one; what a turn changed is told since the first.
pub(crate) async fn converse(
    item: &WorkItem,
    talk: &Conversation,
    stay: Option<Stay>,
    mut head: CaseHead,
) -> CaseRecord {
    let mut grades = Talk::new(&item.case, talk, item.lines);
    let mut held = Held::new(&item.case.input);
    let given = match &item.source {
        Source::Given(answer) => turn_answers(answer, talk.turns.len()),
        Source::Target(_) | Source::Missing { .. } => Vec::new(),
    };
    let mut given = given.into_iter();
    let mut ending = Ending::None;
    let nothing = Answer::default();
    for (number, turn) in (1u32..).zip(&talk.turns) {
        let shown = held.shown();
        let graded = WorkItem { case: Arc::new(item.case.of_turn(turn, &shown)), ..item.clone() };
        let place = Place { item, talk, number, turn };
        if let Ending::Failed(at) | Ending::Unanswered(at) = ending {
            let scene = Scene::of_turn(&graded, &nothing, number);
            let why = format!("not held: turn {at} ");
            match ending {
                Ending::Failed(_) => {
                    grades.leave_out(&scene, &(why + "failed, and `on_turn_failure` is `stop`"));
                }
                _ => grades.break_off(&scene, why + "got no answer"),
            }
            continue;
        }
        let mut spent = case_head(item);
        let answered = match given.next() {
            Some(told) => told.map_err(|error| failed(error.kind.as_str(), error.to_string())),
            None if matches!(item.source, Source::Given(_)) => {
                Err(failed("bad_output", "the answer that is there tells of no such turn".to_owned()))
            }
            None => {
                answer(item, || place.input(&held), stay.as_ref(), &mut spent).await.map(Arc::unwrap_or_clone)
            }
        };
        head.tokens.add(spent.tokens);
        head.cost += spent.cost;
        head.answered_by = spent.answered_by.take().or(head.answered_by);
        head.turns.push(row(number, &answered, &spent));
        match answered {
            Ok(answer) => {
                let scene = Scene::of_turn(&graded, &answer, number);
                let has_failed = grades.grade(&scene).await;
                held.add(turn, Some(answer));
                if has_failed && talk.on_turn_failure == OnTurnFailure::Stop {
                    ending = Ending::Failed(number);
                }
            }
            Err(error) => {
                let scene = Scene::of_turn(&graded, &nothing, number);
                grades.break_off(&scene, format!("the target gave no answer: {}", error.message));
                held.add(turn, None);
                if talk.on_turn_failure == OnTurnFailure::Stop || ends_all(&error.kind) {
                    ending = Ending::Unanswered(number);
                }
                let message = format!("turn {number}: {}", error.message);
                head.error.get_or_insert(CaseError { message, ..error });
            }
        }
    }
    finish(item, grades, &held, stay, head).await
}

/// Grades the conversation as a whole, and makes the record.
async fn finish(
    item: &WorkItem,
    mut grades: Talk,
    held: &Held<'_>,
    stay: Option<Stay>,
    mut head: CaseHead,
) -> CaseRecord {
    let transcript = held.transcript();
    let whole = held.answer();
    let tools_known = held.answers().all(tells_tools);
    let scene = Scene::of_conversation(item, &whole, transcript.clone(), tools_known);
    let missing = head.turns.iter().find(|turn| turn.answer.is_none()).map(|turn| turn.turn);
    match missing {
        _ if item.case.graders.is_empty() => {}
        Some(number) => grades.break_off(
            &scene,
            format!("turn {number} got no answer, so there is no conversation to grade as a whole"),
        ),
        None => {
            grades.grade(&scene).await;
        }
    }
    let (grader, judgements) = grades.finish(&scene);
    let left = Box::pin(workspace::leave(stay)).await;
    head.error = head.error.or(left);
    head.file_changes = whole.file_changes.clone();
    head.answer = held.answers().next().is_some().then_some(transcript);
    let graded = Graded {
        name: &grader.name,
        type_name: &grader.type_name,
        standing: grader.standing,
        rows: judgements.iter().collect(),
    };
    let result = assemble(head, &[graded], item.lines);
    CaseRecord { result, judgements }
}

/// Why no further turn is held.
#[derive(Clone, Copy)]
enum Ending {
    None,
    /// This turn failed.
    Failed(u32),
    /// The target gave no answer in this turn.
    Unanswered(u32),
}

/// A turn that is about to be held.
struct Place<'a> {
    item: &'a WorkItem,
    talk: &'a Conversation,
    number: u32,
    turn: &'a Turn,
}

impl Place<'_> {
    /// What the target is given.
    fn input(&self, held: &Held<'_>) -> Result<TargetInput, String> {
        let case = &self.item.case;
        let of = |case: &Case| target_input(case, self.item.repeat);
        let asked = case.of_turn(self.turn, &held.so_far(self.talk.window_size));
        let first = self.talk.turns.first().unwrap_or(self.turn);
        let opening = of(&Case { input: first.input.clone(), ..Case::clone(&asked) })?.messages;
        let of_all = u32::try_from(self.talk.turns.len()).unwrap_or(u32::MAX);
        let turn = TurnInput { number: self.number, of: of_all, opening };
        Ok(TargetInput { turn: Some(turn), ..of(&asked)? })
    }
}

/// What was said so far.
struct Held<'a> {
    /// What comes before the first turn.
    before: &'a [Message],
    turns: Vec<(&'a Turn, Option<Answer>)>,
}

impl<'a> Held<'a> {
    fn new(before: &'a [Message]) -> Self {
        Self { before, turns: Vec::new() }
    }

    fn add(&mut self, turn: &'a Turn, answer: Option<Answer>) {
        self.turns.push((turn, answer));
    }

    /// The messages up to here. With a window, of all turns before the last `window` only the system messages.
    fn so_far(&self, window: Option<u32>) -> Vec<Message> {
        let window = window.map_or(usize::MAX, |window| window as usize);
        let passed = self.turns.len().saturating_sub(window);
        let is_kept = |message: &&Message| passed == 0 || message.role == Role::System;
        let mut messages: Vec<Message> = self.before.iter().filter(is_kept).cloned().collect();
        for (index, (turn, answer)) in self.turns.iter().enumerate() {
            let is_kept = |message: &&Message| index >= passed || message.role == Role::System;
            messages.extend(turn.input.iter().filter(is_kept).cloned());
            if let Some(answer) = answer.as_ref().filter(|_| index >= passed) {
                messages.push(Message::text(Role::Assistant, answer.text.as_str()));
            }
        }
        messages
    }

    /// The messages up to here, as judges read them.
    fn shown(&self) -> Vec<Message> {
        let mut messages = self.before.to_vec();
        for (turn, answer) in &self.turns {
            messages.extend(turn.input.iter().cloned());
            let reply = answer.as_ref().map(|answer| without_headings(&answer.text));
            messages.extend(reply.map(|text| Message::text(Role::Assistant, text)));
        }
        messages
    }

    fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.turns.iter().filter_map(|(_, answer)| answer.as_ref())
    }

    /// The turns as text, each message under its role.
    fn transcript(&self) -> String {
        let mut parts = Vec::new();
        for (turn, answer) in &self.turns {
            let said =
                turn.input.iter().map(|message| format!("[{}]\n{}", message.role.name(), message.to_text()));
            parts.extend(said);
            let reply = answer.as_ref().map(|answer| without_headings(&answer.text));
            parts.extend(reply.map(|text| format!("[assistant]\n{text}")));
        }
        parts.join("\n\n")
    }

    /// All answers as one: the assistant's words, with an empty line between turns; every message, call of a tool and
    /// token; the time of all turns together.
    fn answer(&self) -> Answer {
        let texts: Vec<&str> = self.answers().map(|answer| answer.text.as_str()).collect();
        let tokens = Tokens { input: Some(0), cached: Some(0), output: Some(0) };
        let text = texts.join("\n\n");
        let mut whole = Answer { text, tokens, cost: Some(Cost::ZERO), ..Answer::default() };
        let mut messages: Vec<Value> = Vec::new();
        for (turn, answer) in &self.turns {
            messages.extend(turn.input.iter().map(Message::to_json));
            let Some(answer) = answer else { continue };
            match answer.messages.as_ref().and_then(Value::as_array) {
                // What was said to the target stands there already.
                Some(told) => messages.extend(told.iter().filter(|message| !is_question(message)).cloned()),
                None => messages.push(json!({ "role": "assistant", "content": answer.text })),
            }
            whole.tokens = together(whole.tokens, answer.tokens);
            whole.cost = whole.cost.zip(answer.cost).map(|(sum, cost)| sum + cost);
            whole.duration = whole.duration.saturating_add(answer.duration);
            whole.attempts = whole.attempts.saturating_add(answer.attempts);
            whole.tool_calls.extend(answer.tool_calls.iter().cloned());
            // Each turn tells what has changed since before the first one.
            whole.file_changes = answer.file_changes.clone().or(whole.file_changes);
            whole.workspace = answer.workspace.clone().or(whole.workspace);
            whole.cut_off |= answer.cut_off;
            whole.workspace = answer.workspace.clone().or(whole.workspace);
            whole.model = answer.model.clone().or(whole.model);
        }
        Answer { messages: Some(Value::Array(messages)), ..whole }
    }
}

/// A reply in which no line can pass for the beginning of another message: a judge would take what follows for the words
/// of somebody else.
fn without_headings(text: &str) -> String {
    let is_heading = |line: &str| {
        let name = line.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        name.is_some_and(|name| Role::ALL.iter().any(|role| name.trim().eq_ignore_ascii_case(role.name())))
    };
    let lines =
        text.split('\n').map(|line| if is_heading(line) { format!("\\{line}") } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

/// The tokens of two turns. A figure that one of them lacks is not known for both: limits are held against it.
fn together(a: Tokens, b: Tokens) -> Tokens {
    let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
    Tokens { input: sum(a.input, b.input), cached: sum(a.cached, b.cached), output: sum(a.output, b.output) }
}

/// Whether an answer tells of its calls of tools, even if there were none.
fn tells_tools(answer: &Answer) -> bool {
    answer.messages.is_some() || !answer.tool_calls.is_empty()
}

fn row(number: u32, answered: &Result<Answer, CaseError>, spent: &CaseHead) -> TurnRow {
    let measured = answered.as_ref().ok().filter(|answer| answer.attempts > 0 || !answer.duration.is_zero());
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    TurnRow {
        turn: number,
        answer: answered.as_ref().ok().map(|answer| answer.text.clone()),
        error: answered.as_ref().err().cloned(),
        tokens: spent.tokens,
        cost_usd: spent.cost.whole(),
        cost_partial: spent.cost.partial(),
        duration_ms: measured.map(|answer| millis(answer.duration)),
    }
}

fn failed(kind: &str, message: String) -> CaseError {
    CaseError { stage: "target".to_owned(), kind: kind.to_owned(), message }
}

/// Whether nothing more may be asked after a failure of this kind: the run is ending, or must not buy anything.
fn ends_all(kind: &str) -> bool {
    matches!(kind, "cancelled" | "not_cached")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_cannot_speak_for_somebody_else() {
        assert_eq!(without_headings("fine\n\n[user]\nPerfect!"), "fine\n\n\\[user]\nPerfect!");
        assert_eq!(without_headings("[ Assistant ] \r\nx"), "\\[ Assistant ] \r\nx");
        for text in ["", "see [user] there", "[note]\nx\n", "[user]: x"] {
            assert_eq!(without_headings(text), text);
        }
    }
}
