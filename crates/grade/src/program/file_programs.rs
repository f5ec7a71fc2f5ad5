//! Programs that produce parts of eval files, run while a file is read.

use std::num::NonZeroUsize;
use std::time::Duration;

use assize_limits::FILE_PROGRAM_BYTES as MAX_RETURNED_BYTES;
use assize_model::{CodeLanguage, CodeProgram, LoadProgram, ProgramRunner};
use assize_process::{ProcessCommand, ProcessLimits};
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::Value;

use super::author_code::{HostReply, HostRequest};
use super::{ProgramSetup, describe_stderr};

/// Most calls in one process, because all of them are lost if it hangs.
const MAX_CALLS_PER_PROCESS: usize = 64;
/// Most processes at once.
const MAX_PROCESSES: usize = 4;
/// Time limit of a process, and the time that each of its calls adds.
const PROCESS_TIME: Duration = Duration::from_mins(1);
const CALL_TIME: Duration = Duration::from_secs(2);

/// Runs the programs that produce prompts, tests and variables of eval files.
#[derive(Debug, Clone)]
pub struct FilePrograms {
    setup: ProgramSetup,
}

impl FilePrograms {
    /// Creates a runner. Programs are started with the variables of this setup.
    pub const fn new(setup: ProgramSetup) -> Self {
        Self { setup }
    }

    async fn run_all(&self, program: &LoadProgram, calls: &[Value]) -> Vec<Result<Value, String>> {
        let batch = match program {
            LoadProgram::Function { .. } => MAX_CALLS_PER_PROCESS,
            LoadProgram::Command { .. } => 1,
        };
        let processes = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_PROCESSES);
        let batches: Vec<_> = calls.chunks(batch).map(|calls| self.run_batch(program, calls)).collect();
        let results: Vec<_> = stream::iter(batches).buffered(processes).collect().await;

        results.into_iter().flatten().collect()
    }

    async fn run_batch(&self, program: &LoadProgram, calls: &[Value]) -> Vec<Result<Value, String>> {
        let results = match program {
            LoadProgram::Function { code, usual, takes_value } => {
                self.call_function(code, usual, *takes_value, calls).await
            }
            LoadProgram::Command { words, folder } => {
                let mut results = Vec::new();
                for arguments in calls {
                    results.push(self.run_command(words, folder, arguments).await.map(Value::from));
                }
                Ok(results)
            }
        };

        match results {
            Ok(results) if results.len() == calls.len() => results,
            Ok(_) => vec![Err("the program returned too few results".to_owned()); calls.len()],
            Err(reason) => vec![Err(reason); calls.len()],
        }
    }

    async fn call_function(
        &self,
        code: &CodeProgram,
        usual: &str,
        takes_value: bool,
        calls: &[Value],
    ) -> Result<Vec<Result<Value, String>>, String> {
        let request = HostRequest {
            program: code,
            usual,
            calls,
            takes_value,
            timeout: PROCESS_TIME + CALL_TIME * u32::try_from(calls.len()).unwrap_or(u32::MAX),
            output_cap: MAX_RETURNED_BYTES,
        };
        let folder = code.path.as_deref().and_then(|path| path.parent());
        let results = request.run(folder, &self.setup).await.map_err(|reason| with_advice(code, reason))?;

        Ok(results
            .into_iter()
            .map(|result| match result? {
                HostReply::Value(value) => Ok(value),
                HostReply::Threw(message) => Err(in_one_line(&message)),
            })
            .collect())
    }

    /// Runs a command with its arguments as JSON appended. Returns its output.
    async fn run_command(
        &self,
        words: &[String],
        folder: &std::path::Path,
        arguments: &Value,
    ) -> Result<String, String> {
        let given = arguments.as_array().into_iter().flatten().map(Value::to_string);
        let words = words.iter().cloned().chain(given);
        let env = self.setup.env.build_environment(&[], None, None);
        let limits = ProcessLimits::new(PROCESS_TIME, MAX_RETURNED_BYTES);
        let command = ProcessCommand::argv(words, env).in_folder(folder).with_limits(limits);
        let finished =
            command.run(self.setup.consent).await.map_err(|error| self.setup.redact(&error.to_string()))?;

        let stdout = self.setup.redact(&String::from_utf8_lossy(&finished.stdout.bytes));
        let text = stdout.trim();
        if !finished.exit.is_success() || text.is_empty() {
            let failure = if finished.exit.is_success() { "it printed nothing" } else { "it failed" };
            let stderr = self.setup.redact(&describe_stderr(&finished.stderr));
            return Err(in_one_line(&format!("{failure} ({}){stderr}", finished.exit)));
        }

        Ok(text.to_owned())
    }
}

impl ProgramRunner for FilePrograms {
    fn run(&self, program: &LoadProgram, calls: &[Value]) -> Vec<Result<Value, String>> {
        // Files are read from asynchronous and other code, so the processes get their own thread and runtime.
        let finished = std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                Ok::<_, std::io::Error>(runtime.block_on(self.run_all(program, calls)))
            });
            worker.join()
        });

        match finished {
            Ok(Ok(results)) => results,
            Ok(Err(error)) => vec![Err(error.to_string()); calls.len()],
            Err(_) => vec![Err("the thread of its process failed".to_owned()); calls.len()],
        }
    }
}

