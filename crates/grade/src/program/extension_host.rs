//! Interpreters that live for a whole run and call the functions of a file around its tests.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use assize_model::{CodeLanguage, CodeProgram};
use assize_process::{LineProcess, LineReader, ProcessCommand, ProcessLimits};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::{ProgramSetup, python_host};

static PYTHON_HOST: LazyLock<String> =
    LazyLock::new(|| python_host(include_str!("../../hosts/extension.py")));
const NODE_HOST: &str = include_str!("../../hosts/extension.mjs");
/// Largest answer, in bytes: it may contain a whole suite.
const MAX_ANSWER_BYTES: usize = 256 * 1024 * 1024;
/// Lines of standard error that an error message shows.
const SHOWN_LINES: usize = 8;
/// How long to wait for the last lines of standard error after the output has ended.
const LAST_LINES: Duration = Duration::from_millis(100);
/// Default function of a Python file, as in promptfoo.
const USUAL_FUNCTION: &str = "get_transform";

/// A call of a function.
#[derive(Debug, Clone, Copy)]
pub struct ExtensionCall<'a> {
    /// Name of the function; `None` for the default of the file.
    pub function: Option<&'a str>,
    /// Arguments, in order.
    pub arguments: [&'a Value; 2],
    /// Index of the argument that the function may change or return; `None` if its result is not used.
    pub context: Option<usize>,
    /// Time limit; exceeding it ends the interpreter.
    pub limit: Duration,
}

/// A running interpreter with the functions of one file. Their global variables live until
/// [`ExtensionHost::end`].
///
/// JavaScript may work on several calls at once, as in one process of promptfoo; Python runs one after another.
#[derive(Debug)]
pub struct ExtensionHost {
    language: CodeLanguage,
    setup: Arc<ProgramSetup>,
    slots: Semaphore,
    next_id: AtomicU64,
    calls: Arc<Mutex<OpenCalls>>,
    lines: Mutex<Option<mpsc::UnboundedSender<String>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    printer: Mutex<Option<JoinHandle<()>>>,
}

/// Calls that wait for an answer.
#[derive(Debug, Default)]
struct OpenCalls {
    waiting: BTreeMap<u64, oneshot::Sender<Result<Value, String>>>,
    /// Why there are no more answers.
    ended: Option<String>,
    /// Last lines of standard error.
    last_lines: VecDeque<String>,
}

impl OpenCalls {
    /// Passes an answer to its call. Returns false for a line that is not an answer; answers that no call waits
    /// for are ignored.
    fn take_answer(&mut self, line: &str) -> bool {
        let Ok(Value::Object(mut answer)) = serde_json::from_str::<Value>(line) else { return false };
        let id = answer.get("id").and_then(Value::as_u64);
        let result = match answer.get("threw").and_then(Value::as_str) {
            Some(threw) => Err(threw.to_owned()),
            None => Ok(answer.remove("value").unwrap_or_default()),
        };
        if let Some(call) = id.and_then(|id| self.waiting.remove(&id)) {
            let _ = call.send(result);
        }

        true
    }

    /// Fails all waiting and future calls. The first reason is kept.
    fn end(&mut self, reason: String) {
        let reason = self.ended.get_or_insert(reason).clone();
        for call in std::mem::take(&mut self.waiting).into_values() {
            let _ = call.send(Err(reason.clone()));
        }
    }
}

