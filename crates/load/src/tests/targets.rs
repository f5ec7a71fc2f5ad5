//! Reading targets files.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::load_suite;
use assize_diagnostic::render::{TextOptions, to_text};
use assize_evalfile::{LoadOptions, LoadedTargets, load_targets};
use assize_model::{CommandText, HealthSpec, ModelTargetSpec, RecordingKind, TargetSpec, TargetSpecKind};

fn options(working: &Path, variables: &[(&'static str, &'static str)]) -> LoadOptions {
    let variables = variables.to_vec();
    LoadOptions {
        environment: Arc::new(move |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }),
        ..LoadOptions::new(working)
    }
}

fn load_with(text: &str, variables: &[(&'static str, &'static str)]) -> LoadedTargets {
    let folder = tempfile::tempdir().expect("sound");
    fs::write(folder.path().join("targets.yaml"), text).expect("sound");
    load_targets(Path::new("."), None, &options(folder.path(), variables))
}

fn load(text: &str) -> LoadedTargets {
    load_with(text, &[])
}

/// The complaints as "CODE LINE TITLE"; codes of other groups by their letter only.
fn complaints(loaded: &LoadedTargets) -> Vec<String> {
    loaded
        .diagnostics
        .iter()
        .map(|found| {
            let code = found.code.as_str();
            let code = if &code[1..3] == "06" { code } else { &code[..1] };
            format!("{code} {} {}", loaded.sources.position(found.primary.span).line, found.title)
        })
        .collect()
}

fn target<'a>(loaded: &'a LoadedTargets, name: &str) -> &'a TargetSpec {
    let found = loaded.targets.iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("no {name}: {:?}", complaints(loaded)))
}

fn model<'a>(loaded: &'a LoadedTargets, name: &str) -> &'a ModelTargetSpec {
    match &target(loaded, name).kind {
        TargetSpecKind::Model(model) => model,
        other => panic!("{other:?}: {:?}", complaints(loaded)),
    }
}

/// A folder with these files; a name that ends with `/` is an empty folder.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("sound");
    for (name, text) in files {
        let path = folder.path().join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).expect("sound");
        } else {
            fs::create_dir_all(path.parent().expect("sound")).expect("sound");
            fs::write(path, text).expect("sound");
        }
    }
    folder
}

fn one(name: &str) -> String {
    format!("targets:\n  - name: {name}\n    provider: cli\n    command: echo\n")
}

#[test]
fn models_commands_and_their_settings_are_read() {
    let loaded = load_with(
        "$schema: x\ntargets:\n\
         - name: m\n  provider: OpenAI\n  model: gpt-x\n  base_url: ${{ URL }}/v1\n  api_key: ${{ KEY }}\n  \
           temperature: ${{ WARMTH }}\n  seed: 7\n  max_output_tokens: 100\n  judge_target: c\n  workers: 5\n  \
           max_retries: 1\n  retry_initial_delay_ms: 10\n  retry_max_delay_ms: 2000\n  retry_status_codes: [429]\n\
         - name: c\n  provider: cli\n  command: [./run, '{PROMPT}']\n  files_format: --file {path}\n  cwd: sub\n  \
           timeout_seconds: 1.5\n  verbose: true\n  x-note: free\n\
         - name: r\n  provider: openrouter\n  model: a/b\n",
        &[
            ("URL", "http://localhost:1"),
            ("KEY", "12345678"),
            ("WARMTH", "0.5"),
            ("OPENROUTER_API_KEY", "orkey123"),
        ],
    );
    assert_eq!(complaints(&loaded), Vec::<String>::new());
    let m = model(&loaded, "m");
    assert_eq!((m.provider, m.model.as_str()), ("openai", "gpt-x"));
    assert_eq!(m.base_url.as_deref(), Some("http://localhost:1/v1"));
    assert_eq!(m.api_key.as_ref().expect("sound").expose(), "12345678");
    assert_eq!((m.temperature, m.seed, m.max_output_tokens), (Some(0.5), Some(7), Some(100)));
    let spec = target(&loaded, "m");
    assert_eq!((spec.grader_target.as_deref(), spec.workers), (Some("c"), Some(5)));
    assert_eq!(spec.retry.max_retries, Some(1));
    assert_eq!(spec.retry.max_delay, Some(Duration::from_secs(2)));
    assert_eq!(spec.without_effect[0].feature, "`retry_status_codes`");
    assert!(spec.obstacles().is_empty());
    let named: Vec<(&str, &str)> =
        spec.variables.iter().map(|used| (used.setting.as_str(), used.variable.as_str())).collect();
    assert_eq!(named, [("base_url", "URL"), ("api_key", "KEY"), ("temperature", "WARMTH")]);
    assert_eq!((spec.place.line, spec.place.column), (3, 9));
    let TargetSpecKind::Command(c) = &target(&loaded, "c").kind else { panic!("not a command") };
    assert_eq!(c.template, CommandText::Argv(vec!["./run".into(), "{PROMPT}".into()]));
    assert_eq!(c.files_format.as_deref(), Some("--file {path}"));
    assert_eq!(c.timeout, Some(Duration::from_millis(1500)));
    assert_eq!((c.cwd.as_deref(), c.beside_suite), (Some(Path::new("sub")), true));
    let r = model(&loaded, "r");
    assert_eq!(r.base_url.as_deref(), Some("https://openrouter.ai/api/v1"));
}

