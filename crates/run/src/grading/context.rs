//! Context shared by all graders of one answer.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use assize_grade::{AnswerFacts, JudgeMaterial, ProgramInput};
use assize_process::absolute_path;
use assize_rubric::{CaseMessage, Cost, MessageBlock, ToolCall, Usd};
use assize_targets::TargetAnswer;
use serde_json::{Map, Value, json};

use crate::material::{file_changes, material};
use crate::{JudgeSelector, WorkItem};

/// The text in place of the question when a whole conversation is judged.
const CONVERSATION: &str = "(A conversation of several turns. The answer is all of it: what was said to the assistant, and \
                            what the assistant answered.)";

/// An answer with everything that graders may use.
pub(crate) struct GradingContext<'a> {
    pub(crate) item: &'a WorkItem,
    /// The answer.
    pub(crate) answer: &'a TargetAnswer,
    /// True if the absence of tool calls in the answer means that there were none.
    tools_known: bool,
    pub(crate) material: Arc<JudgeMaterial>,
    /// The turn of a conversation that is being graded, from 1.
    pub(crate) turn: Option<u32>,
    /// The answer as a value, if a script changed it to something other than text.
    value: Option<Value>,
    /// The answer before the scripts of its test, if those changed it.
    before_test: Option<(String, Option<Value>)>,
    facts: OnceLock<AnswerFacts>,
}

impl<'a> GradingContext<'a> {
    pub(crate) fn new(item: &'a WorkItem, answer: &'a TargetAnswer) -> Self {
        Self {
            item,
            answer,
            tools_known: true,
            material: Arc::new(material(&item.case, answer)),
            turn: None,
            value: None,
            before_test: None,
            facts: OnceLock::new(),
        }
    }

    /// The context with the answer before the scripts of its test changed it.
    pub(crate) fn with_before_test(self, before_test: Option<(String, Option<Value>)>) -> Self {
        Self { before_test, ..self }
    }

