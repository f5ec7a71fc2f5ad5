//! Reads a matrix file: its top level, and from there its cases.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_evalfile::SuiteCases;
use assize_evalfile::reading::{
    CaseCollector, DecodeContext, InlineTargets, SuiteDefaults, decode_free_map, decode_suite, decode_tags,
    default_name,
};
use assize_model::{Suite, SuiteExtensions};
use serde_json::{Map, Value};

use super::assertion_counter::AssertionCounter;
use super::authored::MatrixSource;
use super::expand::{MAX_MATRIX_CASES, MatrixExpander};
use super::extensions::{ReadExtensions, SuiteParts, read_extensions, workspace_functions};
use super::filters::CustomFilters;
use super::history::FileHistory;
use super::keys::{EVALUATION_KEYS, MATRIX_KEYS};
use super::matrix_file::MatrixFile;
use super::matrix_test::{DEFAULT_TEST, MatrixTest};
use super::matrix_tests::{MatrixTests, Scenario};
use super::metrics::DerivedMetrics;
use super::nodes::MapNode;
use super::prompts::PromptReader;
use super::providers::{ProviderReader, read_settings};
use super::spelling::{MatrixSpelling, report_idle};
use super::template::TemplateRenderer;
use super::test_entries::TestReader;
use super::values::no_effect;

/// Loads a matrix file. Returns `None` after adding a diagnostic.
pub fn load_matrix(cx: &mut DecodeContext, path: &Path, root: &TreeNode) -> Option<(Suite, SuiteCases)> {
    let spelling = MatrixSpelling::detect(path, root);
    let mut object = MapReader::new(root, "a file with prompts and providers", &mut cx.problems)?;
    let mut settings = MapNode::new(object.span());
    let templates = Arc::new(read_templates(cx, &mut object, spelling));

    let folder = path.parent().unwrap_or(Path::new(""));
    let mut targets =
        InlineTargets::new(&std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf()));
    let mut providers = ProviderReader { spelling, targets: &mut targets, found: Vec::new() };
    if let Some(entry) = object.first_of(&["providers", "targets"], &mut cx.problems) {
        providers.read_list(cx, &entry.value);
    }
    let mut prompts = PromptReader::default();
    if let Some(entry) = object.entry("prompts").filter(|entry| !entry.value.is_null()) {
        prompts.read_list(cx, &entry.value);
    }

    let tests = TestReader::new(spelling);
    let mut default = read_default(cx, &mut object, &tests);
    read_shared(cx, &mut object, &mut default);
    let mut all = MatrixTests::default();
    let list = object.entry("tests");
    if let Some(list) = list {
        all.written = tests.read_list(cx, &list.value);
    }
    let written = object.entry("extensions").filter(|entry| !entry.value.is_null());
    let extensions = written.map(|entry| read_extensions(cx, entry));
    let written = object.entry("scenarios").filter(|entry| !entry.value.is_null());
    let mut scenarios = written.map(|entry| entry.value.clone());
    let parts = SuiteParts { prompts: &mut prompts.found, default: &mut default, tests: &mut all.written };
    let mut shown = extensions.as_ref().map(|_| {
        let description = root.get("description").map(TreeNode::to_json);
        parts.to_value(description.as_ref(), &providers.found, scenarios.as_ref())
    });
    let is_changed = cx.changed_suite.is_some();
    if let (Some(sent), Some(changed)) = (&mut shown, cx.changed_suite.take()) {
        scenarios = parts.apply(cx, spelling, path, sent, &changed).or(scenarios);
        *sent = changed;
    }
    if let Some(scenarios) = &scenarios {
        read_scenarios(cx, &tests, scenarios, &mut all);
    }
    let unrun_code = tests.report_unrun(cx);
    // If there are only prompts, each of them is sent once.
    if scenarios.is_none() && all.written.is_empty() && list.is_none_or(|list| list.value.is_null()) {
        all.written.push(MatrixTest {
            head: Some(object.head()),
            is_stand_in: true,
            ..MatrixTest::default()
        });
    }

    let derived = DerivedMetrics::read(cx, &mut object, spelling);
    read_options(cx, &mut object, spelling, &mut settings);
    report_idle(cx, &mut object, spelling, MATRIX_KEYS);
    spelling.entry(&mut object, "assertionTemplates", &mut cx.problems);
    object.entry("$schema");
    let (mut suite, defaults) = read_suite(cx, &mut object, settings, path)?;
    suite.unrun_code = unrun_code;
    if let Some((read, shown)) = extensions.zip(shown) {
        add_extensions(&mut suite, read, shown, root, spelling);
    }
    let judges = super::test_judges::judges_of(cx, &mut providers, &default, &all);
    let found = providers.found;
    object.finish(&mut cx.problems);

    prompts.name_for_results();
    let assertions = AssertionCounter::default();
    let file =
        MatrixFile { spelling, root, default, prompts, providers: found, tests: all, templates, assertions };
    let mut collector = CaseCollector::new(defaults, cx.problems.error_count());
    let changing = suite.extensions.as_ref().filter(|extensions| !extensions.in_workspace);
    let history = FileHistory::read(cx, &file);
    let writes_again = changing.is_some() || !history.is_empty();
    let source = writes_again.then(|| MatrixSource::new(cx, &file, &judges, &collector.defaults));
    let metrics = MatrixExpander::new(&file, &judges)
        .with_source(source, history)
        .expand(cx, &mut suite, &mut collector);
    derived.finish(cx, &metrics, &mut suite);
    let gains_tests = !is_changed && suite.extensions.as_ref().is_some_and(|all| all.may_add_tests());
    if !collector.met && suite.unrun_code.is_empty() && cx.problems.error_count() == 0 && !gains_tests {
        let at = list.map_or(root.use_span().start_point(), |list| list.key_span);
        Diagnostic::error(codes::NO_CASES, "there are no tests")
            .at(at, "this makes no cases")
            .with_help("add a test with `vars` and `assert`")
            .add_to(&mut cx.problems);
    }

    collector.check_dependencies(cx);
    let (defined, sources) = targets.finish(&cx.sources);
    suite.defined_targets = defined;
    cx.sources = sources;

    Some((suite, collector.into_cases()))
}