#[test]
fn the_older_spellings_are_read() {
    let loaded = load(
        "targets:\n- name: c\n  provider: cli\n  command_template: run {OUTPUT_FILE}\n  keep_temp_files: false\n  \
         healthcheck: {type: http, url: http://localhost/h, timeout_seconds: 3}\n  provider_batching: true\n",
    );
    assert_eq!(complaints(&loaded), Vec::<String>::new());
    let spec = target(&loaded, "c");
    assert!(
        matches!(&spec.kind, TargetSpecKind::Command(c) if c.template == CommandText::Shell("run {OUTPUT_FILE}".into()))
    );
    assert!(spec.obstacles().is_empty(), "{:?}", spec.obstacles());
    assert!(matches!(&spec.kind, TargetSpecKind::Command(c) if c.batch));
    let timeout = Some(Duration::from_secs(3));
    assert_eq!(spec.health, Some(HealthSpec::Http { url: "http://localhost/h".into(), timeout }));
}

#[test]
fn a_batch_is_told_nothing_about_single_cases() {
    let loaded =
        load("targets:\n- name: c\n  provider: cli\n  command: run {PROMPT}\n  provider_batching: true\n");
    assert_eq!(
        complaints(&loaded),
        ["E 5 a command that is run once for all cases can't refer to one of them"]
    );
}

#[test]
fn kinds_that_cannot_run_are_read_and_say_so_only_when_used() {
    for provider in ["vscode", "vscode-insiders", "agentv"] {
        let loaded = load(&format!("targets:\n- name: t\n  provider: {provider}\n  model: m\n"));
        assert_eq!(complaints(&loaded), Vec::<String>::new(), "{provider}");
        assert!(matches!(target(&loaded, "t").kind, TargetSpecKind::Unbuilt { .. }), "{provider}");
        assert_eq!(target(&loaded, "t").obstacles().len(), 1, "{provider}");
    }
}

#[test]
fn every_name_of_both_generations_is_a_known_provider() {
    for provider in [
        "azure", "anthropic", "gemini", "codex", "pi-coding-agent", "pi-agent-sdk", "claude-code", "cli",
        "mock", "vscode", "vscode-insiders", "openai", "bedrock", "vertex", "openrouter", "copilot-sdk",
        "copilot-cli", "copilot-log", "pi-cli", "claude", "claude-cli", "claude-sdk", "agentv", "transcript",
        "codex-app-server", "codex-sdk", "pi-sdk", "pi-rpc", "replay",
    ] {
        for written in [provider.to_owned(), provider.replace('-', "_")] {
            let loaded = load(&format!("targets:\n- name: t\n  provider: {written}\n"));
            let messages = complaints(&loaded).join("\n");
            assert!(!messages.contains("unknown provider"), "{written}: {messages}");
        }
    }
}

#[test]
fn places_of_models_stand_for_the_variables_that_say_them_otherwise() {
    let variables = |text: &str| {
        let loaded = load(&format!("targets:\n- name: t\n  model: m\n{text}"));
        assert_eq!(complaints(&loaded), Vec::<String>::new(), "{text}");
        model(&loaded, "t").variables.clone()
    };
    assert_eq!(
        variables("  provider: bedrock\n  region: eu-west-1\n"),
        [("AWS_REGION", "eu-west-1".to_owned())]
    );
    let vertex = variables("  provider: vertex\n  project: p\n  location: europe-west4\n");
    assert_eq!(
        vertex,
        [("GOOGLE_CLOUD_PROJECT", "p".to_owned()), ("GOOGLE_CLOUD_LOCATION", "europe-west4".to_owned())]
    );
    let elsewhere = load("targets:\n- name: t\n  provider: openai\n  model: m\n  region: eu\n");
    assert_eq!(target(&elsewhere, "t").without_effect.len(), 1);
    assert!(model(&elsewhere, "t").variables.is_empty());
}

