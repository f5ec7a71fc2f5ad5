//! Reads the `tests` of matrix files: maps, and files of them.

use std::cell::RefCell;
use std::path::Path;

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{
    MapEntry, MapReader, NodeValue, PROGRAM_ENDINGS, TreeNode, ValueSize, codes, file_extension,
    read_json_in, string, wrong_type,
};
use assize_evalfile::reading::{DecodeContext, find_matches, read_source, read_tree, refuse_foreign_keys};
use assize_model::NamedProgram;
use assize_rubric::composed_name;
use assize_table::{SheetPath, is_table};
use serde_json::Value;

use super::assertion_types::resolve_assertion_type;
use super::code_part::{CodeCall, CodePart, CodeResult, WrittenPart, names_code, run_calls};
use super::keys::{OPTION_KEYS, TEST_KEYS};
use super::matrix_test::{DEFAULT_TEST, MatrixTest, TestOptions};
use super::spelling::{MatrixSpelling, head, report_idle};
use super::table::add_tests_of_table;
use super::values::no_effect;

/// Keys of a test that a case in the `tests` format also has.
const CASE_KEYS: [&str; 12] = [
    "criteria", "conversation_id", "mode", "turns", "aggregation", "on_turn_failure", "window_size",
    "depends_on", "on_dependency_failure", "input_files", "expected_output", "tags",
];

/// Keys under which people who know other tools write the assertions of a test.
const OTHER_LISTS: &[&str] =
    &["assertions", "checks", "evaluators", "expect", "expectations", "expects", "graders", "rubrics"];

/// Keys that promptfoo's tests do not have, with what to write instead.
const FOREIGN_KEYS: &[(&str, &str)] = &[
    ("answer", "write the answer to grade as `providerOutput`"),
    ("criteria", "write each criterion under `assert`: `- {type: llm-rubric, value: TEXT}`"),
    ("expected", "write what to check under `assert`, as in `- {type: contains, value: TEXT}`"),
    ("expected_output", "write what to check under `assert`, as in `- {type: contains, value: TEXT}`"),
    ("input", "write what the prompt needs under `vars`, by the names in its `{{ }}`"),
    ("name", "write the name as `description`"),
    ("output", "write the answer to grade as `providerOutput`"),
    ("prompt", "write the prompt under `prompts` of the file, and what it needs under `vars` of the test"),
    ("question", "write what the prompt needs under `vars`, by the names in its `{{ }}`"),
    ("type", "indent it below the `-` of its assertion"),
    ("value", "indent it as far as the `type` of its assertion"),
];

/// Reader of tests.
pub(super) struct TestReader {
    pub(super) spelling: MatrixSpelling,
    /// Programs that write tests and were not run.
    unrun: RefCell<Vec<CodePart>>,
    /// What the tests of tables take in memory.
    in_tables: RefCell<ValueSize>,
}

impl TestReader {
    pub(super) fn new(spelling: MatrixSpelling) -> Self {
        Self { spelling, unrun: RefCell::default(), in_tables: RefCell::default() }
    }

    /// Reports the programs that write tests and were not run, in a single diagnostic. Returns them.
    pub(super) fn report_unrun(&self, cx: &mut DecodeContext) -> Vec<NamedProgram> {
        let unrun = self.unrun.borrow();
        if let Some((first, others)) = unrun.split_first() {
            let diagnostic =
                Diagnostic::warning(codes::CODE_NOT_RUN, "tests come from a program, which was not run")
                    .at(first.span, "needs `--allow-code`");
            let diagnostic =
                others.iter().fold(diagnostic, |found, part| found.with_secondary(part.span, "so does this"));
            cx.problems.add(diagnostic.with_help(
                "look at the program, which gets your permissions, then run `assize eval FILE --allow-code`",
            ));
        }

        unrun.iter().map(|part| part.named(cx)).collect()
    }

