//! Finds and reads the prompt files of a scorecard.

use std::fs;
use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, Span, SpannedValue, did_you_mean};
use assize_document::codes;
use assize_evalfile::reading::{DecodeContext, read_source};

use super::draft::{PromptDraft, ScorecardDraft};
use super::prompt::ParsedPrompt;
use super::prompt_checks;

/// Reads and checks a prompt file. Returns its index in the draft; `None` after adding a diagnostic.
pub(super) fn load_prompt(
    cx: &mut DecodeContext,
    root: &Path,
    path: &Path,
    draft: &mut ScorecardDraft,
) -> Option<usize> {
    let real = fs::canonicalize(path).ok()?;
    if let Some(known) = draft.prompts.iter().position(|prompt| prompt.real == real) {
        return Some(known);
    }

    let source = read_source(cx, path, None)?;
    let text = ParsedPrompt::parse(cx.sources.file(source).text());
    prompt_checks::check_prompt(cx, source, &text);

    let relative = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let span = Span::new(source, 0, 0);
    draft.prompts.push(PromptDraft { real, path: relative, text, span, used: false });

    Some(draft.prompts.len() - 1)
}

/// Adds a prompt whose text is given under a name, instead of a file.
pub(super) fn take_prompt(cx: &mut DecodeContext, name: &str, text: &str, draft: &mut ScorecardDraft) {
    let source = cx.sources.add(Path::new(name), text);
    let text = ParsedPrompt::parse(cx.sources.file(source).text());
    prompt_checks::check_prompt(cx, source, &text);

    let span = Span::new(source, 0, 0);
    draft.prompts.push(PromptDraft {
        real: PathBuf::from(name),
        path: name.to_owned(),
        text,
        span,
        used: false,
    });
}

/// Finds the prompt file that a benchmark names. The path is relative to the scorecard's folder, else to the
/// folder of the file that names it. Returns `None` after adding a diagnostic.
pub(super) fn find_prompt(
    cx: &mut DecodeContext,
    root: &Path,
    written: &SpannedValue<String>,
    draft: &mut ScorecardDraft,
) -> Option<usize> {
    if let Some(known) = draft.prompts.iter().position(|prompt| prompt.path == written.value) {
        return Some(known);
    }

    let home = cx.folder_of(written.span.source);
    let relative = Path::new(written.value.trim_start_matches("file://"));
    // If no files may be read, don't look at the disk at all.
    let folders = [root, &home].into_iter().filter(|_| cx.reach.reads_files());
    let found: Option<PathBuf> = folders.map(|folder| folder.join(relative)).find(|path| path.is_file());
    let Some(path) = found else {
        let known = draft.prompts.iter().map(|prompt| prompt.path.as_str());
        let name = file_name(&written.value);
        let near = known
            .clone()
            .find(|path| file_name(path) == name)
            .or_else(|| did_you_mean(&written.value, known));
        let mut diagnostic = Diagnostic::error(codes::PROMPT_NOT_FOUND, "the prompt file does not exist")
            .at(written.span, format!("no `{}` in `{}`", written.value, root.display()));
        if let Some(near) = near {
            diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
        }

        return cx.problems.reject(diagnostic.with_help("the path starts at the scorecard's folder"));
    };

    if !cx.reach.roots.contain(&path) {
        return Diagnostic::error(codes::OUTSIDE_ROOT, "this file is outside the allowed folders")
            .at(written.span, "outside the scorecard")
            .with_help("move the file into the scorecard's folder, or allow another folder with `--root DIR`")
            .reject_in(&mut cx.problems);
    }

    load_prompt(cx, root, &path, draft)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
