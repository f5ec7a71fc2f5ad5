//! Converts a matrix file to the `tests` format, as the input of conversions.

use std::path::Path;

use assize_diagnostic::{DiagnosticCode, Severity, SourceId};
use assize_document::codes;
use assize_evalfile::reading::{DecodeContext, load_context, read_source, read_tree};
use assize_evalfile::{LoadOptions, LoadedSuite, LoweredLoss, LoweredSuite};

use super::read::load_matrix;

/// Loads an eval file of prompts, providers and tests. Returns it together with its expansion in the `tests` format.
/// Parts that can't be read are skipped and listed, so that they don't prevent the conversion of the rest.
pub fn lower_matrix(path: &Path, options: &LoadOptions) -> (LoadedSuite, LoweredSuite) {
    let mut cx = load_context(path, options);
    let source = read_source(&mut cx, path, None);
    lower_source(cx, path, source)
}

/// Like [`lower_matrix`], for the text of a file. The path determines whether it is YAML or JSON.
pub fn lower_matrix_text(path: &Path, text: &str, options: &LoadOptions) -> (LoadedSuite, LoweredSuite) {
    let mut cx = load_context(path, options);
    let source = Some(cx.sources.add(path, text));
    lower_source(cx, path, source)
}

fn lower_source(mut cx: DecodeContext, path: &Path, source: Option<SourceId>) -> (LoadedSuite, LoweredSuite) {
    cx.lowered = Some(Box::new(LoweredSuite::new(path)));
    let loaded = source
        .and_then(|source| read_tree(&mut cx, source))
        .and_then(|root| load_matrix(&mut cx, path, &root));
    let lowered = cx.lowered.take().map(|lowered| *lowered).unwrap_or_default();
    let lowered = finish_losses(&cx, lowered);

    (LoadedSuite::new(cx, loaded), lowered)
}

/// Warnings about settings that a conversion loses, because they work otherwise in promptfoo.
pub const LOSS_WARNINGS: [DiagnosticCode; 3] =
    [codes::CODE_NOT_RUN, codes::NO_EFFECT, codes::READ_DIFFERENTLY];

/// Adds the parts that diagnostics report as unreadable to the losses, because an error does not stop a conversion.
fn finish_losses(cx: &DecodeContext, mut lowered: LoweredSuite) -> LoweredSuite {
    let mut losses = Vec::new();
    for found in cx.problems.iter() {
        let is_error = found.severity == Severity::Error;
        if !is_error && !LOSS_WARNINGS.contains(&found.code) {
            continue;
        }
        let what = match found.help.first().filter(|help| is_error && !help.starts_with("known keys")) {
            Some(help) => format!("{}; {help}", found.primary.text),
            None => found.primary.text.clone(),
        };
        losses.push(LoweredLoss {
            place: cx.position(found.primary.span),
            item: found.title.clone(),
            what,
            cases: lowered.cases_without(found.primary.span),
        });
    }
    losses.append(&mut lowered.losses);

    lowered.losses = losses;
    lowered
}