impl ExtensionHost {
    /// Starts the interpreter of a file in a folder. `told` receives the output of the functions, line by
    /// line, with secrets removed.
    ///
    /// # Errors
    /// When there is no consent, or the interpreter can't be started. Errors in the file are reported by the
    /// first call.
    pub fn start(
        program: &CodeProgram,
        folder: &Path,
        setup: &Arc<ProgramSetup>,
        told: impl Fn(String) + Send + 'static,
    ) -> Result<Self, String> {
        let language = program.language;
        let path = program.path.as_deref().unwrap_or(Path::new("")).as_os_str();
        let words: &[&str] = match language {
            CodeLanguage::Python => &["python3", "-c", &PYTHON_HOST],
            CodeLanguage::JavaScript => &["node", "--input-type=module", "-e", NODE_HOST],
            CodeLanguage::TypeScript => {
                &["node", "--experimental-strip-types", "--input-type=module", "-e", NODE_HOST]
            }
            CodeLanguage::Ruby => return Err("extensions can't be written in Ruby".to_owned()),
        };
        let words = words.iter().map(AsRef::as_ref).chain([path]);
        let env = setup.env.build_environment(&[], None, None);
        let mut command = ProcessCommand::argv(words, env)
            .with_limits(ProcessLimits { stdout_cap: MAX_ANSWER_BYTES, ..ProcessLimits::default() });
        command.cwd = Some(folder).filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_path_buf);

        let (errors, printed) = mpsc::unbounded_channel();
        let (process, reader) = LineProcess::start(&command, setup.consent, errors)
            .map_err(|error| setup.redact(&format!("{} can't be started: {error}", language.name())))?;

        let calls = Arc::<Mutex<OpenCalls>>::default();
        let (lines, to_write) = mpsc::unbounded_channel();
        let writer = tokio::spawn(write_calls(process, to_write));
        tokio::spawn(read_answers(reader, language, Arc::clone(&calls)));
        let printer = tokio::spawn(pass_on(printed, Arc::clone(setup), Arc::clone(&calls), told));

        Ok(Self {
            language,
            setup: Arc::clone(setup),
            slots: Semaphore::new(if language == CodeLanguage::Python { 1 } else { Semaphore::MAX_PERMITS }),
            next_id: AtomicU64::new(1),
            calls,
            lines: Mutex::new(Some(lines)),
            writer: Mutex::new(Some(writer)),
            printer: Mutex::new(Some(printer)),
        })
    }

    /// Loads the file and checks that it has a function.
    ///
    /// # Errors
    /// When the file can't be loaded in time, or has no such function.
    pub async fn find(&self, function: Option<&str>, limit: Duration) -> Result<(), String> {
        self.ask(function, &Value::Null, None, limit).await.map(drop)
    }

    /// Calls a function. The value is null if the function returns no value.
    ///
    /// # Errors
    /// When the function fails, takes too long, or the interpreter has ended.
    pub async fn call(&self, call: ExtensionCall<'_>) -> Result<Value, String> {
        self.ask(call.function, &json!(call.arguments), call.context, call.limit).await
    }

    async fn ask(
        &self,
        function: Option<&str>,
        arguments: &Value,
        context: Option<usize>,
        limit: Duration,
    ) -> Result<Value, String> {
        let _slot = self.slots.acquire().await.map_err(|error| error.to_string())?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let function = match (function, self.language) {
            (None, CodeLanguage::Python) => Some(USUAL_FUNCTION),
            (function, _) => function,
        };
        let call = json!({"id": id, "function": function, "arguments": arguments, "context": context});

        let (answer, answered) = oneshot::channel();
        {
            let mut calls = self.calls.lock();
            if let Some(reason) = &calls.ended {
                return Err(reason.clone());
            }
            calls.waiting.insert(id, answer);
        }
        if let Some(lines) = &*self.lines.lock() {
            // If the writer has ended, the reader fails the call.
            let _ = lines.send(one_line(&call));
        }

        match tokio::time::timeout(limit, answered).await {
            Ok(Ok(result)) => result.map_err(|error| self.setup.redact(&error)),
            Ok(Err(_)) => Err("the interpreter has ended".to_owned()),
            Err(_) => {
                let reason = format!("it took longer than {} s, and was stopped", limit.as_secs());
                self.calls.lock().end(reason.clone());
                if let Some(writer) = self.writer.lock().take() {
                    // The process group ends with the task that owns it.
                    writer.abort();
                }
                Err(reason)
            }
        }
    }

    /// Ends the interpreter and all processes that its functions started.
    pub async fn end(&self) {
        self.calls.lock().end("the run has ended".to_owned());
        drop(self.lines.lock().take());
        let writer = self.writer.lock().take();
        if let Some(writer) = writer {
            let _ = writer.await;
        }
        let printer = self.printer.lock().take();
        if let Some(printer) = printer {
            let _ = tokio::time::timeout(LAST_LINES, printer).await;
        }
    }
}