#[test]
fn models_of_every_provider_are_models() {
    for (written, provider) in [
        ("azure", "azure"),
        ("anthropic", "anthropic"),
        ("google", "gemini"),
        ("ollama", "ollama"),
        ("groq", "groq"),
        ("hf", "huggingface"),
        ("bedrock\n  region: eu-west-1", "bedrock"),
        ("vertex\n  project: p\n  location: europe-west4", "vertex"),
        ("openai\n  api_format: responses", "openai-responses"),
    ] {
        let loaded = load(&format!("targets:\n- name: t\n  provider: {written}\n  model: m\n"));
        assert_eq!(complaints(&loaded), Vec::<String>::new(), "{written}");
        assert_eq!(model(&loaded, "t").provider, provider);
        assert!(target(&loaded, "t").obstacles().is_empty(), "{written}");
    }
    let loaded = load(
        "targets:\n- name: t\n  provider: azure\n  resource: contoso\n  deployment: d\n  version: 2025-01-01-preview\n  \
         thinking_budget: 100\n",
    );
    assert_eq!(complaints(&loaded), Vec::<String>::new());
    let azure = model(&loaded, "t");
    assert_eq!(azure.base_url.as_deref(), Some("https://contoso.openai.azure.com"));
    assert_eq!((azure.model.as_str(), azure.api_version.as_deref()), ("d", Some("2025-01-01-preview")));
    assert_eq!(target(&loaded, "t").without_effect[0].feature, "`thinking_budget`");
}

#[test]
fn agents_are_commands_from_presets() {
    let argv = |text: &str| {
        let loaded = load(&format!("targets:\n- name: t\n{text}"));
        assert_eq!(complaints(&loaded), Vec::<String>::new(), "{text}");
        match &target(&loaded, "t").kind {
            TargetSpecKind::Command(command) => match &command.template {
                CommandText::Argv(words) => {
                    (words.join(" "), command.stdin.clone(), command.stream.clone().unwrap_or_default())
                }
                CommandText::Shell(script) => panic!("a shell is asked: {script}"),
            },
            other => panic!("{other:?}"),
        }
    };
    let prompt = Some("{PROMPT}".to_owned());
    for (text, words, stdin, stream) in [
        (
            "  provider: claude-code\n  model: m\n  max_turns: 3\n  args: [--permission-mode, plan]\n",
            "claude -p --output-format stream-json --verbose --model m --max-turns 3 --permission-mode plan",
            prompt.clone(),
            "claude-code",
        ),
        (
            "  provider: codex_cli\n  executable: /opt/codex\n",
            "/opt/codex exec --json --skip-git-repo-check -",
            prompt.clone(),
            "codex",
        ),
        (
            "  provider: copilot\n  args: [--allow-all-tools]\n",
            "copilot --output-format json --allow-all-tools -p {PROMPT}",
            None,
            "copilot",
        ),
        ("  provider: gemini-cli\n", "gemini --output-format stream-json", prompt.clone(), "gemini"),
        (
            "  provider: opencode\n  command: [npx, opencode-ai]\n  model: a/b\n",
            "npx opencode-ai run --format json --model a/b",
            prompt,
            "opencode",
        ),
    ] {
        assert_eq!(argv(text), (words.to_owned(), stdin, stream.to_owned()));
    }
    let loaded = load("targets:\n- {name: t, provider: codex, modle: x}\n");
    assert_eq!(complaints(&loaded), ["W0603 2 unknown key `modle`"]);
    let loaded = load("targets:\n- {name: t, provider: codex, system_prompt: x}\n");
    assert_eq!(complaints(&loaded), ["E 2 Codex has no option for `system_prompt`"]);
    let loaded = load("targets:\n- {name: t, provider: copilot-sdk}\n");
    assert!(target(&loaded, "t").obstacles().is_empty());
    assert!(target(&loaded, "t").without_effect[0].feature.contains("library"));
}

