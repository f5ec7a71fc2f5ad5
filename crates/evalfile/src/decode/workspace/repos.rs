//! Decoder of `repos`: git repositories in a workspace, in current and older spellings.

use std::path::{Component, Path, PathBuf};

use assize_diagnostic::{Diagnostic, Span, SpannedValue};
use assize_document::{MapReader, NodeValue, TreeNode, codes, wrong_type};
use assize_model::{RepoSource, RepoSpec};

use super::folder::find_existing_folder;
use crate::decode::DecodeContext;
use crate::decode::common::decode_keyword;
use crate::decode::grader::missing_key;

/// Host that `ORGANISATION/NAME` refers to.
const SHORTHAND_HOST: &str = "https://github.com/";
/// Allowed schemes of git URLs. Others, such as `ext::`, can run commands.
const SCHEMES: [&str; 4] = ["https://", "http://", "ssh://", "git://"];

pub(super) fn decode_repos(cx: &mut DecodeContext, node: &TreeNode) -> Vec<RepoSpec> {
    let Some(items) = node.as_seq() else {
        cx.problems.add(wrong_type(node, "`repos`", "a list"));
        return Vec::new();
    };
    let mut repos: Vec<(RepoSpec, Span)> = Vec::new();
    for item in items {
        if item.as_map().is_none() {
            cx.problems.add(wrong_type(item, "a repository of `repos`", "a map"));
            continue;
        }

        let Some(repo) = decode_repo(cx, item) else { continue };
        if let Some((_, first)) = repos.iter().find(|(known, _)| known.path == repo.path) {
            Diagnostic::error(
                codes::DUPLICATE_KEY,
                format!("two repositories have the path `{}`", repo.path.display()),
            )
            .at(item.use_span(), "second one")
            .with_secondary(*first, "first one")
            .with_help("give one of them another `path`")
            .add_to(&mut cx.problems);
            continue;
        }

        repos.push((repo, item.use_span()));
    }

    repos.into_iter().map(|(repo, _)| repo).collect()
}

fn decode_repo(cx: &mut DecodeContext, node: &TreeNode) -> Option<RepoSpec> {
    let mut object = MapReader::new(node, "a repository of `repos`", &mut cx.problems)?;
    let errors = cx.problems.error_count();
    let head = object.head();
    let source = decode_repo_source(cx, &mut object);
    let path = object.text("path", &mut cx.problems);
    let mut revision = RepoRevision::default();
    revision.decode(cx, &mut object);

    if let Some(node) = object.value("checkout")
        && let Some(mut checkout) = MapReader::new(node, "`checkout`", &mut cx.problems)
    {
        revision.decode(cx, &mut checkout);

        // Accepted without effect: where a revision is resolved does not change the result.
        if let Some(node) = checkout.value("resolve") {
            decode_keyword(cx, node, "resolve", &[("remote", ()), ("local", ())]);
        }

        checkout.finish(&mut cx.problems);
    }

    let mut sparse = object.strings("sparse", &mut cx.problems);
    let (mut depth, mut filter) = (None, None);
    if let Some(node) = object.value("clone")
        && let Some(mut clone) = MapReader::new(node, "`clone`", &mut cx.problems)
    {
        depth = clone.integer("depth", 1, i64::from(u32::MAX), &mut cx.problems);
        filter = clone.text("filter", &mut cx.problems);
        sparse.extend(clone.strings("sparse", &mut cx.problems));
        clone.finish(&mut cx.problems);
    }

    object.finish(&mut cx.problems);

    for word in filter.iter().chain(&sparse).chain(&revision.name) {
        refuse_git_option(cx, word);
    }

    let path = match (&path, &source) {
        (Some(path), _) => decode_inner_path(cx, path),
        (None, Some(RepoSource::Url(url))) => default_folder_name(url),
        (None, Some(RepoSource::Folder(folder))) => folder.file_name().map(PathBuf::from),
        (None, None) => None,
    };
    if path.is_none() && cx.problems.error_count() == errors {
        cx.problems.add(missing_key(head, "a repository", "path", "path: ./NAME"));
    }

    let repo = RepoSpec {
        path: path?,
        source: source?,
        revision: revision.name.map(|name| name.value),
        ancestor: revision.ancestor.and_then(|ancestor| u32::try_from(ancestor.value).ok()).unwrap_or(0),
        depth: depth.and_then(|depth| u32::try_from(depth.value).ok()),
        filter: filter.map(|filter| filter.value),
        sparse: sparse.into_iter().map(|pattern| pattern.value).collect(),
        place: cx.position(head),
    };
    (cx.problems.error_count() == errors).then_some(repo)
}

/// Revision of a repository.
#[derive(Default)]
struct RepoRevision {
    name: Option<SpannedValue<String>>,
    ancestor: Option<SpannedValue<i64>>,
}

impl RepoRevision {
    /// Decodes `commit` and its other names, and `ancestor`. Several keys may name the same commit.
    fn decode(&mut self, cx: &mut DecodeContext, object: &mut MapReader<'_>) {
        for key in ["commit", "base_commit", "ref"] {
            let Some(name) = object.text(key, &mut cx.problems) else { continue };
            match &self.name {
                Some(first) if first.value != name.value => {
                    Diagnostic::error(codes::TWO_SPELLINGS, format!("`{key}` names another commit"))
                        .at(name.span, "this one differs")
                        .with_secondary(first.span, "already given here")
                        .with_help("keep one of them")
                        .add_to(&mut cx.problems);
                }
                _ => self.name = Some(name),
            }
        }
        if let Some(ancestor) = object.integer("ancestor", 0, 1_000_000, &mut cx.problems) {
            self.ancestor = Some(ancestor);
        }
    }
}

