//! Runs authors' functions in languages with an external interpreter: a small host program calls the function
//! and prints its result.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use assize_model::{CodeLanguage, CodeProgram};
use assize_process::{ProcessCommand, ProcessLimits, ProcessOutput};
use assize_script::ScriptValue;
use serde_json::{Map, Value, json};

use super::{MAX_OUTPUT_BYTES, ProgramSetup, describe_stderr, python_host};

/// The host programs. They load the function, call it, and keep its output separate from its result.
static PYTHON_HOST: LazyLock<String> = LazyLock::new(|| python_host(include_str!("../../hosts/python.py")));
const RUBY_HOST: &str = include_str!("../../hosts/ruby.rb");
const NODE_HOST: &str = include_str!("../../hosts/node.mjs");
/// Time limit of a call.
const CODE_TIME: Duration = Duration::from_mins(1);

/// Purpose of a call. It determines the default name of the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodePurpose {
    /// Decides on an answer.
    Check,
    /// Changes an answer.
    Transform,
    /// Combines several scores into one.
    Score,
}

impl CodePurpose {
    const fn usual_function(self) -> &'static str {
        match self {
            Self::Check => "get_assert",
            Self::Transform => "get_transform",
            Self::Score => "func",
        }
    }
}

/// Outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Called {
    /// The function returned this.
    Returned(ScriptValue),
    /// The function threw an error about its arguments.
    Threw(String),
}

/// Calls a function with these arguments in a working folder.
///
/// # Errors
/// When there is no consent, the interpreter can't be run, the code can't be loaded, or its return value is not
/// JSON.
pub(crate) async fn call_program(
    program: &CodeProgram,
    purpose: CodePurpose,
    arguments: Value,
    folder: Option<&Path>,
    setup: &ProgramSetup,
) -> Result<Called, String> {
    let _slot = setup.slot().await;
    let calls = [arguments];
    let request = HostRequest {
        program,
        usual: purpose.usual_function(),
        calls: &calls,
        takes_value: false,
        timeout: CODE_TIME,
        output_cap: MAX_OUTPUT_BYTES,
    };
    let mut replies = request.run(folder, setup).await?.into_iter();

    match replies.next().unwrap_or_else(|| Err("the host returned no result".to_owned()))? {
        HostReply::Threw(message) => Ok(Called::Threw(message)),
        HostReply::Value(value) => Ok(Called::Returned(match program.language {
            CodeLanguage::Python | CodeLanguage::Ruby => python_value(value),
            CodeLanguage::JavaScript | CodeLanguage::TypeScript => script_value(value),
        })),
    }
}

/// Result of one call of a host.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum HostReply {
    /// The function returned this.
    Value(Value),
    /// The function threw an error about its arguments.
    Threw(String),
}

/// Calls of a function in one process.
pub(super) struct HostRequest<'a> {
    pub(super) program: &'a CodeProgram,
    /// Default name of the function.
    pub(super) usual: &'a str,
    /// List of arguments of each call.
    pub(super) calls: &'a [Value],
    /// True if a JavaScript file may export the value instead of a function.
    pub(super) takes_value: bool,
    pub(super) timeout: Duration,
    /// Most bytes that may be returned.
    pub(super) output_cap: usize,
}