    /// Reads the tests under `tests`: a list, or the path of a file.
    pub(super) fn read_list(&self, cx: &mut DecodeContext, node: &TreeNode) -> Vec<MatrixTest> {
        let mut found = Vec::new();
        match &node.data {
            NodeValue::Seq(items) => {
                for item in items {
                    self.read_item(cx, item, &mut found);
                }
            }
            NodeValue::Str(written) => self.read_reference(cx, written, node.use_span(), None, &mut found),
            NodeValue::Map(_) if node.get("path").is_some() => self.read_item(cx, node, &mut found),
            NodeValue::Null => {}
            _ => wrong_type(node, "`tests`", "a list of tests, or the path of a file")
                .with_help("begin each test with `- `")
                .add_to(&mut cx.problems),
        }

        found
    }

    fn read_item(&self, cx: &mut DecodeContext, item: &TreeNode, found: &mut Vec<MatrixTest>) {
        match &item.data {
            NodeValue::Str(written) => self.read_reference(cx, written, item.use_span(), None, found),
            NodeValue::Map(_) if item.get("vars").is_none() && item.get("include").is_some() => {
                found.extend(self.read_included(cx, item));
            }
            NodeValue::Map(_) => match item.get("path").and_then(TreeNode::as_str) {
                Some(path) if item.get("vars").is_none() => {
                    self.read_reference(cx, path, item.use_span(), item.get("config"), found);
                }
                _ => found.extend(self.read_test(cx, item, "a test")),
            },
            _ => cx.problems.add(wrong_type(item, "a test", "a map or the path of a file")),
        }
    }

    /// Reads the tests in a file. `config` are the settings for a function that writes them.
    pub(super) fn read_reference(
        &self,
        cx: &mut DecodeContext,
        written: &str,
        span: Span,
        config: Option<&TreeNode>,
        found: &mut Vec<MatrixTest>,
    ) {
        if let Some(scheme) =
            written.split_once("://").map(|(scheme, _)| scheme).filter(|scheme| *scheme != "file")
        {
            Diagnostic::error(codes::UNKNOWN_FILE_KIND, "tests are not fetched from other machines")
                .at(span, format!("found `{scheme}://`"))
                .with_help("save them as a CSV, XLSX, YAML or JSONL file, and name that")
                .add_to(&mut cx.problems);
            return;
        }

        let path = written.strip_prefix("file://").unwrap_or(written).trim();
        if is_pattern(path) {
            for file in find_matches(cx, path, span) {
                cx.read_inside(span, |cx| self.read_file(cx, &file, span, found));
            }
            return;
        }

        if names_code(path) {
            found.extend(self.read_generated(cx, path, span, config));
            return;
        }
        if let Some(sheet) = SheetPath::parse(Path::new(path)) {
            if let Some(file) = cx.find_file(&sheet.file.to_string_lossy(), span) {
                let path = SheetPath { file, ..sheet }.to_string();
                add_tests_of_table(cx, Path::new(&path), span, &mut self.in_tables.borrow_mut(), found);
            }
            return;
        }
        if let Some(file) = cx.find_file(path, span) {
            if file.is_dir() {
                cx.problems.add(unknown_kind("", span));
            } else {
                cx.read_inside(span, |cx| self.read_file(cx, &file, span, found));
            }
        }
    }

