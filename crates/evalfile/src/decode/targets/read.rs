//! Decodes one entry of a targets file.

use assize_diagnostic::{Diagnostic, Severity};
use assize_document::{DiagnosticCollector, MapReader, TreeNode, codes};
use assize_model::{CommandText, RetrySpec, SettingVariable, TargetSettingError, TargetSpec, TargetSpecKind};

use super::agent::{decode_agent, find_preset};
use super::command::decode_command_target;
use super::custom::find_provider_program;
use super::entry::{TargetEntryReader, TargetsContext};
use super::http::decode_http_target;
use super::mask::record_secrets;
use super::model::decode_model;
use super::provider::{self, ProviderFamily, TargetProviderRow};
use super::recording::{decode_mock, decode_recording};
use super::shared::decode_shared_settings;
use super::use_target::TargetDraft;
use super::variables::{ExpandedMap, expand_variables};

/// Keys whose values may become numbers or booleans when they come from variables.
pub const TYPED: &[&str] = &[
    "workers", "max_retries", "retry_initial_delay_ms", "retry_max_delay_ms", "retry_backoff_factor",
    "retry_status_codes", "temperature", "seed", "max_output_tokens", "context_tokens", "thinking_budget",
    "timeout_seconds", "verbose", "keep_temp_files", "provider_batching", "subagent_mode_allowed",
    "delay_ms", "delay_min_ms", "delay_max_ms", "max_turns", "max_budget_usd", "wait", "dry_run",
];

/// Decodes one entry. Returns `None` after adding a diagnostic if it does not even have a name.
///
/// Errors in it only concern runs that use this target, so the target keeps them.
pub(super) fn entry(node: &TreeNode, loading: &mut TargetsContext<'_>) -> Option<TargetDraft> {
    record_secrets(node, loading);
    let mut found = loading.problems.fork();
    let mut draft = read_entry(node, loading, &mut found);
    loading.problems.hide_as_in(&found);
    let before = loading.problems.error_count();
    for diagnostic in found.into_vec() {
        if let Some(draft) = draft.as_mut().filter(|_| diagnostic.severity == Severity::Error) {
            let place = (loading.place)(diagnostic.primary.span);
            draft.spec.errors.push(TargetSettingError { title: diagnostic.title.clone(), place });
        }
        loading.problems.add(diagnostic);
    }
    loading.entry_errors += loading.problems.error_count() - before;

    draft
}

fn read_entry(
    node: &TreeNode,
    loading: &TargetsContext<'_>,
    problems: &mut DiagnosticCollector,
) -> Option<TargetDraft> {
    let expanded = expand_variables(node, TYPED, loading.environment, problems);
    let mut object = MapReader::new(&expanded.node, "a target", problems)?;
    let name = name(&mut object, &expanded, problems);
    let mut entry = TargetEntryReader {
        spec: TargetSpec {
            name: name.as_ref().map(|name| name.value.clone()).unwrap_or_default(),
            place: (loading.place)(name.as_ref().map_or(object.head(), |name| name.span)),
            kind: TargetSpecKind::Undetermined,
            uses: Vec::new(),
            grader_target: None,
            workers: None,
            retry: RetrySpec::default(),
            fallbacks: Vec::new(),
            health: None,
            variables: (expanded.used.iter())
                .map(|used| SettingVariable {
                    setting: used.setting.clone(),
                    variable: used.variable.clone(),
                    place: (loading.place)(used.span),
                })
                .collect(),
            missing_variables: Vec::new(),
            errors: Vec::new(),
            unbuilt: Vec::new(),
            without_effect: Vec::new(),
        },
        object,
        problems,
        environment: loading.environment,
        folder: loading.folder,
        expanded: &expanded,
        place: loading.place,
        batching: None,
    };
    for unset in &expanded.unset {
        entry.missing(&unset.name, &unset.key, unset.span);
    }

    decode_shared_settings(&mut entry);
    let uses = entry.object.name("use_target", entry.problems);
    let delegates = uses.is_some() || expanded.is_unset("use_target");
    let found = if delegates { None } else { provider(&mut entry) };
    let (mut strict, mut is_program) = (true, false);
    if delegates {
        alone(&mut entry);
    } else if let Some(ProviderMatch { row, program }) = found {
        is_program = program.is_some();
        strict = !matches!(
            row.family,
            ProviderFamily::Unbuilt(_) | ProviderFamily::Agent(_) | ProviderFamily::Library(_)
        );
        settings(&mut entry, row, program);

        if let Some(span) = entry.batching.filter(|_| row.family != ProviderFamily::Command) {
            entry.without_effect("`provider_batching` of a target that is not a command", span);
        }
    } else {
        // If the kind is unknown, so are its settings.
        entry.object.take_remaining();
    }

    let TargetEntryReader { object, spec, problems, .. } = entry;
    // The keys of a kind that can't be run yet are not settled; unknown ones must not stop a run that uses
    // other targets. A program may have settings of its own.
    if is_program {
        object.finish_with_own_keys(problems);
    } else if strict {
        object.finish(problems);
    } else {
        object.finish_leniently(problems);
    }

    name.map(|name| TargetDraft { spec, name, uses })
}

