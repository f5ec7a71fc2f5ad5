//! A command that answers all cases in one run.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use assize_llm::{BoxFuture, UnambiguousJson};
use assize_rubric::IdentityWriter;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::recording::recorded_id;
use crate::{
    CommandTarget, Target, TargetAnswer, TargetDescription, TargetError, TargetErrorKind, TargetInput, reply,
};

/// The answer to each case, or the failure that the command reports for it.
type BatchAnswers = Result<HashMap<String, Result<TargetAnswer, TargetError>>, TargetError>;
type BatchRun = Arc<OnceCell<BatchAnswers>>;

/// A command that runs once for all cases and prints lines of JSON, each with the `id` of a case and its answer
/// in the same form as for a single case. There is a separate run for each trial, and for the cases of each
/// folder.
pub struct BatchTarget {
    command: CommandTarget,
    /// Runs by trial and by the eval file's folder, in which the command runs.
    runs: Mutex<BTreeMap<(u32, PathBuf), BatchRun>>,
}

impl BatchTarget {
    /// Creates a target from a command whose template contains no per-case placeholder.
    pub fn new(command: CommandTarget) -> Self {
        Self { command, runs: Mutex::default() }
    }

    async fn ask(&self, input: &TargetInput) -> Result<TargetAnswer, TargetError> {
        if input.turn.is_some() {
            let message = "a command that answers all cases in one run can't hold a conversation";
            return Err(TargetError::without_attempt(TargetErrorKind::BadInput, message));
        }

        let run = {
            let mut runs = self.runs.lock();
            Arc::clone(runs.entry((input.attempt, input.suite_folder.clone())).or_default())
        };
        let answers = run.get_or_init(|| self.run(input)).await;
        match answers {
            // The cost of the run can't be assigned to a single case.
            Err(error) => Err(error.clone()),
            Ok(answers) => answers.get(&input.case_id).cloned().unwrap_or_else(|| {
                let message = format!("the command printed no line for the case `{}`", input.case_id);
                Err(TargetError::new(TargetErrorKind::NoAnswer, message))
            }),
        }
    }

    async fn run(&self, input: &TargetInput) -> BatchAnswers {
        let command_input = TargetInput { messages: Vec::new(), ..input.clone() };
        let (bytes, _) = self.command.output(&command_input).await?;
        parse_answers(&bytes)
    }
}

fn parse_answers(bytes: &[u8]) -> BatchAnswers {
    let malformed = |line: usize, why: String| {
        let message = format!("line {line} of the command's output is invalid: {why}");
        TargetError::new(TargetErrorKind::Malformed, message)
    };
    let text = String::from_utf8_lossy(bytes);
    let mut answers = HashMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = index + 1;
        let UnambiguousJson(value) = serde_json::from_str(line)
            .map_err(|error| malformed(line_number, format!("not JSON with one value per key: {error}")))?;
        let id = recorded_id(&value).map_err(|why| malformed(line_number, why))?;
        let Some(id) = id else {
            return Err(malformed(line_number, "it has no `id`".to_owned()));
        };

        // The duration of the run is not that of one case.
        let answer = match reply::parse_reply(line.as_bytes(), std::time::Duration::ZERO) {
            Err(error) if error.kind == TargetErrorKind::Malformed => {
                return Err(malformed(line_number, error.to_string()));
            }
            answer => answer,
        };
        if answers.insert(id.clone(), answer).is_some() {
            return Err(malformed(line_number, format!("the case `{id}` was already answered")));
        }
    }

    Ok(answers)
}

impl Target for BatchTarget {
    fn name(&self) -> &str {
        self.command.name()
    }

    fn answer<'a>(&'a self, input: &'a TargetInput) -> BoxFuture<'a, Result<TargetAnswer, TargetError>> {
        Box::pin(self.ask(input))
    }

    fn describe(&self) -> TargetDescription {
        self.command.describe()
    }

    fn write_settings(&self, identity: &mut IdentityWriter) {
        identity.begin("batch target", 1);
        self.command.write_settings(identity);
    }
}