impl HostRequest<'_> {
    /// Runs the calls in a working folder. Returns a result for each call, or an error if the code of that call
    /// can't be run.
    ///
    /// # Errors
    /// When the interpreter can't be run or returns no results, or the code can't be loaded.
    pub(super) async fn run(
        &self,
        folder: Option<&Path>,
        setup: &ProgramSetup,
    ) -> Result<Vec<Result<HostReply, String>>, String> {
        let language = self.program.language.name();
        let finished = self.run_host(folder, setup).await?;
        let stdout = setup.redact(&String::from_utf8_lossy(&finished.stdout.bytes));
        let reply =
            serde_json::from_str::<Map<String, Value>>(&stdout).ok().filter(|_| finished.exit.is_success());
        let Some(mut reply) = reply else {
            if finished.stdout.is_truncated() {
                let limit = self.output_cap / 1024 / 1024;
                return Err(format!("the {language} code returned more than {limit} MiB"));
            }
            let stderr = setup.redact(&describe_stderr(&finished.stderr));
            return Err(format!("the {language} code returned no result ({}){stderr}", finished.exit));
        };

        let broken = |reason: &str| format!("the {language} code can't be run: {reason}");
        if let Some(reason) = reply.get("broken").and_then(Value::as_str) {
            return Err(broken(reason));
        }
        let Some(Value::Array(results)) = reply.remove("results") else {
            return Err(format!("the {language} code returned no result"));
        };

        Ok(results
            .into_iter()
            .map(|mut result| {
                if let Some(reason) = result.get("broken").and_then(Value::as_str) {
                    return Err(broken(reason));
                }
                if let Some(threw) = result.get("threw").and_then(Value::as_str) {
                    return Ok(HostReply::Threw(threw.to_owned()));
                }
                Ok(HostReply::Value(result.get_mut("value").map(Value::take).unwrap_or_default()))
            })
            .collect())
    }

    async fn run_host(&self, folder: Option<&Path>, setup: &ProgramSetup) -> Result<ProcessOutput, String> {
        let program = self.program;
        let function = match (&program.function, program.language) {
            (Some(function), _) => Some(function.as_str()),
            (None, CodeLanguage::Python | CodeLanguage::Ruby) => Some(self.usual),
            (None, CodeLanguage::JavaScript | CodeLanguage::TypeScript) => None,
        };
        let given = json!({
            "file": program.path,
            "code": program.text,
            "function": function,
            "usual": self.usual,
            "calls": self.calls,
            "takes_value": self.takes_value,
        });

        let words: Vec<&str> = match program.language {
            CodeLanguage::Python => vec!["python3", "-c", &PYTHON_HOST],
            CodeLanguage::Ruby => vec!["ruby", "-e", RUBY_HOST],
            CodeLanguage::JavaScript => vec!["node", "--input-type=module", "-e", NODE_HOST],
            CodeLanguage::TypeScript => {
                vec!["node", "--experimental-strip-types", "--input-type=module", "-e", NODE_HOST]
            }
        };
        let env = setup.env.build_environment(&[], None, None);
        let mut command = ProcessCommand::argv(words.iter().copied(), env);
        command.cwd = folder.filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_path_buf);
        let limits = ProcessLimits::new(self.timeout, self.output_cap);

        let command = command.with_stdin(given.to_string()).with_limits(limits);
        command.run(setup.consent).await.map_err(|error| {
            setup.redact(&format!("the {} code returned no result: {error}", program.language.name()))
        })
    }
}

fn script_value(value: Value) -> ScriptValue {
    match value {
        Value::Null => ScriptValue::Undefined,
        Value::Number(number) => ScriptValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        other => ScriptValue::Json(other),
    }
}

/// Reads the return value of a Python or Ruby function: texts may contain JSON, and keys have underscores.
fn python_value(value: Value) -> ScriptValue {
    let value = match value {
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => match serde_json::from_str::<Value>(&text) {
                Ok(inner) if inner.is_number() || inner.is_object() => inner,
                _ => Value::String(text),
            },
        },
        other => other,
    };

    script_value(match value {
        Value::Object(map) => Value::Object(in_camel_case(map)),
        other => other,
    })
}