fn name(
    object: &mut MapReader<'_>,
    expanded: &ExpandedMap,
    problems: &mut DiagnosticCollector,
) -> Option<assize_diagnostic::SpannedValue<String>> {
    if expanded.depends_on_variable("name") {
        object.entry("name");
        return Diagnostic::error(codes::BAD_VARIABLE, "the name of a target can't be a variable")
            .at(object.head(), "here")
            .with_help("write the name itself; `use_target: ${{ NAME }}` chooses a target by a variable")
            .reject_in(problems);
    }

    if object.value("name").is_some() {
        return object.name("name", problems);
    }

    let other = ["label", "id"].into_iter().find(|key| object.has(key));
    let mut diagnostic =
        Diagnostic::error(codes::MISSING_SETTING, "a target has no name").at(object.head(), "this target");
    diagnostic = match other {
        Some(other) => diagnostic.with_help(format!("`{other}` is called `name` here")),
        None => {
            diagnostic.with_help("suites refer to a target by its `name`; write it like `name: my-model`")
        }
    };

    problems.reject(diagnostic)
}

/// Kind of an entry. If the kind is a program of the project, also the command that runs it.
struct ProviderMatch {
    row: &'static TargetProviderRow,
    program: Option<CommandText>,
}

/// Returns the kind from `provider`, or `None` after adding a diagnostic.
fn provider(entry: &mut TargetEntryReader<'_, '_, '_>) -> Option<ProviderMatch> {
    let Some(written) = entry.object.text("provider", entry.problems) else {
        entry.demand(&["provider"], "a target has no `provider`", "provider: openai` or `provider: cli");
        return None;
    };
    if let Some(row) = provider::find_provider(&written.value) {
        return Some(ProviderMatch { row, program: None });
    }

    let from_outside = entry.depends("provider");
    if !from_outside && let Some(program) = find_provider_program(&written.value, entry.folder) {
        let row = provider::find_provider("cli")?;
        return Some(ProviderMatch { row, program: Some(program) });
    }

    let title = if from_outside {
        "the variable does not hold a known provider".to_owned()
    } else {
        format!("unknown provider `{}`", written.value)
    };
    let diagnostic = Diagnostic::error(codes::UNKNOWN_PROVIDER, title).at(written.span, "not known");
    let near = provider::nearest_provider(&written.value).filter(|_| !from_outside);
    entry.problems.reject(match near {
        Some(near) => diagnostic
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("use that provider", written.span, near),
        None => diagnostic
            .with_help(format!(
                "known providers: {}",
                provider::runnable_names().collect::<Vec<_>>().join(", ")
            ))
            .with_help(
                "any server that speaks OpenAI's chat completions is `openai-compatible` with a `base_url`; a program of \
                 this name may be in `.assize/providers` or `.agentv/providers`",
            ),
    })
}

/// Reports settings beside `use_target`, which would have no effect.
fn alone(entry: &mut TargetEntryReader<'_, '_, '_>) {
    for extra in entry.object.take_remaining() {
        if extra.key.starts_with("x-") {
            continue;
        }
        Diagnostic::error(codes::TARGET_CONFLICT, format!("`{}` has no effect with `use_target`", extra.key))
            .at(extra.key_span, "an alias of another target")
            .with_help("remove it, or remove `use_target` and give this target a `provider`")
            .add_to(entry.problems);
    }
}

fn settings(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    row: &'static TargetProviderRow,
    program: Option<CommandText>,
) {
    let head = entry.object.head();
    let kind = match row.family {
        ProviderFamily::Model => decode_model(entry, row.name).map(TargetSpecKind::Model),
        ProviderFamily::Command => {
            let spec = decode_command_target(entry, program);

            if let Some(found) =
                entry.object.entry("workspace_template").filter(|found| !found.value.is_null())
            {
                entry.unbuilt("a workspace (write `workspace: {template: FOLDER}` in the eval file instead of `workspace_template`)", found.key_span);
            }

            spec.map(TargetSpecKind::Command)
        }
        ProviderFamily::Http => decode_http_target(entry).map(TargetSpecKind::Http),
        ProviderFamily::Mock => Some(TargetSpecKind::Mock(decode_mock(entry))),
        ProviderFamily::Echo => Some(TargetSpecKind::Echo),
        ProviderFamily::Replay => decode_recording(entry, true, None).map(TargetSpecKind::Recording),
        ProviderFamily::Sessions(format) => {
            decode_recording(entry, false, format).map(TargetSpecKind::Recording)
        }
        ProviderFamily::Agent(name) | ProviderFamily::Library(name) => {
            if matches!(row.family, ProviderFamily::Library(_)) {
                entry.without_effect("that a library is named (the agent's program is run)", head);
            }
            find_preset(name).and_then(|preset| decode_agent(entry, preset)).map(TargetSpecKind::Command)
        }
        ProviderFamily::Unbuilt(feature) => {
            // The settings of this kind are not settled.
            entry.object.take_remaining();
            entry.unbuilt(feature, head);
            Some(TargetSpecKind::Unbuilt { provider: row.name })
        }
    };
    if let Some(kind) = kind {
        entry.spec.kind = kind;
    }
}