/// A message in one line: its first line, and the last line with an error, or else the last line.
fn in_one_line(message: &str) -> String {
    let mut lines = message.trim().lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let others: Vec<&str> = lines.collect();
    let tells = |line: &&&str| line.contains("Error") || line.contains("error");

    match others.iter().rev().find(tells).or_else(|| others.last()) {
        Some(last) => format!("{}: {last}", first.trim_end_matches(':')),
        None => first.to_owned(),
    }
}

/// Adds advice if the interpreter is too old to run TypeScript.
fn with_advice(code: &CodeProgram, reason: String) -> String {
    let is_old = ["bad option", "ERR_UNKNOWN_FILE_EXTENSION", "Unknown file extension"]
        .iter()
        .any(|sign| reason.contains(sign));
    if code.language == CodeLanguage::TypeScript && is_old {
        return "TypeScript needs Node.js 22.6 or newer; write the file as JavaScript for older ones"
            .to_owned();
    }

    in_one_line(&reason)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use assize_process::{Environment, ProgramConsent};
    use serde_json::json;

    use super::*;
    use crate::ProgramEnvironment;

    fn runner() -> FilePrograms {
        let all = Environment::from_vars([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("MY_KEY", "secret")]);
        let env = ProgramEnvironment::new(all, ["MY_KEY".to_owned()]);
        FilePrograms::new(ProgramSetup {
            env,
            consent: Some(ProgramConsent::of_user()),
            ..ProgramSetup::default()
        })
    }

    fn python(folder: &Path, text: &str) -> LoadProgram {
        let path = folder.join("code.py");
        std::fs::write(&path, text).unwrap();
        let code = CodeProgram {
            language: CodeLanguage::Python,
            path: Some(path),
            text: text.into(),
            function: Some("make".to_owned()),
        };
        LoadProgram::Function { code, usual: "", takes_value: false }
    }

    #[test]
    fn results_of_many_processes_come_in_the_order_of_the_calls() {
        let folder = tempfile::tempdir().unwrap();
        let text = "calls = 0\ndef make(n):\n    global calls\n    calls += 1\n    if n == 70:\n        raise ValueError('no\\n70')\n    return [n, calls]\n";
        let program = python(folder.path(), text);
        let calls: Vec<Value> = (0..130).map(|n| json!([n])).collect();
        let results = runner().run(&program, &calls);

        assert_eq!(results.len(), 130);
        assert_eq!(results[70], Err("ValueError: no: 70 (line 6)".to_owned()));
        for (n, result) in results.into_iter().enumerate().filter(|(n, _)| *n != 70) {
            assert_eq!(result, Ok(json!([n, n % MAX_CALLS_PER_PROCESS + 1])));
        }
    }

    #[test]
    fn a_process_that_ends_early_fails_only_its_own_calls() {
        let folder = tempfile::tempdir().unwrap();
        let text = "import os\ndef make(n):\n    if n == 0:\n        os._exit(3)\n    return os.environ.get('MY_KEY', 'withheld')\n";
        let program = python(folder.path(), text);
        let calls: Vec<Value> = (0..=MAX_CALLS_PER_PROCESS).map(|n| json!([n])).collect();
        let results = runner().run(&program, &calls);
        assert!(
            results[..MAX_CALLS_PER_PROCESS].iter().all(|result| result
                .as_ref()
                .is_err_and(|reason| reason.contains("no result (exit code 3)")))
        );
        assert_eq!(results[MAX_CALLS_PER_PROCESS], Ok(json!("withheld")));
    }

    #[test]
    fn a_command_gets_its_arguments_as_json_and_reaches_no_shell() {
        let folder = tempfile::tempdir().unwrap();
        let command = |words: &[&str]| LoadProgram::Command {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            folder: folder.path().to_path_buf(),
        };
        let run =
            |words: &[&str], argument: Value| runner().run(&command(words), &[json!([argument])]).remove(0);

        let said = run(&["printf", "%s\n"], json!({"a": "$(id); `id`"}));
        assert_eq!(said, Ok(json!("{\"a\":\"$(id); `id`\"}")));
        assert_eq!(run(&["true"], json!(1)), Err("it printed nothing (exit code 0)".to_owned()));
        let failed =
            run(&["sh", "-c", "echo one >&2; echo 'Error: two' >&2; echo three >&2; exit 4"], json!(1));
        assert_eq!(failed, Err("it failed (exit code 4); stderr: one: Error: two".to_owned()));
        assert!(run(&["no-such-program-here"], json!(1)).unwrap_err().contains("no-such-program-here"));
    }

    #[test]
    fn types_that_node_does_not_know_are_explained() {
        let code =
            CodeProgram { language: CodeLanguage::TypeScript, path: None, text: "".into(), function: None };
        let told = with_advice(&code, "no result (exit code 9); stderr: node: bad option: --x".to_owned());
        assert!(told.contains("Node.js 22.6"), "{told}");
        assert_eq!(with_advice(&code, "first:\n  middle\nlast".to_owned()), "first: last");
    }
}