/// Decodes `repo`, or `source` with a `url` or a `path`.
fn decode_repo_source(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<RepoSource> {
    let short = object.text("repo", &mut cx.problems);
    let long = object.value("source");
    let head = object.head();
    match (short, long) {
        (Some(short), Some(long)) => {
            Diagnostic::error(codes::TWO_SPELLINGS, "`repo` and `source` mean the same thing")
                .at(long.use_span(), "this one is extra")
                .with_secondary(short.span, "already given here")
                .with_help("keep `repo`")
                .reject_in(&mut cx.problems)
        }
        (Some(short), None) => decode_repo_address(cx, &short),
        (None, Some(node)) => match &node.data {
            NodeValue::Str(text) => {
                decode_repo_address(cx, &SpannedValue::new(text.clone(), node.use_span()))
            }
            _ => decode_source_map(cx, node),
        },
        (None, None) => cx.problems.reject(missing_key(head, "a repository", "repo", "repo: ADDRESS")),
    }
}

fn decode_source_map(cx: &mut DecodeContext, node: &TreeNode) -> Option<RepoSource> {
    let mut object = MapReader::new(node, "`source`", &mut cx.problems)?;
    let head = object.head();

    if let Some(node) = object.value("type") {
        decode_keyword(cx, node, "type", &[("git", ()), ("local", ())]);
    }

    let url = object.text("url", &mut cx.problems);
    let path = object.text("path", &mut cx.problems);

    // An empty value has been reported, or is an unset variable.
    let is_given = object.has("url") || object.has("path");

    object.finish(&mut cx.problems);

    match (url, path) {
        (Some(url), None) => decode_repo_address(cx, &url),
        (None, Some(path)) => find_existing_folder(cx, &path).map(RepoSource::Folder),
        (Some(_), Some(path)) => {
            Diagnostic::error(codes::TWO_SPELLINGS, "`url` and `path` both locate the repository")
                .at(path.span, "this one is extra")
                .with_help("keep one of them")
                .reject_in(&mut cx.problems)
        }
        (None, None) => {
            if !is_given {
                cx.problems.add(missing_key(head, "`source`", "url", "url: ADDRESS"));
            }
            None
        }
    }
}

/// Decodes the location of a repository: an address, a folder, or `ORGANISATION/NAME`.
fn decode_repo_address(cx: &mut DecodeContext, written: &SpannedValue<String>) -> Option<RepoSource> {
    let text = written.value.trim();
    let sound = !text.chars().any(|c| c.is_control() || c.is_whitespace()) && !text.starts_with('-');

    // `user@host:path`, the syntax of scp.
    let scp = text.split_once(':').is_some_and(|(host, path)| {
        !host.is_empty()
            && !path.is_empty()
            && !path.starts_with(':')
            && host.contains('@')
            && !host.contains('/')
    });
    if sound && (scp || SCHEMES.iter().any(|scheme| text.len() > scheme.len() && text.starts_with(scheme))) {
        return Some(RepoSource::Url(text.to_owned()));
    }

    let is_path = text.starts_with(['/', '.', '~']) || text.starts_with("file://");
    let plain =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let is_short = text.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name));

    if is_path || cx.folder_of(written.span.source).join(text).is_dir() {
        return find_existing_folder(cx, written).map(RepoSource::Folder);
    }
    if sound && is_short {
        let name = text.strip_suffix(".git").unwrap_or(text);
        return Some(RepoSource::Url(format!("{SHORTHAND_HOST}{name}.git")));
    }

    Diagnostic::error(codes::NOT_SUPPORTED, "this is not the address of a repository")
        .at(written.span, format!("found `{text}`"))
        .with_help(
            "write an address that begins with https://, ssh:// or user@host:, a folder, or \
             ORGANISATION/NAME",
        )
        .reject_in(&mut cx.problems)
}

/// Returns the folder name that git would choose.
fn default_folder_name(url: &str) -> Option<PathBuf> {
    let name = url.trim_end_matches('/').rsplit(['/', ':']).next()?;
    let name = name.strip_suffix(".git").unwrap_or(name);
    (!name.is_empty() && name != "." && name != "..").then(|| PathBuf::from(name))
}

/// Decodes a folder of the workspace. It must not be outside of the workspace, or inside of a repository's
/// `.git`.
fn decode_inner_path(cx: &mut DecodeContext, written: &SpannedValue<String>) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(&written.value).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) if name != ".git" => path.push(name),
            _ => {
                return Diagnostic::error(codes::OUTSIDE_ROOT, "a repository must be inside the workspace")
                    .at(written.span, format!("`{}` leads outside", written.value))
                    .with_help("write a relative path without `..`, such as `./NAME`")
                    .reject_in(&mut cx.problems);
            }
        }
    }

    Some(path)
}

/// Reports a word that git would read as an option, or that has control characters.
fn refuse_git_option(cx: &mut DecodeContext, word: &SpannedValue<String>) {
    if word.value.starts_with('-') || word.value.chars().any(char::is_control) {
        Diagnostic::error(codes::NOT_SUPPORTED, "not allowed as an argument of git")
            .at(word.span, "it begins with `-` or holds a control character")
            .with_help("remove the `-` or the control character")
            .add_to(&mut cx.problems);
    }
}
