//! Programs that convert files in answers to text.

use std::path::Path;
use std::time::Duration;

use assize_model::{FilePreprocessor, GraderCommand};
use assize_process::{ProcessCommand, ProcessLimits};
use serde_json::json;

use super::{MAX_OUTPUT_BYTES, ProgramSetup, describe_stderr};

/// Time limit of a conversion.
const CONVERSION_TIME: Duration = Duration::from_mins(1);

/// A file in an answer.
#[derive(Debug, Clone, Copy)]
pub struct AnswerFile<'a> {
    /// Path as the target wrote it.
    pub written: &'a str,
    /// Path on this machine.
    pub path: &'a Path,
    /// Media type as the target wrote it.
    pub media_type: &'a str,
}

/// Returns the text that a preprocessor prints for a file.
///
/// # Errors
/// When the program can't be run, fails, or prints output that is not text.
pub async fn convert_file(
    file: AnswerFile<'_>,
    preprocessor: &FilePreprocessor,
    setup: &ProgramSetup,
) -> Result<String, String> {
    let _slot = setup.slot().await;
    let env = setup.env.build_environment(&[], None, None);
    let mut command = match &preprocessor.command {
        GraderCommand::Argv(words) => ProcessCommand::argv(words.iter().map(String::as_str), env),
        GraderCommand::Shell(line) => ProcessCommand::shell(line.clone(), env),
    };
    let folder = preprocessor.place.path().parent().filter(|folder| !folder.as_os_str().is_empty());
    command.cwd = folder.map(Path::to_path_buf);

    let given = json!({ "path": file.path, "original_path": file.written, "media_type": file.media_type });
    let limits = ProcessLimits::new(CONVERSION_TIME, MAX_OUTPUT_BYTES);
    let command = command.with_stdin(given.to_string()).with_limits(limits);
    let name = format!("preprocessor of `{}` ({})", file.written, preprocessor.place);
    let finished =
        command.run(setup.consent).await.map_err(|error| setup.redact(&format!("{name}: {error}")))?;
    if !finished.exit.is_success() {
        let stderr = describe_stderr(&finished.stderr);
        return Err(setup.redact(&format!("{name} failed ({}){stderr}", finished.exit)));
    }
    if finished.stdout.is_truncated() {
        return Err(format!("{name} printed more than {MAX_OUTPUT_BYTES} bytes"));
    }

    let text = String::from_utf8(finished.stdout.bytes).map_err(|_| format!("{name} printed no UTF-8"))?;
    Ok(text.trim().to_owned())
}