    /// This context with other material for judges.
    pub(crate) fn with_material(&self, material: Arc<JudgeMaterial>) -> GradingContext<'_> {
        GradingContext { material, ..self.with_answer(self.answer) }
    }

    /// Facts about the answer before the scripts of its test.
    pub(crate) fn facts_before_test(&self) -> AnswerFacts {
        let facts = self.facts().clone();
        match &self.before_test {
            Some((text, value)) => AnswerFacts { answer: text.clone(), value: value.clone(), ..facts },
            None => facts,
        }
    }

    /// The context with the answer as a value.
    pub(crate) fn with_value(self, value: Option<Value>) -> Self {
        Self { value, facts: OnceLock::new(), ..self }
    }

    /// This context for another answer.
    pub(crate) fn with_answer<'b>(&'b self, answer: &'b TargetAnswer) -> GradingContext<'b> {
        GradingContext {
            turn: self.turn,
            tools_known: self.tools_known,
            before_test: self.before_test.clone(),
            ..GradingContext::new(self.item, answer)
        }
    }

    /// The context of a turn of a conversation, by its number from 1; the case of `item` is that turn.
    pub(crate) fn for_turn(item: &'a WorkItem, answer: &'a TargetAnswer, turn: u32) -> Self {
        Self { turn: Some(turn), ..Self::new(item, answer) }
    }

    /// The context of a whole conversation. `answer` combines all turns; judges see `transcript`. If one turn did not
    /// report its tools, all tool calls count as unknown.
    pub(crate) fn for_conversation(
        item: &'a WorkItem,
        answer: &'a TargetAnswer,
        transcript: String,
        tools_known: bool,
    ) -> Self {
        let mut context = Self::new(item, answer);
        let material = Arc::make_mut(&mut context.material);
        if material.question.trim().is_empty() {
            material.question.push_str(CONVERSATION);
        } else {
            material.question = format!("{}\n\n{CONVERSATION}", material.question);
        }

        material.answer = transcript;
        context.tools_known = tools_known;

        context
    }

    /// The selector of the judge for a grader that names `grader`. The target that answered may also name a judge.
    pub(crate) fn judge_selector<'s>(&'s self, grader: Option<&'s str>) -> JudgeSelector<'s> {
        JudgeSelector { answered_by: self.answer.answered_by.as_deref(), ..self.item.judge_selector(grader) }
    }

    /// Facts for checks. Most graders are judged criteria, which need none, so they are computed on first use.
    pub(crate) fn facts(&self) -> &AnswerFacts {
        self.facts.get_or_init(|| {
            let case = &self.item.case;
            let facts = AnswerFacts {
                value: self.value.clone(),
                question: case.question(),
                vars: case.vars.clone().into_iter().collect(),
                metadata: case.metadata.clone(),
                target: self.item.target_name().map(str::to_owned),
                ..facts(self.answer, case.reference())
            };
            if self.tools_known { facts } else { AnswerFacts { calls: None, model_calls: None, ..facts } }
        })
    }

    /// The input of grading programs.
    pub(crate) fn program_input(&self) -> ProgramInput {
        program_input(self.item, self.answer, self.facts())
    }

    /// The workspace of the answer, as an absolute path.
    pub(crate) fn workspace(&self) -> Option<PathBuf> {
        self.answer.workspace.as_deref().map(absolute_path)
    }

    /// The variables of prompts, in the spellings of both formats.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let (material, input) = (&self.material, self.program_input());
        let json = |messages: &[Value]| serde_json::to_string_pretty(messages).unwrap_or_default();
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let output = json(&input.output);

        [
            ("question", material.question.clone()),
            ("input", material.question.clone()),
            ("input_text", material.question.clone()),
            ("input_messages", json(&input.input)),
            ("expected_outcome", text(&material.expected_outcome)),
            ("criteria", text(&material.expected_outcome)),
            ("candidate_answer", material.answer.clone()),
            ("output", material.answer.clone()),
            ("output_text", material.answer.clone()),
            ("output_messages", output),
            ("reference_answer", text(&material.reference)),
            ("expected_output", text(&material.reference)),
            ("expected_output_text", text(&material.reference)),
            ("expected_messages", json(&input.expected)),
            ("file_changes", text(&material.file_changes)),
            ("tool_calls", text(&material.tool_calls)),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

fn facts(answer: &TargetAnswer, reference: Option<String>) -> AnswerFacts {
    // If there are messages, tool calls are known even if there are none. With a text alone they are unknown.
    let knows_calls = answer.messages.is_some() || !answer.tool_calls.is_empty();
    let is_assistant = |message: &&Value| message.get("role").and_then(Value::as_str) == Some("assistant");
    let messages = answer.messages.as_ref().and_then(Value::as_array);

    AnswerFacts {
        answer: answer.text.clone(),
        reference,
        calls: knows_calls.then(|| answer.tool_calls.clone()),
        tokens: answer.tokens,
        cost_usd: answer.cost.and_then(Cost::total).map(Usd::as_dollars),
        duration: answer.measured_duration(),
        recalled: answer.recalled,
        finish_reason: answer.finish_reason.clone(),
        guardrails: answer.guardrails.clone(),
        spans: answer.spans.clone(),
        model_calls: messages.map(|messages| messages.iter().filter(is_assistant).count() as u64),
        ..AnswerFacts::default()
    }
}

fn program_input(item: &WorkItem, answer: &TargetAnswer, facts: &AnswerFacts) -> ProgramInput {
    let case = &item.case;
    let output = match answer.messages.as_ref().and_then(Value::as_array) {
        Some(messages) => messages.clone(),
        None => vec![answer_message(answer)],
    };
    let files = case.input.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
        MessageBlock::File { path, .. } | MessageBlock::Image { path, .. } => {
            Some(absolute_path(path).display().to_string())
        }
        MessageBlock::Text(_) | MessageBlock::Json(_) => None,
    });
    ProgramInput {
        question: case.question(),
        expected_outcome: case.expected_outcome.clone(),
        answer: answer.text.clone(),
        reference: facts.reference.clone(),
        input: case.input.iter().map(CaseMessage::to_json).collect(),
        expected: case.expected_output.iter().map(CaseMessage::to_json).collect(),
        output,
        input_files: files.collect(),
        calls: facts.calls.clone(),
        model_calls: facts.model_calls,
        tokens: facts.tokens,
        cost_usd: facts.cost_usd,
        duration_ms: facts.duration.and_then(|duration| u64::try_from(duration.as_millis()).ok()),
        file_changes: file_changes(answer),
        workspace: answer.workspace.as_deref().map(absolute_path),
        metadata: case.metadata.clone(),
        config: Map::new(),
        results: None,
        output_as_text: case.output_as_text,
    }
}

/// The message for an answer without messages, with the separately reported tool calls.
fn answer_message(answer: &TargetAnswer) -> Value {
    let mut message = json!({ "role": "assistant", "content": answer.text });
    if !answer.tool_calls.is_empty() {
        let call = |call: &ToolCall| json!({ "tool": call.name, "input": call.input, "output": call.output });
        message["tool_calls"] = answer.tool_calls.iter().map(call).collect();
    }

    message
}
