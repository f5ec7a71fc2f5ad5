//! Includes tests of other files in a list of tests: all of them, or a selection.

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{MapEntry, MapReader, TreeNode, codes, number, wrong_type};
use assize_evalfile::reading::DecodeContext;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use super::matrix_test::{DEFAULT_TEST, MatrixTest};
use super::merge::merge;
use super::test_entries::TestReader;

/// Keys of an included suite that would not apply to its tests.
const OWN_KEYS: [&str; 4] = ["prompts", "scenarios", "environment", "extensions"];

/// Which tests to include. Absent conditions select all.
#[derive(Default)]
struct TestSelection {
    ids: Vec<GlobMatcher>,
    tags: Vec<GlobMatcher>,
    metadata: Vec<MapEntry>,
}

impl TestReader {
    /// Reads an entry `{include, type, select, run}` in a list of tests.
    pub(super) fn read_included(&self, cx: &mut DecodeContext, item: &TreeNode) -> Vec<MatrixTest> {
        let Some(mut object) = MapReader::new(item, "an included file", &mut cx.problems) else {
            return Vec::new();
        };
        let before = cx.problems.error_count();
        let path = object.text("include", &mut cx.problems);
        if let Some(kind) = object.text("type", &mut cx.problems)
            && !["suite", "tests"].contains(&kind.value.as_str())
        {
            Diagnostic::error(codes::BAD_MATRIX_PART, format!("`{}` can't be included", kind.value))
                .at(kind.span, "not a kind of file")
                .with_help("write `suite` or `tests`")
                .add_to(&mut cx.problems);
        }
        let select = object.entry("select").filter(|entry| !entry.value.is_null());
        let selection = select.map(|entry| read_selection(cx, &entry.value)).unwrap_or_default();
        let threshold = object.value("run").and_then(|run| read_run(cx, run));
        object.finish(&mut cx.problems);
        let Some(path) = path.filter(|_| cx.problems.error_count() == before) else { return Vec::new() };

        let mut found = Vec::new();
        self.read_reference(cx, &path.value, path.span, None, &mut found);
        found.retain(|test| selection.takes(test));
        if let Some(entry) = select
            && found.is_empty()
            && cx.problems.error_count() == before
        {
            Diagnostic::error(codes::NO_CASES, "`select` matches none of the included tests")
                .at(entry.value.use_span(), "fits no test")
                .with_help("compare it with the `id`, the tags and the `metadata` of the tests")
                .add_to(&mut cx.problems);
        }
        for test in &mut found {
            // The threshold of the entry replaces the included file's, but not a test's own.
            if threshold.is_some() && !test.has_own_threshold {
                test.threshold.clone_from(&threshold);
            }
        }

        found
    }

    /// Reads the tests of a file that is a suite, and merges the suite's settings into each of them.
    pub(super) fn read_suite_tests(&self, cx: &mut DecodeContext, root: &TreeNode) -> Vec<MatrixTest> {
        for entry in root.as_map().unwrap_or_default() {
            if OWN_KEYS.contains(&entry.key.as_str()) && !entry.value.is_null() {
                Diagnostic::error(
                    codes::NOT_SUPPORTED,
                    format!("an included file can't have `{}` of its own", entry.key),
                )
                .at(entry.key_span, "its tests would run without it")
                .with_help("run that file itself, or move its tests to a file without it")
                .add_to(&mut cx.problems);
            }
        }

        let mut outer = MatrixTest::default();
        let default = root.get("default_test").or_else(|| root.get("defaultTest"));
        if let Some(read) = default.and_then(|node| self.read_test(cx, node, DEFAULT_TEST)) {
            outer = read;
        }
        for key in ["assert", "assertions"] {
            let Some(own) = root.get(key).filter(|own| !own.is_null()) else { continue };
            match own.as_seq() {
                Some(items) => outer.assertions.extend(items.iter().cloned()),
                None => cx.problems.add(wrong_type(own, "`assert`", "a list of assertions")),
            }
        }
        if let Some(node) = root.get("threshold").filter(|node| !node.is_null()) {
            let threshold = number(node, "threshold", &mut cx.problems);
            outer.threshold = outer.threshold.take().or(threshold);
        }

        let tests = root.get("tests").map(|tests| self.read_list(cx, tests)).unwrap_or_default();
        tests.iter().map(|test| with_suite(&outer, test)).collect()
    }
}

/// Returns a test merged with the settings of its own suite.
fn with_suite(outer: &MatrixTest, test: &MatrixTest) -> MatrixTest {
    let mut outer = outer.clone();
    if test.skip_defaults {
        (outer.assertions, outer.assert_span) = (Vec::new(), None);
    }

    merge(&outer, test)
}

