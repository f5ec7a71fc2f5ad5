//! Tests that the schemas agree with the decoders on known keys, and on accepted and rejected values.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Severity, SourceMap};
use assize_document::{DiagnosticCollector, read_json, read_yaml, record};
use assize_evalfile::{
    AnswerColumns, LoadOptions, load_answers, load_config, load_prices, load_rubric, load_targets,
};
use assize_load::{find_suites, load_suite};
use assize_scorecard::{is_scorecard, load_card_results, load_scorecard};
use serde_json::Value;

use super::defs::SchemaDefinitions;
use super::{schema_file_name, schema_folder, schemas};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the checkout")
}

/// Returns every file below `folder`, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn options(home: &Path) -> LoadOptions {
    LoadOptions { environment: Arc::new(|name| Some(format!("value-of-{name}"))), ..LoadOptions::new(home) }
}

/// Loads all fixtures and examples with every decoder that may apply, and returns the keys that the decoders
/// asked for.
fn asked_for() -> record::RequestedKeys {
    record::take();
    let folders = ["fixtures/broken", "fixtures/schema", "examples"].map(|folder| root().join(folder));
    for path in folders.iter().flat_map(|folder| files(folder)) {
        let home = path.parent().expect("inside").to_path_buf();
        let options = options(&home);
        load_suite(&path, &options);
        load_rubric(&path, &options);
        load_targets(&home, Some(&path), &options);
        load_config(&home, &options);
        load_prices(&options.working_folder, &options, &|name| Ok((name.to_owned(), name.to_owned())));
        load_answers(
            &path,
            &AnswerColumns::default(),
            &load_rubric(&home.join("rubric.yaml"), &options),
            &options,
        );
        if let Some(card) = load_scorecard(&path, &options).scorecard {
            load_card_results(&home.join("card-results.jsonl"), &card, &options);
        }
        load_scorecard(&home, &options);
    }
    record::take()
}