#[test]
fn recordings_and_mocks_are_read() {
    let loaded = load(
        "targets:\n- {name: s, provider: transcript, path: logs, format: claude_code}\n\
         - {name: l, provider: copilot-log, session_dir: logs}\n\
         - {name: r, provider: replay, path: answers.jsonl, source: main}\n\
         - {name: m, provider: mock, response: hi, delay_ms: 5, fallback_targets: [s, r]}\n",
    );
    assert_eq!(complaints(&loaded), Vec::<String>::new());
    let kind = |name: &str| match &target(&loaded, name).kind {
        TargetSpecKind::Recording(recording) => {
            assert!(recording.path.is_absolute());
            recording.kind.clone()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(kind("s"), RecordingKind::Sessions { format: Some("claude-code") });
    assert_eq!(kind("l"), RecordingKind::Sessions { format: Some("copilot") });
    assert_eq!(kind("r"), RecordingKind::Answers { source: Some("main".into()) });
    let TargetSpecKind::Mock(mock) = &target(&loaded, "m").kind else { panic!("no mock") };
    assert_eq!((mock.shortest, mock.longest), (Duration::from_millis(5), Duration::from_millis(5)));
    assert_eq!(target(&loaded, "m").fallbacks, ["s", "r"]);

    let loaded = load(
        "targets:\n- {name: a, provider: transcript}\n- {name: b, provider: transcript, path: x, format: claud-code}\n\
         - {name: c, provider: mock}\n- {name: d, provider: mock, response: x, fallback_targets: [d, nobody]}\n\
         - {name: e, provider: mock, response: x, delay_min_ms: 9, delay_max_ms: 3}\n",
    );
    assert_eq!(
        complaints(&loaded),
        [
            "E 2 a recording needs `path`",
            "E 3 unknown log format `format`",
            "E 4 a mock needs `response`",
            "E0604 5 a target can't fall back to itself",
            "E0604 5 there is no target `nobody` to fall back to",
            "E 6 `delay_max_ms` is less than `delay_min_ms`",
        ]
    );
}

#[test]
fn unset_variables_concern_only_the_targets_that_need_them() {
    let loaded = load(
        "targets:\n- name: a\n  provider: openai\n  model: ${{ M }}\n  api_key: ${{ K }}\n  grader_target: ${{ J }}\n\
         - name: b\n  provider: cli\n  command: [run, '${{ X }}']\n\
         - name: d\n  use_target: ${{ WHICH }}\n\
         - name: e\n  provider: ${{ P }}\n  model: m\n\
         - name: f\n  use_target: a\n\
         - name: ok\n  provider: openai\n  model: ${{ M:-gpt-x }}\n",
    );
    assert_eq!(complaints(&loaded), Vec::<String>::new());
    let names = |name: &str| -> Vec<String> {
        target(&loaded, name).missing_variables.iter().map(|missing| missing.name.clone()).collect()
    };
    assert_eq!(names("a"), ["M", "K", "J"]);
    assert_eq!(target(&loaded, "a").obstacles().len(), 2, "the judge's variable concerns the judge");
    assert_eq!(names("b"), ["X"]);
    assert_eq!(names("d"), ["WHICH"]);
    assert_eq!(names("e"), ["P"]);
    assert_eq!(names("f"), ["M", "K", "J"]);
    assert_eq!(target(&loaded, "d").kind, TargetSpecKind::Undetermined);
    assert!(target(&loaded, "ok").obstacles().is_empty());
    assert_eq!(model(&loaded, "ok").model, "gpt-x");
}

#[test]
fn errors_of_a_target_leave_the_others_usable() {
    let loaded = load(
        "targets:\n- {name: good, provider: mock, response: a}\n- {name: odd, provider: cc-mirror, variant: x}\n\
         - {name: log, provider: copilot-log, discover: latest}\n- {name: lost, use_target: nowhere}\n\
         - {name: alias, use_target: odd}\n",
    );
    assert!(loaded.is_usable && loaded.has_errors());
    assert!(target(&loaded, "good").obstacles().is_empty());
    for (name, reason) in [
        ("odd", "unknown provider `cc-mirror`"),
        ("log", "a recording needs `path`"),
        ("alias", "unknown provider"),
    ] {
        let obstacles = target(&loaded, name).obstacles();
        assert!(obstacles.first().is_some_and(|first| first.contains(reason)), "{name}: {obstacles:?}");
    }

    assert!(matches!(target(&loaded, "lost").kind, TargetSpecKind::Undetermined));
    assert!(
        !load("targets:\n- {name: a, provider: mock, response: a}\n- {name: a, provider: cli}\n").is_usable
    );
    assert!(!load("targets: 3\n").is_usable);
}

#[test]
fn a_key_that_is_there_already_is_not_suggested() {
    let loaded = load("targets:\n- {name: a, provider: pi-cli, subprovider: x}\n");
    let [found] = loaded.diagnostics.as_slice() else { panic!("{:?}", loaded.diagnostics) };
    assert_eq!((found.code.as_str(), found.suggestion.is_none()), ("W0603", true), "{found:?}");
}

#[test]
fn use_target_is_followed() {
    let loaded = load_with(
        "targets:\n- {name: a, use_target: b, workers: 2}\n- {name: b, use_target: '${{ W }}', judge_target: offline}\n\
         - {name: c, provider: cli, command: run, workers: 9, max_retries: 4}\n",
        &[("W", "c")],
    );
    assert_eq!(complaints(&loaded), Vec::<String>::new());
    let a = target(&loaded, "a");
    assert!(matches!(a.kind, TargetSpecKind::Command(_)));
    assert_eq!(a.uses, ["b", "c"]);
    assert_eq!(
        (a.workers, a.grader_target.as_deref(), a.retry.max_retries),
        (Some(2), Some("offline"), Some(4))
    );
}

#[test]
fn providers_of_the_newest_format_are_targets() {
    let loaded = load_with(
        "providers:\n- {id: cli, label: agent, command: echo, grader_target: judge}\n\
         - {id: 'openai:gpt-x', config: {temperature: 0.5, api_key: '${{ KEY }}'}}\n- {id: 'openai:gpt-y', label: judge}\n",
        &[("KEY", "12345678")],
    );
    let names: Vec<&str> = loaded.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["agent", "openai:gpt-x", "judge"]);
    let model = model(&loaded, "openai:gpt-x");
    assert_eq!((model.model.as_str(), model.temperature), ("gpt-x", Some(0.5)));
    assert!(matches!(loaded.targets[0].kind, TargetSpecKind::Command(_)));
}

#[test]
fn providers_of_the_newest_format_name_the_environment_in_its_spelling() {
    let loaded = load_with(
        "- id: openai\n  label: judge\n  base_url: '{{ env.HOST }}/v1'\n  api_key: '{{env.KEY}}'\n  model: \"{{ env.MODEL | default('gpt-x') }}\"\n\
         - {id: openai, label: lacking, model: '{{ env.NOT_SET }}'}\n\
         - {id: cli, label: agent, runtime: host, command: ['{{ env.PROGRAM }}', '{PROMPT}']}\n\
         - {id: http, label: app, url: 'http://localhost', headers: {A: '{{ env.KEY }}'}, body: x}\n",
        &[("HOST", "http://localhost:1"), ("KEY", "12345678"), ("PROGRAM", "answer")],
    );
    assert_eq!(complaints(&loaded), [""; 0]);
    let judge = model(&loaded, "judge");
    assert_eq!((judge.model.as_str(), judge.base_url.as_deref()), ("gpt-x", Some("http://localhost:1/v1")));
    assert_eq!(loaded.targets[1].missing_variables.len(), 1);
    let TargetSpecKind::Command(agent) = &loaded.targets[2].kind else { panic!("{:?}", loaded.targets[2]) };
    assert_eq!(agent.template, CommandText::Argv(vec!["answer".into(), "{PROMPT}".into()]));
}

#[test]
fn ids_of_providers_are_interfaces_agents_and_commands() {
    let loaded = load_with(
        "- openai:chat:gpt-x\n- openai:responses:gpt-x\n- anthropic:messages:claude-x\n- openai:codex-sdk:gpt-y\n\
         - agentv:codex-cli\n- {id: 'exec:node answer.mjs {PROMPT}', label: own}\n- {id: mock, label: canned}\n",
        &[],
    );
    assert_eq!(complaints(&loaded), [""; 0]);
    let models: Vec<&str> =
        loaded.targets[..3].iter().map(|target| model(&loaded, &target.name).model.as_str()).collect();
    assert_eq!(models, ["gpt-x", "gpt-x", "claude-x"]);
    assert!(matches!(&loaded.targets[6].kind, TargetSpecKind::Mock(_)));
    for agent in &loaded.targets[3..6] {
        assert!(matches!(agent.kind, TargetSpecKind::Command(_)), "{agent:?}");
    }
}

#[test]
fn a_sandbox_of_a_provider_is_refused() {
    let loaded = load(
        "- {id: codex-cli, label: a, runtime: {mode: sandbox}}\n- {id: codex-cli, label: b, runtime: {mode: host}}\n",
    );
    let unbuilt: Vec<usize> = loaded.targets.iter().map(|target| target.unbuilt.len()).collect();
    assert_eq!(unbuilt, [1, 0]);
}

#[test]
fn a_list_of_providers_is_a_whole_file() {
    let loaded = load_with(
        "- id: cli\n  label: agent\n  command: echo\n- - {id: 'openai:gpt-x', label: judge}\n\
         - openai:gpt-y\n- 'openai:gpt-z': {label: cold, config: {temperature: 0.0}}\n",
        &[],
    );
    assert_eq!(loaded.diagnostics.iter().map(|found| found.title.clone()).collect::<Vec<_>>(), [""; 0]);
    let names: Vec<&str> = loaded.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["agent", "judge", "openai:gpt-y", "cold"]);
    let cold = model(&loaded, "cold");
    assert_eq!((cold.model.as_str(), cold.temperature), ("gpt-z", Some(0.0)));
    assert_eq!(model(&loaded, "openai:gpt-y").model, "gpt-y");
}

