//! Tests of workflow files: YAML that loads, jobs that run somewhere, steps that do something.

use std::path::Path;

use assize_document::ParsedDocument;
use serde_json::Value;

/// Returns the problems of a workflow file.
fn lint(name: &str, text: &str) -> Vec<String> {
    let value = match ParsedDocument::parse(Path::new(name), text) {
        Ok(document) => document.value(),
        Err((diagnostics, _)) => {
            return diagnostics.iter().map(|found| format!("{name}: {}", found.title)).collect();
        }
    };

    let mut found = Vec::new();
    if value.get("on").is_none() {
        found.push(format!("{name}: nothing starts it (`on`)"));
    }

    let Some(jobs) = value["jobs"].as_object().filter(|jobs| !jobs.is_empty()) else {
        found.push(format!("{name}: no `jobs`"));
        return found;
    };
    for (job, settings) in jobs {
        found.extend(lint_job(settings, jobs).into_iter().map(|what| format!("{name}: job `{job}`: {what}")));
    }

    found
}

fn lint_job(job: &Value, jobs: &serde_json::Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    if !job["runs-on"].is_string() {
        found.push("no `runs-on`".to_owned());
    }

    let needs = job["needs"].as_str().into_iter().chain(texts(&job["needs"]));
    found
        .extend(needs.filter(|needed| !jobs.contains_key(*needed)).map(|needed| format!("needs `{needed}`")));

    let steps = job["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
    if steps.is_empty() {
        found.push("no `steps`".to_owned());
    }

    for (index, step) in steps.iter().enumerate() {
        let does = ["uses", "run"].iter().filter(|key| step[**key].is_string()).count();
        if does != 1 {
            found.push(format!("step {} has not one of `uses` and `run`", index + 1));
        }
        if step["uses"].as_str().is_some_and(|action| !action.contains('@') && !action.starts_with("./")) {
            found.push(format!("step {}: `uses` names no version", index + 1));
        }
    }

    found
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[test]
fn workflows_of_this_repository_run() {
    let folder = xtask::shell::root().join(".github/workflows");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a workflow is text");
        assert_eq!(lint(&path.display().to_string(), &text), Vec::<String>::new());
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}

#[test]
fn a_workflow_that_runs_is_fine() {
    let text = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: x/y@v1\n      - run: z\n";
    assert_eq!(lint("w.yml", text), Vec::<String>::new());
}

#[test]
fn what_does_not_run_is_found() {
    assert_eq!(lint("w.yml", "on: push\njobs: {").len(), 1);
    assert_eq!(lint("w.yml", "jobs: {}").len(), 2);
    let text = "on: push\njobs:\n  a:\n    needs: [b]\n    steps:\n      - uses: x/y\n      - name: z\n";
    assert_eq!(lint("w.yml", text).len(), 4, "{:?}", lint("w.yml", text));
}