/// Adds extensions to a suite. `shown` is the suite as JSON, which they receive.
fn add_extensions(
    suite: &mut Suite,
    mut read: ReadExtensions,
    shown: Value,
    root: &TreeNode,
    spelling: MatrixSpelling,
) {
    suite.unbuilt.append(&mut read.unbuilt);
    // AgentV's functions receive the path of the workspace.
    let is_agentv = spelling == MatrixSpelling::Snake;
    let workspace = suite.workspace.as_mut().filter(|workspace| workspace.describes_folder());
    let in_workspace = is_agentv && workspace.is_some();
    if let Some(workspace) = workspace.filter(|_| in_workspace) {
        Arc::make_mut(workspace).hooks.functions = workspace_functions(&read.list, &suite.path);
    }
    if !read.list.is_empty() {
        let (list, config) = (read.list, root.to_json());
        suite.extensions =
            Some(Arc::new(SuiteExtensions { list, suite: shown, config, in_workspace, is_agentv }));
    }
}

/// Reads what templates may use: environment variables and filters.
fn read_templates(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    spelling: MatrixSpelling,
) -> TemplateRenderer {
    let own = read_environment(cx, object);
    let filters = spelling.entry(object, "nunjucksFilters", &mut cx.problems);
    let filters = CustomFilters::read(cx, filters);
    TemplateRenderer::new(cx.reach.environment.clone(), own, filters)
}