#[test]
fn mistakes_are_named_at_their_place() {
    for (text, expected) in [
        ("", "E0601 1 the file has no targets"),
        ("# only a remark\n", "E0601 1 the file has no targets"),
        ("targets:\n", "E0601 1 the file has no targets"),
        ("targets: []\n", "E0601 1 the file has no targets"),
        ("- name: a\n", "E 1 a target has no `provider`"),
        ("[]\n", "E0601 1 the file has no targets"),
        ("targets: {a: b}\n", "E 1 `targets` must be a list"),
        ("targts:\n- name: a\n", "E 1 unknown key `targts`"),
        ("providers:\n- id: openai\n", "E 2 a model target does not name its model"),
        ("providers: []\n", "E0601 1 the file has no targets"),
        ("targets:\n- gpt\n", "E 2 a target must be a map"),
        ("targets:\n- provider: cli\n  command: x\n", "E 2 a target has no name"),
        ("targets:\n- name: ''\n  provider: cli\n  command: x\n", "E 2 `name` is empty"),
        ("targets:\n- name: a\n", "E 2 a target has no `provider`"),
        ("targets:\n- name: a\n  provider:\n", "E 2 a target has no `provider`"),
        ("targets:\n- name: a\n  provider: opnai\n  model: x\n", "E0602 3 unknown provider `opnai`"),
        ("targets:\n- name: a\n  provider: openai\n", "E 2 a model target does not name its model"),
        ("targets:\n- name: a\n  provider: openai\n  model:\n", "E 2 a model target does not name its model"),
        ("targets:\n- name: a\n  provider: cli\n", "E 2 a command needs `command`"),
        ("targets:\n- name: a\n  provider: cli\n  command: []\n", "E 4 `command` does not name a program"),
        ("targets:\n- name: a\n  provider: cli\n  command: x\n  timeout: 3\n", "E 5 unknown key `timeout`"),
        (
            "targets:\n- name: a\n  provider: cli\n  command: x\n  timeout_seconds: 0\n",
            "E 5 `timeout_seconds` is out of range",
        ),
        (
            "targets:\n- name: a\n  provider: cli\n  command: x\n  command_template: y\n",
            "E 5 `command` and `command_template` are the same setting",
        ),
        (
            "targets:\n- name: a\n  provider: cli\n  command: x\n  healthcheck: {}\n",
            "E 5 a health check needs `url` or `command`",
        ),
        (
            "targets:\n- name: a\n  provider: openai\n  model: x\n  base_url: localhost\n",
            "E0607 5 this is not the address of a server",
        ),
        (
            "targets:\n- name: a\n  provider: openai-compatible\n  model: x\n",
            "E 2 `openai-compatible` needs an address",
        ),
        (
            "targets:\n- name: a\n  provider: openai\n  model: x\n  temperature: 3\n",
            "E 5 `temperature` is out of range",
        ),
        (
            "targets:\n- name: a\n  provider: openai\n  model: x\n  api_format: grpc\n",
            "E 5 unknown `api_format`",
        ),
        (
            "targets:\n- name: a\n  provider: openai\n  model: x\n  workers: 51\n",
            "E 5 `workers` is out of range",
        ),
        (
            "targets:\n- {name: a, provider: cli, command: x}\n- {name: a, provider: cli, command: y}\n",
            "E0603 3 two targets are called `a`",
        ),
        (
            "targets:\n- {name: a, use_target: bb}\n- {name: bbb, provider: cli, command: y}\n",
            "E0604 2 there is no target `bb`",
        ),
        (
            "targets:\n- {name: a, use_target: b}\n- {name: b, use_target: c}\n- {name: c, use_target: b}\n",
            "E0605 3 targets use each other in a cycle",
        ),
        ("targets:\n- {name: a, use_target: a}\n", "E0605 2 targets use each other in a cycle"),
        (
            "targets:\n- {name: a, use_target: b, model: x}\n- {name: b, provider: cli, command: y}\n",
            "E0606 2 `model` has no effect with `use_target`",
        ),
        ("targets:\n- name: a\n  provider: openai\n  model: ${{ X\n", "E0608 4 malformed variable"),
        (
            "targets:\n- name: a\n  provider: openai\n  model: '{{ env.X }}'\n",
            "E0608 4 `{{ env.NAME }}` is not filled in here",
        ),
        (
            "targets:\n- name: ${{ X }}\n  provider: cli\n  command: x\n",
            "E0608 2 the name of a target can't be a variable",
        ),
        (
            "targets:\n- {name: a, provider: cli, command: x, grader_target: judge}\n",
            "W0602 2 unknown judge `judge`: no target has this name",
        ),
    ] {
        let loaded = load(text);
        assert_eq!(complaints(&loaded).join("|"), expected, "{text}");
    }
}

