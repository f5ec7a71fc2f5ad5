//! Targets that an eval file defines itself.

use std::path::{Path, PathBuf};

use assize_diagnostic::{Diagnostic, Severity, SourceMap, Span};
use assize_document::{TreeNode, codes, wrong_type};
use assize_model::{FilePosition, TargetSettingError, TargetSpec, TargetSpecKind, UnsupportedFeature};
use assize_script::Script;

use super::entry::TargetsContext;
use super::mask::mask_secrets;
use super::read::entry;
use crate::decode::DecodeContext;
use crate::decode::LoweredTarget;

/// A target that an eval file defines.
pub struct InlineTarget {
    /// Its entry, in the spelling of targets files.
    pub entry: TreeNode,
    /// Reasons why it can't be run as defined.
    pub problems: Vec<String>,
    /// Settings without effect.
    pub idle: Vec<IdleSetting>,
    /// Script of a file that finds the answer in the response of a server.
    pub response: Option<Script>,
}

/// A setting in the `config` of a provider that has no effect here.
pub struct IdleSetting {
    /// The key as written.
    pub key: String,
    /// Setting that the key was most likely meant to be.
    pub near: Option<&'static str>,
    /// Span of the key.
    pub span: Span,
}

impl IdleSetting {
    fn name(&self) -> String {
        format!("`{}` in the `config` of a provider", self.key)
    }

    /// Returns a warning with the right spelling, if the key looks like a misspelt setting.
    fn misspelling(&self) -> Option<Diagnostic> {
        let title = format!("{} has no effect", self.name());
        let warning = Diagnostic::warning(codes::NO_EFFECT, title).at(self.span, "unknown setting");
        Some(warning.with_help(format!("did you mean `{}`?", self.near?)))
    }
}

/// Collector of such targets. An error in one of them concerns only the runs that use it.
pub struct InlineTargets {
    folder: PathBuf,
    targets: Vec<TargetSpec>,
    secrets: Vec<Span>,
}

impl InlineTargets {
    /// Creates a collector for a file in this folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), targets: Vec::new(), secrets: Vec::new() }
    }

    /// Decodes a target.
    pub fn add(&mut self, cx: &mut DecodeContext, target: InlineTarget) {
        let InlineTarget { entry: node, problems, idle, response } = target;
        let unrunnable = !problems.is_empty();
        if let Some(mut lowered) = cx.lowered.take() {
            lowered.targets.push(LoweredTarget {
                name: node.get("name").and_then(TreeNode::as_str).unwrap_or_default().to_owned(),
                entry: node.to_json(),
                place: cx.position(node.use_span()),
                problems: problems.clone(),
            });
            for setting in &idle {
                let what = "not converted: it has no effect here";
                lowered.lose(&cx.position(setting.span), &setting.name(), what);
            }
            if response.is_some() {
                let what = "the file that reads a response is not converted: write its code as `response` of the target";
                lowered.lose(&cx.position(node.use_span()), "`transformResponse`", what);
            }
            cx.lowered = Some(lowered);
        }
        let sources = std::mem::take(&mut cx.sources);
        let place = |span: Span| {
            let position = sources.position(span);
            FilePosition::new(sources.file(span.source).path(), position.line, position.column)
        };

        let mut found = cx.problems.fork();
        let environment = cx.reach.environment.for_settings();
        let mut loading = TargetsContext {
            environment: &environment,
            folder: &self.folder,
            place: &place,
            secrets: Vec::new(),
            problems: &mut found,
            entry_errors: 0,
        };
        let draft = entry(&node, &mut loading);
        self.secrets.append(&mut loading.secrets);

        if let Some(draft) = draft {
            let mut spec = draft.spec;
            let at = place(node.use_span());
            if let (TargetSpecKind::Http(http), Some(script)) = (&mut spec.kind, response) {
                http.response = Some(script);
            }
            if unrunnable {
                // The kind of target is unknown, so errors about its settings are meaningless.
                spec.errors.clear();
            }
            spec.errors
                .extend(problems.into_iter().map(|title| TargetSettingError { title, place: at.clone() }));
            spec.without_effect.extend(idle.iter().filter(|setting| setting.near.is_none()).map(|setting| {
                UnsupportedFeature { feature: setting.name().into(), place: place(setting.span) }
            }));
            self.targets.push(spec);
        }

        cx.sources = sources;
        cx.problems.hide_as_in(&found);
        cx.problems.extend(idle.iter().filter_map(IdleSetting::misspelling));
        for mut diagnostic in found.into_vec() {
            if unrunnable && diagnostic.severity == Severity::Error {
                continue;
            }
            diagnostic.severity = diagnostic.severity.min(Severity::Warning);
            cx.problems.add(diagnostic);
        }
    }

    /// Returns true if a target of this name was added.
    pub fn has(&self, name: &str) -> bool {
        self.targets.iter().any(|target| target.name == name)
    }

    /// Returns the targets, and the sources with secrets masked.
    pub fn finish(self, sources: &SourceMap) -> (Vec<TargetSpec>, SourceMap) {
        (self.targets, mask_secrets(sources, &self.secrets))
    }
}

/// Decodes `targets` of an eval file: definitions as in a targets file, valid for this file only.
pub(crate) fn decode_defined_targets(
    cx: &mut DecodeContext,
    node: &TreeNode,
    path: &Path,
) -> Vec<TargetSpec> {
    let Some(items) = node.as_seq() else {
        cx.problems.add(wrong_type(node, "`targets`", "a list of definitions").with_help(DEFINITIONS));
        return Vec::new();
    };

    let folder = path.parent().unwrap_or(Path::new(""));
    let mut targets =
        InlineTargets::new(&std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf()));
    for item in items {
        if item.as_map().is_none() {
            cx.problems.add(wrong_type(item, "a target of `targets`", "a map").with_help(DEFINITIONS));
            continue;
        }
        let (problems, idle) = (Vec::new(), Vec::new());
        targets.add(cx, InlineTarget { entry: item.clone(), problems, idle, response: None });
    }

    // Masked only after the cases were read, because they are in the same text.
    cx.secrets = Some(targets.secrets);

    targets.targets
}

/// Advice if names are given where definitions are expected.
const DEFINITIONS: &str = "define targets as in the targets file, `- {name: NAME, provider: ...}`; name the ones to run under \
     `execution: {targets: [NAME, ...]}`";