fn in_camel_case(map: Map<String, Value>) -> Map<String, Value> {
    const KEYS: [(&str, &str); 3] =
        [("pass_", "pass"), ("component_results", "componentResults"), ("named_scores", "namedScores")];

    map.into_iter()
        .map(|(key, value)| {
            let own = KEYS.iter().find(|(python, _)| *python == key).map(|(_, own)| (*own).to_owned());
            let value = match value {
                Value::Array(parts) => parts
                    .into_iter()
                    .map(|part| match part {
                        Value::Object(part) => Value::Object(in_camel_case(part)),
                        other => other,
                    })
                    .collect(),
                other => other,
            };
            (own.unwrap_or(key), value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use assize_process::{Environment, ProgramConsent};

    use super::*;
    use crate::ProgramEnvironment;

    const CONSENT: Option<ProgramConsent> = Some(ProgramConsent::of_user());

    fn setup(consent: Option<ProgramConsent>) -> ProgramSetup {
        let all = Environment::from_vars([("PATH", "/usr/local/bin:/usr/bin:/bin")]);
        let env = ProgramEnvironment::new(all, Vec::new());
        ProgramSetup { env, consent, ..ProgramSetup::default() }
    }

    fn python(text: &str) -> CodeProgram {
        CodeProgram { language: CodeLanguage::Python, path: None, text: text.into(), function: None }
    }

    async fn called(text: &str, output: &str) -> Result<Called, String> {
        let arguments = json!([output, {"vars": {"name": "Ann"}}]);
        call_program(&python(text), CodePurpose::Check, arguments, None, &setup(CONSENT)).await
    }

    #[tokio::test]
    async fn code_is_not_run_unless_it_is_allowed() {
        let error =
            call_program(&python("True"), CodePurpose::Check, json!(["", {}]), None, &setup(None)).await;
        assert!(error.unwrap_err().contains("--allow-code"));
    }

    #[tokio::test]
    async fn expressions_and_bodies_return_values() {
        assert_eq!(
            called("len(output) > 3", "four").await,
            Ok(Called::Returned(ScriptValue::Json(true.into())))
        );
        let body = "print('noise')\nif 'Ann' in context['vars']['name']:\n    return {'pass_': True, 'score': 0.5}\nreturn False";
        let value = json!({"pass": true, "score": 0.5});
        assert_eq!(called(body, "").await, Ok(Called::Returned(ScriptValue::Json(value))));
        assert_eq!(called("'0.25'", "").await, Ok(Called::Returned(ScriptValue::Number(0.25))));
    }

    #[tokio::test]
    async fn errors_about_the_answer_are_told_from_those_of_the_code() {
        let threw = called("json.loads(output)['a']", "no json").await;
        assert!(
            matches!(&threw, Ok(Called::Threw(message)) if message.contains("JSONDecodeError")),
            "{threw:?}"
        );
        for code in ["missing_name > 3", "output +", "float('nan')", "open"] {
            let error = called(code, "x").await.unwrap_err();
            assert!(error.contains("can't be run"), "{code}: {error}");
        }
        let error = called("__import__('os')._exit(3)", "x").await.unwrap_err();
        assert!(error.contains("returned no result"), "{error}");
    }

    #[tokio::test]
    async fn ruby_returns_values_and_says_what_is_wrong() {
        let env = setup(CONSENT).env.build_environment(&[], None, None);
        if ProcessCommand::argv(["ruby", "--version"], env).run(CONSENT).await.is_err() {
            // Not through the test harness, which captures output.
            let line = b"\nSKIPPED 1 test of Ruby code: there is no ruby\n";
            std::io::Write::write_all(&mut std::io::stdout(), line).expect("stdout takes a line");
            return;
        }

        let call = async |text: &str| {
            let program = CodeProgram { language: CodeLanguage::Ruby, ..python(text) };
            let arguments = json!(["four", {"vars": {"name": "Ann"}}]);
            call_program(&program, CodePurpose::Check, arguments, None, &setup(CONSENT)).await
        };
        assert_eq!(call("output.length > 3").await, Ok(Called::Returned(ScriptValue::Json(true.into()))));
        let body = "puts 'noise'\nreturn {pass: true, score: 0.5} if context['vars']['name'] == 'Ann'\nfalse";
        let value = json!({"pass": true, "score": 0.5});
        assert_eq!(call(body).await, Ok(Called::Returned(ScriptValue::Json(value))));
        let threw = call("JSON.parse(output)").await;
        assert!(matches!(&threw, Ok(Called::Threw(message)) if message.contains("JSON")), "{threw:?}");
        for code in ["missing_name > 3", "output +"] {
            let error = call(code).await.unwrap_err();
            assert!(error.contains("can't be run"), "{code}: {error}");
        }
    }

    #[tokio::test]
    async fn a_file_says_which_function_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checks.py");
        std::fs::write(folder.path().join("helper.py"), "WANTED = 'tea'\n").unwrap();
        std::fs::write(
            &path,
            "from helper import WANTED\n\ndef get_assert(output, context):\n    return WANTED in output\n\ndef length(output, context):\n    return len(output)\n",
        )
        .unwrap();
        let call = async |function: Option<&str>| {
            let program =
                CodeProgram { path: Some(path.clone()), function: function.map(str::to_owned), ..python("") };
            let arguments = json!(["green tea", {}]);
            call_program(&program, CodePurpose::Check, arguments, Some(folder.path()), &setup(CONSENT)).await
        };

        assert_eq!(call(None).await, Ok(Called::Returned(ScriptValue::Json(true.into()))));
        assert_eq!(call(Some("length")).await, Ok(Called::Returned(ScriptValue::Number(9.0))));
        assert!(call(Some("none")).await.unwrap_err().contains("has no function 'none'"));
    }
}
