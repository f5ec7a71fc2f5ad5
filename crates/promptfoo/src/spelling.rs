//! The two spellings of matrix files: promptfoo's keys in camelCase, AgentV's in snake_case.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span};
use assize_document::{DiagnosticCollector, MapEntry, MapReader, TreeNode, codes};
use assize_evalfile::reading::{DecodeContext, is_other_tools_provider};

use super::keys::{MatrixKey, MatrixKeySupport};
use super::values::no_effect;

/// Spelling of a matrix file. It decides when a test without a threshold passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatrixSpelling {
    /// promptfoo: if each of its assertions passes.
    Camel,
    /// AgentV: if the weighted mean of the assertions is high enough.
    Snake,
}

/// Keys that differ between the spellings: camelCase, snake_case.
pub(crate) const KEY_PAIRS: [(&str, &str); 24] = [
    ("defaultTest", "default_test"),
    ("evaluateOptions", "evaluate_options"),
    ("derivedMetrics", "derived_metrics"),
    ("outputPath", "output_path"),
    ("nunjucksFilters", "nunjucks_filters"),
    ("assertionTemplates", "assertion_templates"),
    ("commandLineOptions", "command_line_options"),
    ("writeLatestResults", "write_latest_results"),
    ("providerPromptMap", "provider_prompt_map"),
    ("assertScoringFunction", "assert_scoring_function"),
    ("providerOutput", "provider_output"),
    ("rubricPrompt", "rubric_prompt"),
    ("contextTransform", "context_transform"),
    ("transformVars", "transform_vars"),
    ("disableVarExpansion", "disable_var_expansion"),
    ("disableDefaultAsserts", "disable_default_asserts"),
    ("disableConversationVar", "disable_conversation_var"),
    ("storeOutputAs", "store_output_as"),
    ("runSerially", "run_serially"),
    ("maxConcurrency", "max_concurrency"),
    ("timeoutMs", "timeout_ms"),
    ("maxEvalTimeMs", "max_eval_time_ms"),
    ("filterRange", "filter_range"),
    ("showProgressBar", "show_progress_bar"),
];

/// Keys at the top level that only AgentV has.
const SNAKE_TOP_KEYS: [&str; 8] =
    ["name", "governance", "environment", "defaults", "assert", "version", "workspace", "run"];

impl MatrixSpelling {
    /// Detects the spelling of a file from its name, if it is promptfoo's usual one, else from its keys.
    /// Without any sign, the file is promptfoo's.
    pub(super) fn detect(path: &Path, root: &TreeNode) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        if name.starts_with("promptfooconfig") {
            return Self::Camel;
        }
        let has = |key: &str| root.get(key).is_some();
        // A misspelt key still shows the spelling.
        let is_camel =
            |key: &str| key.contains(|c: char| c.is_ascii_uppercase()) && !key.contains(['_', '-']);
        let keys = root.as_map().unwrap_or_default();
        if keys.iter().any(|entry| is_camel(&entry.key)) || has("targets") {
            return Self::Camel;
        }

        let snake =
            KEY_PAIRS.iter().any(|(_, snake)| has(snake)) || SNAKE_TOP_KEYS.iter().any(|key| has(key));
        let first = root.get("tests").and_then(TreeNode::as_seq).and_then(<[_]>::first);
        let with_id = first.is_some_and(|test| test.get("id").is_some());
        let is_label =
            |node: &TreeNode| node.as_str().is_some_and(|id| !id.contains([':', '/']) && id != "echo");
        let labels =
            root.get("providers").and_then(TreeNode::as_seq).is_some_and(|list| list.iter().any(is_label));

        let is_own = |node: &TreeNode| {
            node.get("id").unwrap_or(node).as_str().is_some_and(|id| is_agentv_provider(id.trim()))
        };
        let own_providers =
            root.get("providers").and_then(TreeNode::as_seq).is_some_and(|list| list.iter().any(is_own));

        if snake || with_id || labels || own_providers { Self::Snake } else { Self::Camel }
    }

    /// Returns both spellings of a key, which is given in camelCase. The spelling of the file comes first.
    fn spellings(self, camel: &'static str) -> [&'static str; 2] {
        let snake = KEY_PAIRS.iter().find(|pair| pair.0 == camel).map_or(camel, |pair| pair.1);
        match self {
            Self::Camel => [camel, snake],
            Self::Snake => [snake, camel],
        }
    }

    /// Returns the entry of a key in either spelling. The key is given in camelCase.
    pub(super) fn entry<'n>(
        self,
        object: &mut MapReader<'n>,
        camel: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> Option<&'n MapEntry> {
        let [own, other] = self.spellings(camel);
        let found = if own == other { object.entry(own) } else { object.first_of(&[own, other], problems) };

        found.filter(|entry| !entry.value.is_null())
    }

    /// Returns a boolean in either spelling.
    pub(super) fn flag(
        self,
        object: &mut MapReader<'_>,
        camel: &'static str,
        problems: &mut DiagnosticCollector,
    ) -> bool {
        if self.entry(object, camel, problems).is_none() {
            return false;
        }
        let [own, other] = self.spellings(camel);
        let key = if object.has(own) { own } else { other };

        object.boolean(key, problems).is_some_and(|flag| flag.value)
    }
}

/// Returns true if an id names a provider that only AgentV has.
fn is_agentv_provider(id: &str) -> bool {
    id.starts_with("agentv:") || is_other_tools_provider(id)
}

/// Returns true if a map is a matrix of prompts and providers rather than a list of cases.
pub fn is_matrix(root: &TreeNode) -> bool {
    let has = |key: &str| root.get(key).is_some();
    // A test with its own `input` is a case, no matter which other keys the file has.
    let first = root.get("tests").and_then(TreeNode::as_seq).and_then(<[_]>::first);
    let has_input = first.is_some_and(|test| test.get("input").is_some() && test.get("vars").is_none());
    if has_input || has("redteam") && !has("tests") {
        return false;
    }

    has("prompts") && (has("providers") || has("targets") || has("tests") || has("scenarios"))
        || has("providers") && (has("tests") || has("scenarios"))
        || has("scenarios") && has("tests")
}

/// Returns the span of the first key of a map, or of the value itself.
pub(super) fn head(node: &TreeNode) -> Span {
    node.as_map().and_then(<[_]>::first).map_or(node.use_span(), |entry| entry.key_span)
}

/// Reports keys that are read but have no effect, and keys that are not supported.
pub(super) fn report_idle(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    spelling: MatrixSpelling,
    keys: &[MatrixKey],
) {
    for row in keys {
        let reason = match row.support {
            MatrixKeySupport::Read(_) => continue,
            MatrixKeySupport::NoEffect(reason) | MatrixKeySupport::Refused(reason) => reason,
        };
        let Some(entry) = spelling.entry(object, row.name, &mut cx.problems) else { continue };
        cx.problems.add(match row.support {
            MatrixKeySupport::Refused(_) => {
                Diagnostic::error(codes::NOT_SUPPORTED, format!("`{}` is not supported", entry.key))
                    .at(entry.key_span, "not read here")
                    .with_help(reason)
            }
            _ => no_effect(entry, reason),
        });
    }
}