    /// Reads the tests that a function returned.
    fn read_generated(
        &self,
        cx: &mut DecodeContext,
        path: &str,
        span: Span,
        config: Option<&TreeNode>,
    ) -> Vec<MatrixTest> {
        let Some(part) = CodePart::read(cx, WrittenPart::Tests, path, span) else { return Vec::new() };
        let arguments = config.and_then(|node| with_file(cx, node)).map(|node| node.to_json());
        let call = CodeCall { part: &part, arguments: arguments.into_iter().collect() };
        let problem = match run_calls(cx, &[call]).pop() {
            Some(CodeResult::Value(Value::Array(tests))) => {
                // They become a separate source, because judges are identified by their spans.
                let text = serde_json::to_string_pretty(&tests).unwrap_or_default();
                let length = text.len();
                // The path may be followed by the name of a function.
                let file = match path.rsplit_once(':') {
                    Some((file, _)) if names_code(file) => file,
                    _ => path,
                };
                // Spans are positions in the returned text, so the source must not have the name of the file:
                // suggestions must not be applied to the file.
                let shown = cx.folder_of(span.source).join(format!("{file} (what it returned)"));
                let source = cx.sources.add(shown, text);
                let root = read_json_in(&cx.sources, source, 0..length, &mut cx.problems);
                return root.map(|root| self.read_list(cx, &root)).unwrap_or_default();
            }
            Some(CodeResult::Value(_)) => part.misfit("it returned no list"),
            Some(CodeResult::Failed(reason)) => part.failure(reason),
            Some(CodeResult::NotRun) | None => {
                self.unrun.borrow_mut().push(part);
                return Vec::new();
            }
        };
        cx.problems.add(problem);
        Vec::new()
    }

    fn read_file(&self, cx: &mut DecodeContext, path: &Path, span: Span, found: &mut Vec<MatrixTest>) {
        match file_extension(path).as_str() {
            "yaml" | "yml" | "json" => {
                let Some(source) = read_source(cx, path, Some(span)) else { return };
                let Some(root) = read_tree(cx, source) else { return };
                match &root.data {
                    NodeValue::Map(_) if root.get("tests").is_none() => {
                        found.extend(self.read_test(cx, &root, "a test"));
                    }
                    NodeValue::Map(_) => {
                        found.extend(self.read_suite_tests(cx, &root));
                    }
                    _ => found.extend(self.read_list(cx, &root)),
                }
            }
            "jsonl" => {
                let Some(source) = read_source(cx, path, Some(span)) else { return };
                let text = cx.sources.file(source).shared_text();
                let mut start = 0;
                for line in text.split_inclusive('\n') {
                    let end = start + line.trim_end().len();
                    if !line.trim().is_empty()
                        && let Some(node) = read_json_in(&cx.sources, source, start..end, &mut cx.problems)
                    {
                        found.extend(self.read_test(cx, &node, "a test"));
                    }
                    start += line.len();
                }
            }
            _ if is_table(path) => {
                add_tests_of_table(cx, path, span, &mut self.in_tables.borrow_mut(), found);
            }
            other => cx.problems.add(unknown_kind(other, span)),
        }
    }