#[test]
fn a_thousand_targets_are_read_and_more_are_refused() {
    let chain = |length: usize| {
        let mut text = "targets:\n- {name: t0, provider: cli, command: x}\n".to_owned();
        for index in 1..length {
            writeln!(text, "- {{name: t{index}, use_target: t{}}}", index - 1).expect("sound");
        }
        load(&text)
    };
    let loaded = chain(1000);
    assert_eq!(complaints(&loaded), Vec::<String>::new());
    assert_eq!(target(&loaded, "t999").uses.len(), 999);
    assert_eq!(complaints(&chain(1001)), ["E 1002 more than 1000 targets"]);
}

#[test]
fn near_names_are_suggested() {
    let loaded = load("targets:\n- {name: a, provider: opnai, model: x}\n- {name: b, use_target: aa}\n");
    let help: Vec<&str> =
        loaded.diagnostics.iter().flat_map(|found| &found.help).map(String::as_str).collect();
    assert!(help.contains(&"did you mean `openai`?"), "{help:?}");
}

#[test]
fn no_secret_is_shown_anywhere() {
    let texts = [
        "targets:\n- name: a\n  provider: openai\n  model: x\n  api_key: sk-verysecret\n",
        "targets:\n- {name: a, provider: openai, model: x, api_key: \"sk-verysecret\", oops: 1}\n",
        "targets:\n- name: a\n  provider: openai\n  model: x\n  api_key: ${{ K }}\n  base_url: ${{ K }}\n  temperature: ${{ K }}\n",
        "targets:\n- name: a\n  provider: ${{ K }}\n  use_target: ${{ K }}\n",
        "targets:\n- name: a\n  provider: cli\n  command: run --key ${{ K }}\n",
        "targets:\n- name: a\n  provider: openai\n  model: x\n  base_url: https://me:${{ K }}@host/v1?key=${{ K }}\n",
        "targets:\n- name: a\n  api_key: sk-verysecret\n  broken: [\n",
        "targets:\n- name: a\n  provider: codex\n  github_token: sk-verysecret\n",
        "x-keys: &k sk-verysecret\ntargets:\n- {name: a, provider: openai, model: x, api_key: *k}\n",
    ];
    for text in texts {
        let loaded = load_with(text, &[("K", "sk-verysecret")]);
        let drawn = to_text(&loaded.diagnostics, &loaded.sources, TextOptions::default());
        let all = format!("{loaded:?}{drawn}");
        assert!(!all.contains("verysecret"), "{text}\n{all}");
    }
    let loaded = load(texts[0]);
    assert_eq!(complaints(&loaded), ["W0601 5 `api_key` is written in the file as plain text"]);
    assert_eq!(model(&loaded, "a").api_key.as_ref().expect("sound").expose(), "sk-verysecret");
}

