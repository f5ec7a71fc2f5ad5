//! Decoder of `healthcheck`: a check that a target is available.

use std::path::PathBuf;

use assize_diagnostic::Diagnostic;
use assize_document::{DiagnosticCollector, MapReader, TreeNode, codes};
use assize_model::HealthSpec;

use super::model::is_address;
use super::value::{command_text, seconds};

/// Decodes a health check. Returns `None` after adding a diagnostic.
pub(super) fn decode_health_check(node: &TreeNode, problems: &mut DiagnosticCollector) -> Option<HealthSpec> {
    let mut object = MapReader::new(node, "a health check", problems)?;
    let kind = object.string("type", problems);
    if let Some(kind) = kind.filter(|kind| !matches!(kind.value.as_str(), "http" | "command")) {
        Diagnostic::error(codes::UNKNOWN_CHOICE, "unknown type of health check")
            .at(kind.span, "not known")
            .with_help("use `http` or `command`")
            .add_to(problems);
    }

    let url = object.text("url", problems);
    let command = object.first_of(&["command", "command_template"], problems);
    let command = command.map(|found| command_text(&found.value, "command", problems));
    let cwd = object.text("cwd", problems).map(|cwd| PathBuf::from(cwd.value));
    let timeout = seconds(&mut object, problems);
    let head = object.head();
    let was_given = object.has("url");

    object.finish(problems);

    if let Some(url) = url {
        if !is_address(&url.value) {
            return Diagnostic::error(codes::BAD_ADDRESS, "this is not the address of a server")
                .at(url.span, "not an address")
                .with_help("write it like `http://localhost:8000/health`")
                .reject_in(problems);
        }
        return Some(HealthSpec::Http { url: url.value.trim().to_owned(), timeout });
    }

    if let Some(command) = command {
        return Some(HealthSpec::Command { command: command?, cwd, timeout });
    }

    if !was_given {
        Diagnostic::error(codes::MISSING_SETTING, "a health check needs `url` or `command`")
            .at(head, "no `url` or `command`")
            .with_help("write `url: http://localhost:8000/health` or `command: ./check.sh`")
            .add_to(problems);
    }

    None
}