    /// Reads a test. Returns `None` after adding a diagnostic.
    pub(super) fn read_test(
        &self,
        cx: &mut DecodeContext,
        node: &TreeNode,
        what: &'static str,
    ) -> Option<MatrixTest> {
        let spelling = self.spelling;
        let mut object = MapReader::new(node, what, &mut cx.problems)?;
        let mut test = MatrixTest { head: Some(head(node)), ..MatrixTest::default() };

        {
            let key = "$schema";
            object.entry(key);
        }
        test.id = object.text("id", &mut cx.problems);
        test.description = object.string("description", &mut cx.problems).map(|text| text.value);
        let vars = object.entry("vars").or_else(|| object.misspelt("vars", &["variables"], &mut cx.problems));
        if let Some(entry) = vars.filter(|entry| !entry.value.is_null()) {
            match read_vars(cx, &entry.value) {
                Some(vars) => {
                    warn_about_indented(cx, &vars);
                    test.vars = vars;
                }
                None => test.is_broken = true,
            }
        }
        let assertions = object.entry("assert");
        // AgentV's own files use both spellings.
        let assertions = match spelling {
            MatrixSpelling::Snake if assertions.is_none() => object.entry("assertions"),
            _ => assertions,
        };
        let assertions = assertions.or_else(|| object.misspelt("assert", OTHER_LISTS, &mut cx.problems));
        if let Some(entry) = assertions.filter(|entry| !entry.value.is_null()) {
            test.assert_span = Some(entry.key_span);
            match read_assertions(cx, &entry.value) {
                Some(assertions) => test.assertions = assertions,
                None => test.is_broken = true,
            }
        }

        test.threshold = object.number("threshold", &mut cx.problems);
        if let Some(metadata) = object.value("metadata") {
            match metadata.as_map() {
                Some(entries) => test.metadata = entries.to_vec(),
                None => cx.problems.add(wrong_type(metadata, "`metadata`", "a map")),
            }
        }

        test.prompts = object.names("prompts", &mut cx.problems);
        test.providers = object.names("providers", &mut cx.problems);
        let provider = object.value("provider");
        test.output =
            spelling.entry(&mut object, "providerOutput", &mut cx.problems).map(|entry| entry.value.clone());
        test.scoring = spelling
            .entry(&mut object, "assertScoringFunction", &mut cx.problems)
            .filter(|entry| !entry.value.is_null())
            .and_then(|entry| string(&entry.value, &entry.key, &mut cx.problems));

        let mut alone = spelling.flag(&mut object, "disableDefaultAsserts", &mut cx.problems);
        if let Some(options) = object.value("options") {
            test.options = self.read_options(cx, options, &mut alone);
        }
        if let Some(execution) = object.value("execution") {
            alone |= Self::read_execution(cx, execution, &mut test);
        }
        test.skip_defaults = alone;
        test.has_own_threshold = test.threshold.is_some();

        // The provider of the default test is the judge; the provider of a test answers.
        if let Some(provider) = provider {
            if what == DEFAULT_TEST {
                test.options.judge.get_or_insert_with(|| provider.clone());
            } else if let Some(name) = provider.as_str() {
                test.providers.push(SpannedValue::new(composed_name(name.to_owned()), provider.use_span()));
            }
        }

        if spelling == MatrixSpelling::Snake {
            test.input = object.value("input").cloned();
            let written = CASE_KEYS.into_iter().filter_map(|key| object.entry(key));
            test.case_keys.extend(written.filter(|entry| !entry.value.is_null()).cloned());
        }

        if vars.is_some_and(|entry| entry.value.is_null()) {
            test.is_broken |= refuse_outdented(cx, &mut object, node);
        }
        if spelling == MatrixSpelling::Camel {
            refuse_foreign_keys(cx, &mut object, FOREIGN_KEYS);
            refuse_types_as_keys(cx, &mut object, node);
        }
        object.finish(&mut cx.problems);
        Some(test)
    }

    fn read_options(&self, cx: &mut DecodeContext, node: &TreeNode, alone: &mut bool) -> TestOptions {
        let spelling = self.spelling;
        let Some(mut object) = MapReader::new(node, "`options` of a test", &mut cx.problems) else {
            return TestOptions::default();
        };
        let transform = object.string("transform", &mut cx.problems);
        let older = object.string("postprocess", &mut cx.problems);
        let transform_vars = spelling
            .entry(&mut object, "transformVars", &mut cx.problems)
            .and_then(|entry| string(&entry.value, &entry.key, &mut cx.problems));
        let options = TestOptions {
            judge: object.value("provider").cloned(),
            transform: transform.or(older),
            transform_vars,
            rubric_prompt: spelling
                .entry(&mut object, "rubricPrompt", &mut cx.problems)
                .map(|entry| entry.value.clone()),
            prefix: object.string("prefix", &mut cx.problems).map(|text| text.value),
            suffix: object.string("suffix", &mut cx.problems).map(|text| text.value),
            disable_expansion: spelling.flag(&mut object, "disableVarExpansion", &mut cx.problems),
            disable_conversation: spelling.flag(&mut object, "disableConversationVar", &mut cx.problems),
            store: spelling
                .entry(&mut object, "storeOutputAs", &mut cx.problems)
                .filter(|entry| !entry.value.is_null())
                .and_then(|entry| string(&entry.value, &entry.key, &mut cx.problems)),
            runs_serially: spelling
                .entry(&mut object, "runSerially", &mut cx.problems)
                .is_some_and(|entry| matches!(entry.value.data, NodeValue::Bool(true))),
        };
        *alone |= spelling.flag(&mut object, "disableDefaultAsserts", &mut cx.problems);

        report_idle(cx, &mut object, spelling, OPTION_KEYS);
        object.finish_leniently(&mut cx.problems);
        options
    }