/// Reads `env`, the variables that templates may use as `env.NAME`.
fn read_environment(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> BTreeMap<String, String> {
    let Some(node) = object.value("env") else { return BTreeMap::new() };
    let values = decode_free_map(cx, node, "env");
    values
        .into_iter()
        .map(|(key, value)| (key, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect()
}

fn read_default(cx: &mut DecodeContext, object: &mut MapReader<'_>, tests: &TestReader) -> MatrixTest {
    let entry = tests.spelling.entry(object, "defaultTest", &mut cx.problems);
    let Some(entry) = entry else { return MatrixTest::default() };
    let read = match &entry.value.data {
        NodeValue::Str(written) if written.starts_with("file://") => {
            read_settings(cx, written, entry.value.use_span())
                .and_then(|root| tests.read_test(cx, &root, DEFAULT_TEST))
        }
        _ => tests.read_test(cx, &entry.value, DEFAULT_TEST),
    };

    read.unwrap_or_default()
}

/// Reads the assertions and the threshold that AgentV's files may have at the top level, and adds them to the
/// default test.
fn read_shared(cx: &mut DecodeContext, object: &mut MapReader<'_>, default: &mut MatrixTest) {
    for key in ["assert", "assertions"] {
        let Some(entry) = object.entry(key).filter(|entry| !entry.value.is_null()) else { continue };
        match entry.value.as_seq() {
            Some(items) => default.assertions.extend(items.iter().cloned()),
            None => cx.problems.add(wrong_type(&entry.value, "`assert`", "a list of assertions")),
        }
        default.assert_span = Some(entry.key_span);
    }

    if let Some(threshold) = object.number("threshold", &mut cx.problems) {
        default.threshold.get_or_insert(threshold);
    }
}

/// Reads scenarios: each item of `config` is combined with each of the `tests`.
fn read_scenarios(cx: &mut DecodeContext, tests: &TestReader, node: &TreeNode, all: &mut MatrixTests) {
    let items = match &node.data {
        NodeValue::Seq(items) => items.clone(),
        _ => vec![node.clone()],
    };
    for item in items {
        if let NodeValue::Str(written) = &item.data {
            let path = written.strip_prefix("file://").unwrap_or(written);
            let files = if path.contains(['*', '?', '[']) {
                assize_evalfile::reading::find_matches(cx, path, item.use_span())
            } else {
                cx.find_file(path, item.use_span()).into_iter().collect()
            };
            for file in files {
                let Some(source) = assize_evalfile::reading::read_source(cx, &file, Some(item.use_span()))
                else {
                    continue;
                };
                if let Some(root) = assize_evalfile::reading::read_tree(cx, source) {
                    cx.read_inside(item.use_span(), |cx| read_scenarios(cx, tests, &root, all));
                }
            }
            continue;
        }

        let Some(mut object) = MapReader::new(&item, "a scenario", &mut cx.problems) else { continue };
        let description = object.string("description", &mut cx.problems).map(|text| text.value);
        for key in ["id", "name"] {
            object.entry(key);
        }
        let config = read_scenario_part(cx, tests, &mut object, "config");
        // An item of `config` without tests is a test itself.
        let inner = match object.entry("tests").filter(|entry| !entry.value.is_null()) {
            None => vec![MatrixTest::default()],
            Some(_) => read_scenario_part(cx, tests, &mut object, "tests"),
        };
        object.finish(&mut cx.problems);

        all.scenarios.push(Scenario { description, config, tests: inner });
        if all.count() > MAX_MATRIX_CASES {
            Diagnostic::error(
                codes::MATRIX_TOO_LARGE,
                "`config` and `tests` of this scenario make too many tests",
            )
            .at(item.use_span(), format!("more than {MAX_MATRIX_CASES} tests"))
            .with_help("name fewer of them, or put the tests into a JSONL file")
            .add_to(&mut cx.problems);
            all.scenarios.pop();
            return;
        }
    }
}

/// Reads `config` or `tests` of a scenario. Adds a diagnostic if it is absent or empty, because nothing would
/// be run then.
fn read_scenario_part(
    cx: &mut DecodeContext,
    tests: &TestReader,
    object: &mut MapReader<'_>,
    key: &'static str,
) -> Vec<MatrixTest> {
    let before = cx.problems.error_count();
    let entry = object.entry(key).filter(|entry| !entry.value.is_null());
    let read = entry.map(|entry| tests.read_list(cx, &entry.value)).unwrap_or_default();
    if read.is_empty() && cx.problems.error_count() == before {
        let (span, label) =
            entry.map_or((object.head(), "not there"), |entry| (entry.key_span, "nothing in it"));
        Diagnostic::error(
            codes::BAD_MATRIX_PART,
            format!("this scenario has no `{key}`, so none of it runs"),
        )
        .at(span, label)
        .with_help(match key {
            "config" => "list the variables of each round: `config: [{vars: {...}}]`",
            _ => "add a test with `vars` and `assert`, or remove `tests`",
        })
        .add_to(&mut cx.problems);
    }

    read
}

/// Reads `evaluateOptions` into the settings of the suite.
fn read_options(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    spelling: MatrixSpelling,
    settings: &mut MapNode,
) {
    let Some(entry) = spelling.entry(object, "evaluateOptions", &mut cx.problems) else { return };
    let Some(mut options) = MapReader::new(&entry.value, "the options of an evaluation", &mut cx.problems)
    else {
        return;
    };
    let mut execution = MapNode::new(entry.key_span);
    if let Some(workers) = spelling.entry(&mut options, "maxConcurrency", &mut cx.problems) {
        execution.add("workers", workers.key_span, workers.value.clone());
    }
    for (key, own) in [("repeat", "trials"), ("cache", "cache"), ("budget_usd", "budget_usd")] {
        if let Some(entry) = options.entry(key).filter(|entry| !entry.value.is_null()) {
            execution.add(own, entry.key_span, with_current_keys(&entry.value));
        }
    }
    report_idle(cx, &mut options, spelling, EVALUATION_KEYS);

    options.finish(&mut cx.problems);
    settings.add("execution", entry.key_span, execution.finish());
}

/// Returns trials with the keys of eval files.
fn with_current_keys(node: &TreeNode) -> TreeNode {
    let NodeValue::Map(entries) = &node.data else { return node.clone() };
    let entries = entries.iter().cloned().map(|mut entry| {
        if entry.key == "early_exit" {
            "early_stop".clone_into(&mut entry.key);
        }
        entry
    });

    TreeNode { data: NodeValue::Map(entries.collect()), ..*node }
}

/// Decodes the suite: names, tags, and settings, including AgentV's.
fn read_suite(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    mut settings: MapNode,
    path: &Path,
) -> Option<(Suite, SuiteDefaults)> {
    let description = object.string("description", &mut cx.problems).map(|text| text.value);
    let tags = match object.value("tags") {
        // promptfoo's `tags` are a map, not a list of tags.
        Some(node) if node.as_map().is_some() => Vec::new(),
        _ => decode_tags(cx, object),
    };
    let mut metadata = Map::new();
    for key in ["metadata", "governance", "version", "author", "license", "tags"] {
        if let Some(value) = object.value(key).filter(|value| key != "tags" || value.as_map().is_some()) {
            metadata.insert(key.to_owned(), value.to_json());
        }
    }

    let name = object.text("name", &mut cx.problems);
    if let Some(SpannedValue { value, span }) = name {
        settings.add("name", span, super::nodes::text_node(span, value));
    }
    read_environment_of_agents(cx, object, &mut settings);
    if let Some(defaults) = object.value("defaults") {
        read_agentv_defaults(cx, defaults, &mut settings);
    }

    let node = settings.finish();
    let (mut suite, defaults) = decode_suite(cx, &node, path, None)?;
    if node.get("name").is_none() {
        suite.name = default_name(path);
    }
    if let Some(lowered) = &mut cx.lowered {
        lowered.set_head(&suite.name, description.as_deref(), &tags, &metadata, &node);
    }
    suite.has_providers = true;
    suite.description = description;
    suite.tags = tags;
    suite.metadata = metadata;

    Some((suite, defaults))
}

/// Reads AgentV's `environment`, the folder that agents work in, as a workspace.
fn read_environment_of_agents(cx: &mut DecodeContext, object: &mut MapReader<'_>, settings: &mut MapNode) {
    if let Some(entry) = object.entry("workspace").filter(|entry| !entry.value.is_null()) {
        settings.add("workspace", entry.key_span, entry.value.clone());
    }
    let Some(entry) = object.entry("environment").filter(|entry| !entry.value.is_null()) else { return };
    let loaded = match &entry.value.data {
        NodeValue::Str(written) => match read_settings(cx, written, entry.value.use_span()) {
            Some(root) => root,
            None => return,
        },
        _ => entry.value.clone(),
    };

    let mut workspace = MapNode::new(entry.key_span);
    if loaded.get("type").and_then(TreeNode::as_str) == Some("docker") {
        workspace.add("docker", entry.key_span, loaded.clone());
    } else {
        // If `setup` creates the folder, there is nothing to copy.
        let created = loaded.get("setup").is_some()
            && loaded.get("workdir").and_then(TreeNode::as_str).is_some_and(|folder| {
                let home = cx.folder_of(loaded.use_span().source);
                !home.join(folder).exists()
            });
        if let Some(folder) = loaded.get("workdir").filter(|_| !created) {
            workspace.add("template", entry.key_span, folder.clone());
        }
        if let Some(setup) = loaded.get("setup") {
            let mut hooks = MapNode::new(entry.key_span);
            hooks.add("before_each", setup.use_span(), setup.clone());
            workspace.add("hooks", setup.use_span(), hooks.finish());
        }
    }
    settings.add("workspace", entry.key_span, workspace.finish());
}

/// Reads AgentV's `defaults`, which name the provider that judges.
fn read_agentv_defaults(cx: &mut DecodeContext, node: &TreeNode, settings: &mut MapNode) {
    let Some(mut object) = MapReader::new(node, "`defaults` of providers", &mut cx.problems) else { return };
    if let Some(grader) = object.entry("grader") {
        let mut execution = MapNode::new(grader.key_span);
        execution.add("judge", grader.key_span, grader.value.clone());
        settings.add("execution", grader.key_span, execution.finish());
    }
    let idle = ["provider", "system_message"].into_iter().filter_map(|key| object.entry(key));
    let reason = "name the providers of the file under `providers`";
    cx.problems.extend(idle.map(|entry| no_effect(entry, reason)));
    object.finish(&mut cx.problems);
}
