//! Decoder of `workspace` itself: a map, or the path of a YAML file with such a map.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::{UnsupportedFeature, WorkspaceIsolation, WorkspaceMode, WorkspaceSpec};

use super::container::decode_container;
use super::folder::find_existing_folder;
use super::hooks::decode_hooks;
use super::repos::decode_repos;
use crate::decode::common::{decode_keyword, unsupported_feature};
use crate::decode::file::{read_source, read_tree};
use crate::decode::{DecodeContext, interpolate_settings};

/// Decodes `workspace` of a suite or case.
pub(crate) fn decode_workspace(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    missing: &mut Vec<UnsupportedFeature>,
) -> Option<Arc<WorkspaceSpec>> {
    let entry = object.entry("workspace").filter(|entry| !entry.value.is_null())?;
    let spec = match &entry.value.data {
        NodeValue::Str(path) => decode_workspace_file(cx, path, entry.value.use_span(), missing),
        NodeValue::Map(_) => decode_workspace_map(cx, &entry.value, missing),
        _ => cx.problems.reject(wrong_type(&entry.value, "`workspace`", "a map or the path of a YAML file")),
    };
    spec.map(Arc::new)
}

/// Returns the workspace of a case whose folder contains a template.
pub(crate) fn workspace_from_template(template: PathBuf) -> Arc<WorkspaceSpec> {
    Arc::new(WorkspaceSpec { template: Some(template), ..WorkspaceSpec::default() })
}

/// Decodes a workspace file. Its paths are relative to its own folder.
fn decode_workspace_file(
    cx: &mut DecodeContext,
    path: &str,
    span: Span,
    missing: &mut Vec<UnsupportedFeature>,
) -> Option<WorkspaceSpec> {
    let file = cx.find_file(path, span)?;
    let source = read_source(cx, &file, Some(span))?;
    let before = cx.problems.error_count();
    let Some(mut node) = read_tree(cx, source) else {
        if cx.problems.error_count() == before {
            Diagnostic::error(codes::EMPTY_FILE, "the workspace file is empty")
                .at(span, format!("`{path}`"))
                .with_help("write the keys of the workspace: `template`, `repos`, `hooks`, ...")
                .add_to(&mut cx.problems);
        }
        return None;
    };

    interpolate_settings(cx, &mut node);
    decode_workspace_map(cx, &node, missing)
}

fn decode_workspace_map(
    cx: &mut DecodeContext,
    node: &TreeNode,
    missing: &mut Vec<UnsupportedFeature>,
) -> Option<WorkspaceSpec> {
    let mut object = MapReader::new(node, "`workspace`", &mut cx.problems)?;
    let template =
        object.text("template", &mut cx.problems).and_then(|written| find_existing_folder(cx, &written));
    let path = object.text("path", &mut cx.problems);
    let path = path.map(|written| (decode_own_folder(cx, &written), written.span));
    let isolation = object.value("isolation").and_then(|node| {
        let words = [
            ("shared", WorkspaceIsolation::Shared),
            ("per_test", WorkspaceIsolation::PerTest),
            ("per_case", WorkspaceIsolation::PerTest),
        ];
        decode_keyword(cx, node, "isolation", &words)
    });

    let mode_at = object.value("mode").map(TreeNode::use_span);
    let mode = object.value("mode").and_then(|node| decode_keyword(cx, node, "mode", &WorkspaceMode::NAMED));

    let hooks = object.entry("hooks").map(|entry| decode_hooks(cx, &entry.value)).unwrap_or_default();

    let docker = object
        .entry("docker")
        .filter(|entry| !entry.value.is_null())
        .and_then(|entry| decode_container(cx, &entry.value, missing));
    if let Some(entry) = object.entry("env").filter(|entry| !entry.value.is_null()) {
        if entry.value.as_map().is_none() {
            cx.problems.add(wrong_type(&entry.value, "`env`", "a map"));
        }
        missing.push(unsupported_feature(cx, "environment checks (`env` of a workspace)", entry.key_span));
    }

    let repos = object.value("repos").map(|node| decode_repos(cx, node)).unwrap_or_default();

    match (mode, mode_at, &path) {
        (Some(WorkspaceMode::Static), Some(at), None) => {
            Diagnostic::error(codes::MISSING_SETTING, "`mode: static` needs a `path`")
                .at(at, "no `path` here")
                .with_help("add `path: FOLDER`, a folder of your own that the cases work in")
                .add_to(&mut cx.problems);
        }
        (Some(WorkspaceMode::Temp | WorkspaceMode::Pooled), _, Some((_, at))) => {
            Diagnostic::error(codes::UNUSED_SETTING, "`path` is for `mode: static` only")
                .at(*at, "has no effect here")
                .with_help(
                    "remove the path; to start with the contents of a folder, write `template: FOLDER`",
                )
                .add_to(&mut cx.problems);
        }
        _ => {}
    }

    object.finish(&mut cx.problems);
    let path = path.and_then(|(path, _)| path);
    Some(WorkspaceSpec { template, repos, hooks, isolation, mode, path, docker: docker.map(Arc::new) })
}

/// Decodes the path of a folder that may not exist yet. It must be inside the folders that may be read.
fn decode_own_folder(cx: &mut DecodeContext, written: &SpannedValue<String>) -> Option<PathBuf> {
    let given = Path::new(&written.value);
    let whole = cx.folder_of(written.span.source).join(given);
    if whole.exists() {
        return find_existing_folder(cx, written);
    }

    let above = whole.ancestors().skip(1).find_map(|folder| {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        folder.canonicalize().ok()
    });
    let climbs = given.components().any(|part| part == Component::ParentDir);
    if climbs || !above.is_some_and(|above| cx.reach.roots.contain(&above)) {
        return Diagnostic::error(codes::OUTSIDE_ROOT, "this folder is outside the allowed folders")
            .at(written.span, "outside the suite's root")
            .with_help("create the folder yourself, or allow a folder with `--root DIR`")
            .reject_in(&mut cx.problems);
    }

    Some(whole)
}