    /// Reads `execution` of an AgentV test. Returns true if the defaults are skipped.
    fn read_execution(cx: &mut DecodeContext, node: &TreeNode, test: &mut MatrixTest) -> bool {
        let Some(mut object) = MapReader::new(node, "`execution` of a test", &mut cx.problems) else {
            return false;
        };
        let skip = object.boolean("skip_defaults", &mut cx.problems).is_some_and(|skip| skip.value);
        if let Some(threshold) = object.number("threshold", &mut cx.problems) {
            test.threshold.get_or_insert(threshold);
        }
        if let Some(list) = object.value("assert") {
            test.assertions.extend(read_assertions(cx, list).unwrap_or_default());
        }
        let idle = ["cache", "fail_on_error", "budget_usd"].into_iter().filter_map(|key| object.entry(key));
        cx.problems.extend(idle.map(|entry| no_effect(entry, "a setting of the whole run here")));

        object.finish(&mut cx.problems);
        skip
    }
}

/// Reports keys after an empty `vars` that are not keys of a test: these are variables that were not indented.
/// Returns true if there are any.
fn refuse_outdented(cx: &mut DecodeContext, object: &mut MapReader<'_>, node: &TreeNode) -> bool {
    let entries = node.as_map().unwrap_or_default();
    let after = entries.iter().skip_while(|entry| entry.key != "vars").skip(1);
    let is_own = |key: &str| TEST_KEYS.iter().any(|row| row.name == key) || key.starts_with("x-");
    let variables: Vec<&MapEntry> = after.take_while(|entry| !is_own(&entry.key)).collect();
    for entry in &variables {
        object.foreign(&entry.key);
        Diagnostic::error(codes::UNKNOWN_KEY, format!("`{}` is not below `vars`", entry.key))
            .at(entry.key_span, "a key of the test, as it is indented")
            .with_help("indent it further than `vars`, so that it is a variable")
            .add_to(&mut cx.problems);
    }

    !variables.is_empty()
}

/// Warns if `assert` is among the variables, because it is indented too far.
fn warn_about_indented(cx: &mut DecodeContext, vars: &[MapEntry]) {
    let is_list = |entry: &&MapEntry| {
        let items = entry.value.as_seq().unwrap_or_default();
        entry.key == "assert" && items.iter().any(|item| item.get("type").is_some())
    };
    if let Some(entry) = vars.iter().find(is_list) {
        Diagnostic::warning(
            codes::READ_DIFFERENTLY,
            "`assert` is a variable here, and nothing is checked by it",
        )
        .at(entry.key_span, "below `vars`")
        .with_help("indent it as far as `vars`")
        .add_to(&mut cx.problems);
    }
}

/// Reports keys of a test that are types of assertions.
fn refuse_types_as_keys(cx: &mut DecodeContext, object: &mut MapReader<'_>, node: &TreeNode) {
    for entry in node.as_map().unwrap_or_default() {
        if resolve_assertion_type(&entry.key).is_none() || object.foreign(&entry.key).is_none() {
            continue;
        }
        Diagnostic::error(codes::UNKNOWN_KEY, format!("unknown key `{}`", entry.key))
            .at(entry.key_span, "the type of an assertion")
            .with_help(format!("write it under `assert`: `- {{type: {}, value: ...}}`", entry.key))
            .add_to(&mut cx.problems);
    }
}

