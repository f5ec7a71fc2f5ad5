//! Reading config files.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use crate::{LoadOptions, LoadedConfig, load_config};
use assize_rubric::{EvidencePolicy, JudgingMode};

fn options(working: &Path) -> LoadOptions {
    LoadOptions {
        environment: Arc::new(|name| (name == "JUDGE").then(|| "openai:gpt-x".to_owned())),
        ..LoadOptions::new(working)
    }
}

fn load(place: &str, text: &str) -> (tempfile::TempDir, LoadedConfig) {
    let folder = tempfile::tempdir().expect("sound");
    let path = folder.path().join(place);
    fs::create_dir_all(path.parent().expect("sound")).expect("sound");
    fs::write(path, text).expect("sound");
    fs::write(folder.path().join("my.yaml"), "").expect("sound");
    fs::write(folder.path().join(".assize-env"), "").expect("sound");
    let loaded = load_config(Path::new("."), &options(folder.path()));
    (folder, loaded)
}

/// The complaints as "CODE LINE TITLE"; codes of other groups by their letter only.
fn complaints(loaded: &LoadedConfig) -> Vec<String> {
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

#[test]
fn every_setting_is_read() {
    let (folder, loaded) = load(
        ".assize/config.yaml",
        "judge: ${{ JUDGE }}\nworkers: 8\nthreshold: 0.75\nborderline: 0.5\njudging: {batched: 4}\n\
         evidence: required\ntargets: my.yaml\nenv_file: .assize-env\nx-own: 1\n",
    );
    assert_eq!(complaints(&loaded), Vec::<String>::new());
    let config = loaded.config;
    assert_eq!(config.judge.as_deref(), Some("openai:gpt-x"));
    assert_eq!(config.workers, Some(8));
    assert_eq!(config.thresholds.pass.map(f64::from), Some(0.75));
    assert_eq!(config.thresholds.borderline.map(f64::from), Some(0.5));
    assert_eq!(config.judging, Some(JudgingMode::Batched(NonZeroUsize::new(4))));
    assert_eq!(config.evidence, Some(EvidencePolicy::Required));
    let real = |path: &Path| path.canonicalize().expect("sound");
    assert_eq!(real(&config.targets.expect("sound")), real(&folder.path().join("my.yaml")));
    assert_eq!(real(&config.env_file.expect("sound")), real(&folder.path().join(".assize-env")));
}

#[test]
fn our_file_is_read_strictly() {
    for (text, expected) in [
        ("jugde: offline\n", "E 1 unknown key `jugde`"),
        ("- 1\n", "E 1 a config file must be a map"),
        ("workers: 0\n", "E 1 `workers` is out of range"),
        ("threshold: 70\n", "E 1 `threshold` is out of range"),
        ("threshold: 0.5\nborderline: 0.6\n", "E 2 `borderline` is above `threshold`"),
        ("targets: none.yaml\n", "E 1 file not found"),
        ("judge: ${{ NONE }}\n", "E 1 the environment variable `NONE` is not set"),
        ("execution: {workers: 3}\n", "E 1 unknown key `execution`"),
    ] {
        let (_folder, loaded) = load(".assize/config.yaml", text);
        assert_eq!(complaints(&loaded), [expected], "{text}");
        assert!(loaded.has_errors());
    }
    for text in ["", "# nothing\n", "{}\n"] {
        let (_folder, loaded) = load(".assize/config.yaml", text);
        assert_eq!(complaints(&loaded), Vec::<String>::new(), "{text}");
        assert_eq!(loaded.config, assize_model::ProjectConfig::default());
    }
}

#[test]
fn a_path_may_not_lead_out_of_the_repository() {
    let outside = tempfile::NamedTempFile::new().expect("sound");
    let (_folder, loaded) = load(".assize/config.yaml", &format!("targets: {}\n", outside.path().display()));
    assert_eq!(complaints(&loaded), ["E 1 this file is outside the allowed folders"]);
}

#[test]
fn the_other_tools_file_is_read_leniently() {
    let (_folder, loaded) = load(
        ".agentv/config.yaml",
        "$schema: x\nrequired_version: '>=3'\nguideline_patterns: ['*.md']\nexecution:\n  workers: 3\n  \
         otel_file: ${{ NONE }}\n  odd: 1\nproviders: []\nstrange: 1\n",
    );
    assert_eq!(
        complaints(&loaded),
        ["W0603 7 unknown key `odd`", "W0603 8 `providers` is not read", "W0603 9 unknown key `strange`",]
    );
    assert_eq!(loaded.config.workers, Some(3));
    let (_folder, loaded) = load(".agentv/config.yaml", "providers: file://providers.yaml\n");
    assert_eq!(complaints(&loaded), [""; 0], "that file is found in any case");
}

#[test]
fn no_file_is_no_complaint() {
    let folder = tempfile::tempdir().expect("sound");
    let loaded = load_config(Path::new("a/b"), &options(folder.path()));
    assert!(loaded.path.is_none() && loaded.diagnostics.is_empty());
}