#[test]
fn the_nearest_file_is_used() {
    let folder = tree(&[
        (".git/", ""),
        (".assize/targets.yaml", &one("root")),
        ("a/.agentv/targets.yml", &one("agentv")),
        ("a/b/c/", ""),
        ("d/targets.yaml", &one("plain")),
        ("d/.agentv/targets.yaml", &one("agentv")),
        ("d/e/.assize/targets.yml", &one("assize")),
        ("d/e/targets.yaml", &one("plain")),
        ("other.yaml", &one("other")),
    ]);
    let options = options(folder.path(), &[]);
    for (start, name) in [
        ("", "root"),
        ("a", "agentv"),
        ("a/b/c", "agentv"),
        ("d", "plain"),
        ("d/e", "assize"),
        ("nothing", "root"),
    ] {
        let loaded = load_targets(Path::new(start), None, &options);
        assert_eq!(loaded.targets[0].name, name, "{start}");
        assert!(loaded.targets[0].place.path().is_relative());
    }
    let explicit = load_targets(Path::new("a"), Some(Path::new("other.yaml")), &options);
    assert_eq!(explicit.targets[0].name, "other");
    let lost = load_targets(Path::new("a"), Some(Path::new("none.yaml")), &options);
    assert_eq!(complaints(&lost), ["E 1 `none.yaml` does not exist"]);
    let dir = load_targets(Path::new("a"), Some(Path::new("a")), &options);
    assert_eq!(complaints(&dir), ["E 1 `a` can't be read"]);
}