impl TestSelection {
    fn takes(&self, test: &MatrixTest) -> bool {
        let fits = |globs: &[GlobMatcher], text: &str| globs.iter().any(|glob| glob.is_match(text));
        let with_id =
            self.ids.is_empty() || test.id.as_ref().is_some_and(|id| fits(&self.ids, id.value.trim()));
        let with_tag = self.tags.is_empty() || tags_of(test).iter().any(|tag| fits(&self.tags, tag));

        with_id
            && with_tag
            && self.metadata.iter().all(|wanted| {
                let own = test.metadata.iter().find(|entry| entry.key == wanted.key);
                own.is_some_and(|own| shares_value(&own.value.to_json(), &wanted.value.to_json()))
            })
    }
}

/// Returns the tags of a test, including those in its metadata.
fn tags_of(test: &MatrixTest) -> Vec<String> {
    let entries = test.case_keys.iter().chain(&test.metadata).filter(|entry| entry.key == "tags");
    entries
        .flat_map(|entry| match &entry.value.data {
            assize_document::NodeValue::Seq(items) => items.clone(),
            _ => vec![entry.value.clone()],
        })
        .filter_map(|node| node.as_str().map(str::to_owned))
        .collect()
}

/// Returns true if two values are equal. If one is a list, one equal element suffices.
fn shares_value(own: &Value, wanted: &Value) -> bool {
    match (own, wanted) {
        (_, Value::Array(wanted)) => wanted.iter().any(|wanted| shares_value(own, wanted)),
        (Value::Array(own), _) => own.iter().any(|own| shares_value(own, wanted)),
        _ => own == wanted,
    }
}

/// Reads `select`: patterns of ids, or a map of patterns.
fn read_selection(cx: &mut DecodeContext, node: &TreeNode) -> TestSelection {
    if node.as_map().is_none() {
        return TestSelection { ids: read_patterns(cx, node), ..TestSelection::default() };
    }
    let Some(mut object) = MapReader::new(node, "`select`", &mut cx.problems) else {
        return TestSelection::default();
    };
    let ids = object.first_of(&["test_ids", "testIds"], &mut cx.problems);
    let tags = object.value("tags");
    let metadata = match object.value("metadata") {
        None => Vec::new(),
        Some(node) => node.as_map().map_or_else(
            || {
                cx.problems.add(wrong_type(node, "`metadata`", "a map"));
                Vec::new()
            },
            <[_]>::to_vec,
        ),
    };
    object.finish(&mut cx.problems);

    TestSelection {
        ids: ids.map(|entry| read_patterns(cx, &entry.value)).unwrap_or_default(),
        tags: tags.map(|node| read_patterns(cx, node)).unwrap_or_default(),
        metadata,
    }
}

fn read_patterns(cx: &mut DecodeContext, node: &TreeNode) -> Vec<GlobMatcher> {
    let single = std::slice::from_ref(node);
    let mut globs = Vec::new();
    for item in node.as_seq().unwrap_or(single) {
        let Some(pattern) = item.as_str().map(str::trim).filter(|pattern| !pattern.is_empty()) else {
            cx.problems.add(wrong_type(item, "a pattern of `select`", "a text"));
            continue;
        };
        match GlobBuilder::new(pattern).literal_separator(true).build() {
            Ok(glob) if pattern.len() <= MAX_PATTERN_BYTES => globs.push(glob.compile_matcher()),
            Ok(_) => cx.problems.add(bad_pattern(item, "it is too long".to_owned())),
            Err(error) => cx.problems.add(bad_pattern(item, error.kind().to_string())),
        }
    }

    globs
}

/// Maximum number of bytes of a pattern for ids. The library panics if the compiled pattern is too large.
const MAX_PATTERN_BYTES: usize = 200;

fn bad_pattern(node: &TreeNode, reason: String) -> Diagnostic {
    Diagnostic::error(codes::BAD_MATRIX_PART, "this pattern can't be used")
        .at(node.use_span(), reason)
        .with_help("`*` stands for any letters of an id")
}

/// Reads `run` of an entry, which may set the threshold of its tests. Other keys are errors.
fn read_run(cx: &mut DecodeContext, node: &TreeNode) -> Option<SpannedValue<f64>> {
    let mut object = MapReader::new(node, "`run` of an included file", &mut cx.problems)?;
    let threshold = object.number("threshold", &mut cx.problems);
    for key in ["repeat", "timeout_seconds", "budget_usd"] {
        if let Some(entry) = object.entry(key).filter(|entry| !entry.value.is_null()) {
            Diagnostic::error(codes::NOT_SUPPORTED, format!("`{key}` of `run` is not supported"))
                .at(entry.key_span, "not for single files")
                .with_help("run the included file itself, with that setting")
                .add_to(&mut cx.problems);
        }
    }
    object.finish(&mut cx.problems);

    threshold
}