/// A value as JSON in one line. Also escapes line separators, which Node.js treats as the end of a line.
fn one_line(value: &Value) -> String {
    value.to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Writes calls until there are no more, then ends the interpreter.
async fn write_calls(mut process: LineProcess, mut calls: mpsc::UnboundedReceiver<String>) {
    while let Some(call) = calls.recv().await {
        // A program that reads no more has ended, which the reader of its output notices.
        let _ = process.send(&call).await;
    }
    process.end().await;
}

async fn read_answers(mut reader: LineReader, language: CodeLanguage, calls: Arc<Mutex<OpenCalls>>) {
    let reason = loop {
        let line = match reader.next().await {
            Ok(Some(line)) => line,
            Ok(None) => break "it ended before it answered".to_owned(),
            Err(error) => break format!("its answer can't be read: {error}"),
        };
        if !calls.lock().take_answer(&line) {
            break "its answer can't be read".to_owned();
        }
    };

    tokio::time::sleep(LAST_LINES).await;
    let mut calls = calls.lock();
    if calls.last_lines.iter().any(|line| line.contains("bad option: --experimental-strip-types")) {
        calls.end("this `node` can't run TypeScript; install Node.js 22.6 or later".to_owned());
        return;
    }
    let printed: Vec<&str> = calls.last_lines.iter().map(String::as_str).collect();
    let printed = if printed.is_empty() { String::new() } else { format!("\n{}", printed.join("\n")) };
    let reason = format!("the {} code can't be run: {reason}{printed}", language.name());
    calls.end(reason);
}

/// Forwards the output of the functions, with secrets removed.
async fn pass_on(
    mut printed: mpsc::UnboundedReceiver<String>,
    setup: Arc<ProgramSetup>,
    calls: Arc<Mutex<OpenCalls>>,
    told: impl Fn(String),
) {
    while let Some(line) = printed.recv().await {
        let line = setup.redact(&line);
        {
            let last = &mut calls.lock().last_lines;
            last.push_back(line.clone());
            if last.len() > SHOWN_LINES {
                last.pop_front();
            }
        }
        told(line);
    }
}

#[cfg(test)]
mod tests {
    use assize_process::{Environment, ProgramConsent};
    use proptest::prelude::*;

    use super::*;
    use crate::ProgramEnvironment;

    fn host(name: &str, text: &str, language: CodeLanguage) -> (tempfile::TempDir, ExtensionHost) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        let all = Environment::from_vars([("PATH", "/usr/local/bin:/usr/bin:/bin")]);
        let env = ProgramEnvironment::new(all, Vec::new());
        let setup = Arc::new(ProgramSetup {
            env,
            consent: Some(ProgramConsent::of_user()),
            ..ProgramSetup::default()
        });
        let program = CodeProgram { language, path: Some(path), text: text.into(), function: None };
        let host = ExtensionHost::start(&program, folder.path(), &setup, |_| {}).expect("python3");
        (folder, host)
    }

    async fn call(host: &ExtensionHost, function: &str, limit: Duration) -> Result<Value, String> {
        let arguments = [&json!({"a": 1}), &json!({})];
        host.call(ExtensionCall { function: Some(function), arguments, context: Some(0), limit }).await
    }

    #[tokio::test]
    async fn variables_stay_between_calls_and_errors_are_those_of_a_call() {
        let text = "count = 0\ndef f(context, more):\n    global count\n    count += 1\n    print('noise')\n    context['n'] = count\n    return context\n\
                    def bad(context, more):\n    raise ValueError('no')\n";
        let (_folder, host) = host("a.py", text, CodeLanguage::Python);
        let long = Duration::from_mins(1);
        assert_eq!(call(&host, "f", long).await, Ok(json!({"a": 1, "n": 1})));
        assert_eq!(call(&host, "bad", long).await, Err("ValueError: no".to_owned()));
        assert!(call(&host, "none", long).await.expect_err("missing").contains("no function 'none'"));
        assert!(host.find(Some("none"), long).await.is_err());
        assert_eq!(host.find(Some("bad"), long).await, Ok(()));
        assert_eq!(call(&host, "f", long).await, Ok(json!({"a": 1, "n": 2})));
        host.end().await;
        assert!(call(&host, "f", long).await.is_err());
    }

    #[test]
    fn no_character_of_a_value_ends_its_line() {
        let value = json!({"a": "1\n2\r3\u{2028}4\u{2029}5\u{85}6"});
        let line = one_line(&value);
        assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{2029}']), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).expect("JSON"), value);
    }

    /// A line of an interpreter: usually an answer, to a waiting call or to another one.
    fn line() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            Just(json!({"a": [1, "\u{2028}"]})),
            Just(json!("x")),
        ];
        let answer = (0..6u64, value.clone(), any::<bool>()).prop_map(|(id, value, threw)| {
            json!({"id": id, if threw { "threw" } else { "value" }: value}).to_string()
        });
        let odd = value.prop_map(|id| json!({"id": id, "value": 1}).to_string());
        prop_oneof![8 => answer, 2 => odd, 1 => any::<String>(), 1 => Just("[1]".to_owned()), 1 => Just(String::new())]
    }

    proptest! {
        #[test]
        fn every_call_gets_one_answer_whatever_an_interpreter_writes(lines in proptest::collection::vec(line(), 0..12)) {
            let mut calls = OpenCalls::default();
            let mut answered: Vec<_> = (0..4u64)
                .map(|id| {
                    let (answer, answered) = oneshot::channel();
                    calls.waiting.insert(id, answer);
                    answered
                })
                .collect();
            let taken = lines.iter().take_while(|line| calls.take_answer(line)).count();
            calls.end("it ended".to_owned());

            let answers: Vec<Value> =
                lines[..taken].iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            for (id, answered) in answered.iter_mut().enumerate() {
                let own = answers.iter().find(|answer| answer["id"].as_u64() == Some(id as u64));
                let expected = own.map_or_else(
                    || Err("it ended".to_owned()),
                    |answer| match answer["threw"].as_str() {
                        Some(threw) => Err(threw.to_owned()),
                        None => Ok(answer["value"].clone()),
                    },
                );
                prop_assert_eq!(answered.try_recv().expect("one answer"), expected);
            }
            prop_assert!(calls.waiting.is_empty());
        }
    }

    #[tokio::test]
    async fn an_interpreter_that_is_killed_while_what_it_started_lives_on_fails_its_calls() {
        let text = "import os, subprocess\ndef die(context, more):\n    subprocess.Popen(['sleep', '300'], stdout=None)\n    os.kill(os.getpid(), 9)\n";
        let (_folder, host) = host("a.py", text, CodeLanguage::Python);
        let begun = std::time::Instant::now();
        let error = call(&host, "die", Duration::from_mins(5)).await.expect_err("killed");
        assert!(error.contains("ended before it answered"), "{error}");
        host.end().await;
        assert!(begun.elapsed() < Duration::from_mins(1), "nobody waited for the program it had started");
    }

    #[tokio::test]
    async fn an_interpreter_that_ends_or_hangs_fails_its_calls() {
        let text = "import os, sys, time\ndef leave(context, more):\n    print('why', file=sys.stderr)\n    os._exit(3)\ndef hang(context, more):\n    time.sleep(60)\n";
        let (_folder, left) = host("a.py", text, CodeLanguage::Python);
        let error = call(&left, "leave", Duration::from_mins(1)).await.expect_err("left");
        assert!(error.contains("ended before it answered") && error.contains("why"), "{error}");

        let (_folder, hung) = host("b.py", text, CodeLanguage::Python);
        let error = call(&hung, "hang", Duration::from_secs(1)).await.expect_err("hung");
        assert!(error.contains("took longer than 1 s"), "{error}");
        assert_eq!(call(&hung, "leave", Duration::from_mins(1)).await, Err(error));
        hung.end().await;
    }
}