/// Reads a list of assertions, following references to files of them. Returns `None` after adding a diagnostic.
fn read_assertions(cx: &mut DecodeContext, node: &TreeNode) -> Option<Vec<TreeNode>> {
    match &node.data {
        NodeValue::Seq(items) => Some(items.clone()),
        NodeValue::Map(_) => Some(vec![node.clone()]),
        NodeValue::Str(written) if written.starts_with("file://") => {
            match super::providers::read_settings(cx, written, node.use_span()) {
                Some(TreeNode { data: NodeValue::Seq(items), .. }) => Some(items),
                other => Some(vec![other?]),
            }
        }
        _ => {
            wrong_type(node, "`assert`", "a list of assertions")
                .with_help("write `- type: contains`, and below it `value: TEXT`")
                .add_to(&mut cx.problems);
            None
        }
    }
}

/// Reads variables: a map, or the path of a file that contains a map, or a pattern of such files. Returns `None` after
/// adding a diagnostic.
fn read_vars(cx: &mut DecodeContext, node: &TreeNode) -> Option<Vec<MapEntry>> {
    match &node.data {
        NodeValue::Map(entries) => Some(entries.clone()),
        NodeValue::Str(written) if is_sheet(written) => {
            cx.problems.reject(sheet_of_variables(node.use_span()))
        }
        NodeValue::Str(written) => {
            let (span, path) = (node.use_span(), written.strip_prefix("file://").unwrap_or(written).trim());
            let files =
                if is_pattern(path) { find_matches(cx, path, span) } else { vec![cx.find_file(path, span)?] };
            let mut found: Vec<MapEntry> = Vec::new();
            for file in files {
                let source = read_source(cx, &file, Some(span))?;
                let root = read_tree(cx, source)?;
                let NodeValue::Map(entries) = root.data else {
                    return cx.problems.reject(wrong_type(&root, "a file of variables", "a map"));
                };
                // Of several files with the same variable, the last counts.
                found.retain(|known| entries.iter().all(|entry| entry.key != known.key));
                found.extend(entries);
            }
            Some(found)
        }
        _ => {
            wrong_type(node, "`vars`", "a map of names and values")
                .with_help("write the name and the value of each variable: `vars: {question: TEXT}`")
                .add_to(&mut cx.problems);
            None
        }
    }
}

/// Returns true if a path is a pattern of several.
fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// Returns true if a path names a spreadsheet, or another table that is not a text file.
pub(super) fn is_sheet(written: &str) -> bool {
    SheetPath::parse(Path::new(written.strip_prefix("file://").unwrap_or(written).trim())).is_some()
}

/// Returns the error that a table is used for variables.
pub(super) fn sheet_of_variables(span: Span) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_FILE_KIND, "variables are not read from a table")
        .at(span, "a file of rows")
        .with_help("name it as `tests: file://NAME.xlsx`; each row is a test, and each column a variable")
}

/// Returns settings; if they name a file, the settings in the file.
fn with_file(cx: &mut DecodeContext, node: &TreeNode) -> Option<TreeNode> {
    match node.as_str().filter(|text| text.starts_with("file://")) {
        Some(written) => super::providers::read_settings(cx, written, node.use_span()),
        None => Some(node.clone()),
    }
}

fn unknown_kind(ending: &str, span: Span) -> Diagnostic {
    let help = match ending {
        ending if PROGRAM_ENDINGS.contains(&ending) => "name each program by itself, not by a pattern",
        "xls" | "ods" => "save it as an .xlsx or a CSV file, and name that",
        _ => "tests come from .yaml, .json, .jsonl, .csv, .tsv, .xlsx and .parquet files",
    };
    let found = if ending.is_empty() { "no ending".to_owned() } else { format!("found `.{ending}`") };

    Diagnostic::error(codes::UNKNOWN_FILE_KIND, "tests are not read from this kind of file")
        .at(span, found)
        .with_help(help)
}