#[test]
fn the_schemas_have_the_keys_that_readers_ask_for() {
    let mut written: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let defs = SchemaDefinitions::all();
    for (_, keys) in &defs.maps {
        written.entry(keys.what).or_default().extend(keys.properties.keys().map(String::as_str));
    }
    let mut asked: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (what, keys) in asked_for() {
        asked.entry(what).or_default().extend(keys.into_keys().filter(|key| !key.is_empty()));
    }
    let empty = BTreeSet::new();
    let mut differences = Vec::new();
    for what in written.keys().chain(asked.keys()).collect::<BTreeSet<_>>() {
        let (written, asked) = (written.get(what).unwrap_or(&empty), asked.get(what).unwrap_or(&empty));
        for key in asked.difference(written).filter(|key| !is_of_another_tool(what, key)) {
            differences.push(format!("{what}: `{key}` is read and in no schema"));
        }
        for key in written.difference(asked) {
            differences.push(format!("{what}: `{key}` is in a schema and was never asked for"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns a file as JSON data, as a program that only has the schemas sees it; `None` if it can't be parsed.
fn data(path: &Path) -> Option<Value> {
    let text = String::from_utf8(fs::read(path).ok()?).ok()?;
    parsed(path, &text)
}

fn parsed(path: &Path, text: &str) -> Option<Value> {
    let mut sources = SourceMap::new();
    let mut problems = DiagnosticCollector::default();
    let source = sources.add(path, text);
    let is_json = path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
    let read = if is_json { read_json } else { read_yaml };
    let node = read(&sources, source, &mut problems)?;
    (problems.error_count() == 0).then(|| node.to_json())
}

/// The compiled schemas, in both published forms: each self-contained, and as files of a folder that share
/// definitions.
struct SchemaValidators {
    whole: BTreeMap<&'static str, jsonschema::Validator>,
    files: BTreeMap<String, jsonschema::Validator>,
}

impl SchemaValidators {
    fn new() -> Self {
        const FOLDER: &str = "file:///schemas/";
        let folder = schema_folder();
        let registry = folder
            .iter()
            .try_fold(jsonschema::Registry::new(), |all, (name, schema)| {
                all.add(format!("{FOLDER}{name}"), schema)
            })
            .and_then(jsonschema::RegistryBuilder::prepare)
            .expect("schemas");

        let whole = schemas().into_iter().map(|file| {
            let validator = jsonschema::draft202012::new(&file.schema);
            (file.name, validator.unwrap_or_else(|error| panic!("{}: {error}", file.name)))
        });
        let files = folder.iter().map(|(name, schema)| {
            let options = jsonschema::draft202012::options();
            let validator =
                options.with_base_uri(format!("{FOLDER}{name}")).with_registry(&registry).build(schema);
            (name.clone(), validator.unwrap_or_else(|error| panic!("{name}: {error}")))
        });
        Self { whole: whole.collect(), files: files.collect() }
    }

    /// Returns the errors of a value according to the schema with this name.
    fn against(&self, name: &str, value: &Value) -> Vec<String> {
        let errors: Vec<String> = self.whole[name]
            .iter_errors(value)
            .map(|error| format!("{} at `{}`", error, error.instance_path()))
            .collect();
        let file = &self.files[&schema_file_name(name)];
        assert_eq!(file.is_valid(value), errors.is_empty(), "{name}: its file differs from the whole schema");
        errors
    }

    /// Returns the errors of a file, or of its lines if it is JSONL; `None` if it is not data at all.
    fn against_file(&self, name: &str, line: &str, path: &Path) -> Option<Vec<String>> {
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let text = fs::read_to_string(path).ok()?;
            let mut found = Vec::new();
            for row in text.trim_start_matches('\u{feff}').lines().filter(|row| !row.trim().is_empty()) {
                found.extend(self.against(line, &parsed(path, row)?));
            }
            return Some(found);
        }
        Some(self.against(name, &data(path)?))
    }
}

fn errors(diagnostics: &[Diagnostic]) -> BTreeSet<&'static str> {
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
    errors.map(|found| found.code.as_str()).collect()
}

#[test]
fn what_loads_is_sound_by_its_schema() {
    let validators = SchemaValidators::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut check = |name: &str, line: &str, path: &Path, wrong: &mut Vec<String>| {
        count += 1;
        let found = validators.against_file(name, line, path).unwrap_or_default();
        wrong.extend(found.into_iter().map(|found| format!("{}: {found}", path.display())));
    };
    let own = ["examples", "fixtures/schema"].map(|folder| root().join(folder));
    for folder in own {
        let mut options = options(&folder);
        options.extra_roots = vec![folder.clone()];
        for suite in find_suites(std::slice::from_ref(&folder)).files {
            if !load_suite(&suite, &options).has_errors() {
                check("suite", "case", &suite, &mut wrong);
                let beside = suite.with_extension("yaml");
                if suite.extension().is_some_and(|ending| ending == "jsonl") && beside.is_file() {
                    check("suite-settings", "case", &beside, &mut wrong);
                }
            }
        }
        for path in files(&folder) {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            let home = path.parent().expect("inside");
            if name.ends_with("targets.yaml") && !load_targets(home, Some(&path), &options).has_errors() {
                check("targets", "targets", &path, &mut wrong);
            }
            if path.ends_with(".assize/config.yaml") {
                check("config", "config", &path, &mut wrong);
            }
            let is_rubric = path.parent().is_some_and(|folder| folder.ends_with("examples/rubrics"));
            if is_rubric && name.ends_with("yaml") && !load_rubric(&path, &options).has_errors() {
                check("rubric-file", "answer", &path, &mut wrong);
            }
            if name.ends_with("yaml")
                && is_scorecard(&path)
                && path.parent() == Some(&root().join("fixtures/schema"))
            {
                check("scorecard", "scorecard", &path, &mut wrong);
            }
        }
    }
    let card = root().join("examples/scorecard");
    for (folder, name, line) in [
        ("rubrics", "scorecard-rubric", "scorecard-rubric"),
        ("benchmarks", "scorecard-benchmark", "scorecard-benchmark"),
        ("cases", "scorecard-cases", "scorecard-case"),
        ("labels", "scorecard-labels", "scorecard-label"),
    ] {
        for path in
            files(&card.join(folder)).iter().filter(|path| path.extension().is_some_and(|end| end != "md"))
        {
            check(name, line, path, &mut wrong);
        }
    }
    assert!(count > 15, "only {count} files");
    assert!(wrong.is_empty(), "{} of {count} files:\n{}", wrong.len(), wrong.join("\n"));
}

/// Codes of errors that no schema can express, with the reason.
const BEYOND_SCHEMAS: &[(&str, &str)] = &[
    ("E0203", "two criteria of one id"),
    ("E0204", "weights that come to nothing"),
    ("E0209", "a range whose first number is the larger one"),
    ("E0302", "a grader's type may be a program that lies beside the file"),
    ("E0312", "templates that include themselves"),
    ("E0313", "templates in templates in templates"),
    ("E0406", "two cases of one id"),
    ("E0407", "no input: the suite may have one"),
    ("E0408", "nothing to grade by: the suite may have graders"),
    ("E0411", "weights that come to nothing"),
    ("E0413", "a borderline line above the pass line"),
    ("E0412", "variables that are not set"),
    ("E0423", "what a template may hold"),
    ("E0424", "how many cases a file comes to"),
    ("E0501", "files that are not there"),
    ("E0502", "files that can't be read"),
    ("E0506", "files that are not there"),
    ("E0507", "patterns that match no file"),
    ("E0603", "two targets of one name"),
    ("E0604", "targets that are not there"),
    ("E0605", "targets that stand for each other"),
    ("E0606", "settings beside `use_target`"),
    ("E0608", "variables that are not set"),
];

/// Invalid files whose error is not about their own keys and values, with the reason.
const BEYOND_THEIR_SCHEMA: &[(&str, &str)] = &[
    ("cases/line_twice.yaml", "the second line stands in another map"),
    ("config/lines.case/.assize/config.yaml", "how two lines lie to each other"),
    ("files/case_folders.case/suite.yaml", "the problem is in another file"),
    ("files/external_broken.case/suite.yaml", "the problem is in another file"),
    ("graders/include_broken.case/suite.yaml", "the problem is in another file"),
    ("targets/agents_and_recordings.yaml", "the values of agents' settings are not described"),
    ("graders/script.yaml", "the syntax of JavaScript"),
    ("graders/unused_settings.yaml", "settings that another setting makes idle"),
    ("jsonl/empty.case/suite.jsonl", "there is no line to look at"),
    ("jsonl/error_inside_settings_graders.case/suite.jsonl", "the problem is in another file"),
];

/// Returns true for keys of another tool's files, which our schemas omit.
fn is_of_another_tool(what: &str, key: &str) -> bool {
    let settings = [
        "export_otel", "keep_workspaces", "otel_backend", "otel_capture_content", "otel_file",
        "otel_group_turns", "pool_slots", "pool_workspaces", "trace_file", "verbose", "workspace_mode",
        "workspace_path",
    ];
    let config = [
        "dashboard", "default_experiment", "default_test", "defaults", "env_from", "env_path",
        "eval_patterns", "execution", "experiments", "guideline_patterns", "hooks", "projects", "providers",
        "refs", "required_version", "results", "studio",
    ];
    match what {
        "`execution`" => settings.contains(&key),
        "a config file" => config.contains(&key),
        "a targets file" => key == "providers",
        "a file with prompts and providers" => key == "redteam",

        _ => false,
    }
}

#[test]
fn what_a_schema_can_see_it_refuses() {
    let validators = SchemaValidators::new();
    let mut missed = Vec::new();
    let (mut caught, mut beyond) = (0, 0);
    let broken = root().join("fixtures/broken");
    for kind in fs::read_dir(&broken).expect("fixtures").filter_map(Result::ok).map(|entry| entry.path()) {
        for case in fs::read_dir(&kind).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path())
        {
            let Some((name, line, path)) = what_is_it(&kind, &case) else { continue };
            let codes = loaded(&kind, &path);
            if codes.is_empty() {
                continue;
            }
            let found = validators.against_file(name, line, &path);
            if codes.iter().all(|code| BEYOND_SCHEMAS.iter().any(|(beyond, _)| beyond == code)) {
                beyond += 1;
            } else if found.as_ref().is_some_and(Vec::is_empty) {
                let name = path.strip_prefix(&broken).expect("inside").to_string_lossy().into_owned();
                if BEYOND_THEIR_SCHEMA.iter().all(|(beyond, _)| *beyond != name) {
                    missed.push(format!("{name}: {codes:?}"));
                }
            } else {
                caught += 1;
            }
        }
    }
    missed.sort();
    assert!(
        missed.is_empty(),
        "{caught} caught, {beyond} beyond, missed {}:\n{}",
        missed.len(),
        missed.join("\n")
    );
    assert!(caught > 80, "{caught} caught");
}

/// Returns the schema for an invalid case, the schema for its lines, and the file.
fn what_is_it(kind: &Path, case: &Path) -> Option<(&'static str, &'static str, PathBuf)> {
    let inside = |names: &[&str]| names.iter().map(|name| case.join(name)).find(|path| path.is_file());
    let file = |names: &[&str]| if case.is_dir() { inside(names) } else { Some(case.to_path_buf()) };
    if !case.is_dir() && case.extension().is_none_or(|ending| ending != "yaml") {
        return None;
    }
    Some(match kind.file_name()?.to_str()? {
        "rubric" => ("rubric-file", "answer", file(&["suite.yaml"])?),
        "targets" => ("targets", "targets", file(&["suite.yaml"])?),
        "config" => ("config", "config", inside(&[".assize/config.yaml"])?),
        "prices" => ("prices", "prices", inside(&[".assize/prices.yaml"])?),
        "answers" => ("answer", "answer", inside(&["answers.jsonl"])?),
        _ => ("suite", "case", file(&["suite.jsonl", "suite.yaml", "suite.json"])?),
    })
}

/// Returns the error codes that loading the file produces.
fn loaded(kind: &Path, path: &Path) -> BTreeSet<&'static str> {
    let home = path.parent().expect("inside").to_path_buf();
    let mut options = options(&home);
    options.environment = Arc::new(|name| (name == "GOLDEN").then(|| "twelve".to_owned()));
    let diagnostics = match kind.file_name().and_then(|name| name.to_str()).unwrap_or_default() {
        "rubric" => load_rubric(path, &options).diagnostics,
        "targets" => load_targets(&home, Some(path), &options).diagnostics,
        "config" => load_config(&home, &options).diagnostics,
        "prices" => {
            options.working_folder = home.parent().unwrap_or(&home).to_path_buf();
            load_prices(&options.working_folder, &options, &|name| Ok((name.to_owned(), name.to_owned())))
                .diagnostics
        }
        "answers" => {
            load_answers(
                path,
                &AnswerColumns::default(),
                &load_rubric(&home.join("rubric.yaml"), &options),
                &options,
            )
            .diagnostics
        }
        _ => load_suite(path, &options).diagnostics,
    };
    errors(&diagnostics)
}