#[test]
fn files_above_the_repository_are_not_ours() {
    let folder = tree(&[("targets.yaml", &one("above")), ("repo/.git/", ""), ("repo/evals/", "")]);
    let loaded = load_targets(Path::new("evals"), None, &options(&folder.path().join("repo"), &[]));
    assert!(loaded.path.is_none() && loaded.diagnostics.is_empty());
}

#[test]
fn a_command_whose_second_shell_would_run_a_prompt_is_no_target() {
    let runs = |loaded: &LoadedTargets| {
        let is_command = |target: &TargetSpec| matches!(target.kind, TargetSpecKind::Command(_));
        loaded.targets.iter().any(|target| target.name == "t" && is_command(target))
    };
    for settings in [
        "provider: cli, command: [bash, -c, 'run {PROMPT}']",
        "provider: cli, command: 'bash -c \"run {PROMPT}\"'",
        "provider: cli, command: 'eval run {FILES}'",
        "provider: claude, executable: [sh, -c, 'claude -p {PROMPT}']",
    ] {
        let loaded = load(&format!("targets: [{{name: t, {settings}}}]\n"));

        let found = complaints(&loaded);
        assert!(found.iter().any(|line| line.contains("would be run as a script")), "{settings}: {found:?}");
        assert!(!runs(&loaded), "{settings}");
    }

    let loaded =
        load("targets: [{name: t, provider: cli, command: [bash, -c, 'run \"$1\"', bash, '{PROMPT}']}]\n");
    assert!(runs(&loaded), "{:?}", complaints(&loaded));
}

#[test]
fn a_program_of_the_project_is_a_provider() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join(".agentv/providers");
    fs::create_dir_all(&kept).expect("a folder");
    fs::write(kept.join("my-llm.ts"), "").expect("written");
    fs::write(kept.join("shelf.py"), "").expect("written");
    fs::write(
        folder.path().join(".agentv/targets.yaml"),
        "targets:\n- {name: a, provider: my-llm, timeout_seconds: 9, style: terse, model: m, worker: 2}\n- {name: b, provider: shelf, command: ./own.sh}\n\
         - {name: c, provider: ../providers/my-llm}\n- {name: d, provider: mylm}\n",
    )
    .expect("written");
    let loaded = load_targets(Path::new("."), None, &options(folder.path(), &[]));
    let command = |name: &str| match &target(&loaded, name).kind {
        TargetSpecKind::Command(command) => command.template.clone(),
        other => panic!("{other:?}"),
    };

    let CommandText::Argv(words) = command("a") else { panic!("words") };
    assert_eq!((words[0].as_str(), words[1].as_str(), words[3].as_str()), ("bun", "run", "{PROMPT}"));
    assert!(
        Path::new(&words[2]).is_absolute() && words[2].ends_with(".agentv/providers/my-llm.ts"),
        "{words:?}"
    );
    assert_eq!(command("b"), CommandText::Shell("./own.sh".to_owned()));
    let found = complaints(&loaded);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("W0603") && found[0].contains("`worker`"), "{found:?}");
    assert!(found[1..].iter().all(|line| line.starts_with("E0602")), "{found:?}");
}

#[test]
fn settings_beside_the_id_of_an_agentv_provider_are_those_of_a_target() {
    let text = "prompts: [{label: ask, raw: '{{ w }}'}]\nproviders:\n- {id: mock, label: canned, response: Hello, prompts: [ask]}\n\
         - {id: cli, label: own, command: 'answer {PROMPT}', cwd: sub, config: {timeout_seconds: 5}}\n\
         tests: [{vars: {w: a}, assert: [{type: contains, value: a}]}]\n";
    let folder = tempfile::tempdir().expect("sound");
    let path = folder.path().join("any-name.yaml");
    fs::write(&path, text).expect("sound");
    let loaded = load_suite(&path, &options(folder.path(), &[]));
    assert!(loaded.diagnostics.is_empty(), "a file with these ids is AgentV's: {:?}", loaded.diagnostics);
    let targets = &loaded.suite.expect("a suite").defined_targets;
    assert!(matches!(&targets[0].kind, TargetSpecKind::Mock(_)), "{targets:?}");
    let TargetSpecKind::Command(own) = &targets[1].kind else { panic!("{targets:?}") };
    assert_eq!(own.timeout, Some(Duration::from_secs(5)));
    assert!(own.cwd.as_ref().is_some_and(|folder| folder.ends_with("sub")), "{own:?}");
}
