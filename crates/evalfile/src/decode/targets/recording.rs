//! Decoder of recordings and mocks.

use std::time::Duration;

use assize_diagnostic::{Diagnostic, did_you_mean};
use assize_document::codes;
use assize_model::{MockTargetSpec, RecordingKind, RecordingSpec, SESSION_FORMATS};

use super::entry::TargetEntryReader;
use super::value::folder;

/// Maximum delay of a mock, in milliseconds.
const MAX_DELAY: i64 = 3_600_000;

/// Decodes the settings of a recording. `format` is the format of its sessions if the provider determines it.
pub(super) fn decode_recording(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    is_replay: bool,
    format: Option<&'static str>,
) -> Option<RecordingSpec> {
    const PATH: [&str; 5] = ["path", "fixtures", "file", "transcript", "session_dir"];

    let found = entry.object.first_of(&PATH, entry.problems);
    let path = match found {
        Some(found) if !found.value.is_null() => {
            let text = assize_document::string(&found.value, &found.key, entry.problems);
            text.and_then(|text| assize_document::check_not_blank(text, &found.key, entry.problems))
        }
        _ => {
            entry.demand(&PATH, "a recording needs `path`", "path: sessions/");
            None
        }
    };

    let path = path.map(|path| folder(entry.folder, path.value.trim()));
    let kind = if is_replay {
        let source = entry.object.first_of(&["source", "source_target"], entry.problems);
        let source = source
            .filter(|found| !found.value.is_null())
            .and_then(|found| assize_document::string(&found.value, &found.key, entry.problems));
        RecordingKind::Answers { source: source.map(|source| source.value) }
    } else {
        RecordingKind::Sessions { format: decode_session_format(entry).or(format) }
    };
    Some(RecordingSpec { kind, path: path? })
}

/// Decodes the log format of sessions; `None` to detect it from the log.
pub(super) fn decode_session_format(entry: &mut TargetEntryReader<'_, '_, '_>) -> Option<&'static str> {
    let found = entry.object.first_of(&["format", "log_format"], entry.problems)?;
    resolve_session_format(found.value.as_str().unwrap_or_default(), found, entry)
}

/// Returns the canonical name of a log format.
pub(super) fn resolve_session_format(
    text: &str,
    found: &assize_document::MapEntry,
    entry: &mut TargetEntryReader<'_, '_, '_>,
) -> Option<&'static str> {
    let name = text.trim().to_lowercase().replace('_', "-");
    if name == "auto" || found.value.is_null() {
        return None;
    }

    let known = SESSION_FORMATS.iter().copied().find(|known| *known == name);
    if known.is_none() {
        let diagnostic =
            Diagnostic::error(codes::UNKNOWN_CHOICE, format!("unknown log format `{}`", found.key))
                .at(found.value.use_span(), "not known");

        let near = did_you_mean(&name, SESSION_FORMATS);
        entry.problems.add(match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
            None => diagnostic.with_help(format!("there are {}", SESSION_FORMATS.join(", "))),
        });
    }

    known
}

/// Decodes the settings of a mock.
pub(super) fn decode_mock(entry: &mut TargetEntryReader<'_, '_, '_>) -> MockTargetSpec {
    let response = entry.object.value("response").map(assize_document::TreeNode::to_json);
    let fail = entry.object.text("fail", entry.problems).map(|fail| fail.value);
    let mut delay = |key| {
        let value = entry.object.integer(key, 0, MAX_DELAY, entry.problems)?;
        Some(Duration::from_millis(value.value as u64))
    };
    let (fixed, shortest, longest) = (delay("delay_ms"), delay("delay_min_ms"), delay("delay_max_ms"));
    let shortest = fixed.or(shortest).unwrap_or_default();
    let longest = fixed.or(longest).unwrap_or(shortest);
    if longest < shortest {
        let place = entry.object.head();
        Diagnostic::error(codes::OUT_OF_RANGE, "`delay_max_ms` is less than `delay_min_ms`")
            .at(place, "in this target")
            .with_help("swap the two")
            .add_to(entry.problems);
    }

    if response.is_none() && fail.is_none() {
        entry.demand(&["response", "fail"], "a mock needs `response`", "response: the answer to everything");
    }

    MockTargetSpec { response, shortest, longest: longest.max(shortest), fail }
}
