//! Decoder of `include`: replaces the entry with the graders of a template file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assize_diagnostic::{Diagnostic, SpannedValue, did_you_mean};
use assize_document::{MapReader, TreeNode, codes, wrong_type};
use assize_model::Grader;

use super::assertion_context::AssertionContext;
use super::list::decode_assertions;
use super::template_cache::CachedTemplate;
use crate::decode::DecodeContext;
use crate::decode::interpolate::interpolate;

/// Maximum nesting depth of templates.
const MAX_NESTING: usize = 3;
/// Folders of templates referred to by name, in any folder from the including file upwards.
const TEMPLATE_FOLDERS: [&str; 2] = [".assize/templates", ".agentv/templates"];
const TEMPLATE_EXTENSIONS: [&str; 2] = ["yaml", "yml"];

/// Decodes the entry `include: NAME`.
pub(super) fn decode_include(
    cx: &mut DecodeContext,
    item: &TreeNode,
    at: &AssertionContext,
) -> Vec<Arc<Grader>> {
    let Some(mut object) = MapReader::new(item, "an include", &mut cx.problems) else { return Vec::new() };
    let name = object.text("include", &mut cx.problems);
    if name.is_none() && item.get("include").is_some_and(TreeNode::is_null) {
        Diagnostic::error(codes::EMPTY_TEXT, "`include` is empty")
            .at(object.head(), "nothing follows")
            .with_help("write the name of a template, or a path")
            .add_to(&mut cx.problems);
    }

    object.finish(&mut cx.problems);
    name.map_or_else(Vec::new, |name| load_template(cx, &name, at).unwrap_or_default())
}

fn load_template(
    cx: &mut DecodeContext,
    name: &SpannedValue<String>,
    at: &AssertionContext,
) -> Option<Vec<Arc<Grader>>> {
    let written = locate_template(cx, name)?;
    let path = cx.find_file(&written, name.span)?;
    let real = fs::canonicalize(&path).unwrap_or(path);
    if let Some(position) = at.stack.iter().position(|step| *step == real) {
        let way: Vec<String> =
            at.stack[position..].iter().chain([&real]).map(|step| short_path(step)).collect();
        return Diagnostic::error(
            codes::TEMPLATE_CYCLE,
            format!("the template `{}` includes itself", name.value),
        )
        .at(name.span, "includes itself")
        .with_note(way.join(" -> "))
        .with_help("remove one of these includes")
        .reject_in(&mut cx.problems);
    }

    if at.stack.len() >= MAX_NESTING {
        return Diagnostic::error(
            codes::TEMPLATE_DEPTH,
            format!("templates are nested more than {MAX_NESTING} deep"),
        )
        .at(name.span, "one level too many")
        .with_help("include this template directly in the eval file")
        .reject_in(&mut cx.problems);
    }

    let key = (real.clone(), cx.format, at.stack.len());
    if let Some(known) = cx.templates.get(&key) {
        if !known.sound {
            cx.problems.count_error();
        }
        return Some(known.graders);
    }

    let errors = cx.problems.error_count();
    let mut stack = at.stack.clone();
    stack.push(real);

    let graders = read_template(cx, &written, name, AssertionContext { stack, names_are_checked: false });
    let sound = cx.problems.error_count() == errors;
    cx.templates.insert(key, CachedTemplate { graders: graders.clone(), sound });

    Some(graders)
}

fn read_template(
    cx: &mut DecodeContext,
    written: &str,
    name: &SpannedValue<String>,
    at: AssertionContext,
) -> Vec<Arc<Grader>> {
    let Some(file) = cx.read_text(written, name.span) else { return Vec::new() };
    let source = cx.sources.add(file.path, file.text);
    let errors = cx.problems.error_count();
    let root = cx.read_yaml(source);
    let Some(mut root) = root else {
        if cx.problems.error_count() == errors {
            Diagnostic::error(codes::TEMPLATE_BROKEN, format!("the template `{}` can't be used", name.value))
                .at(name.span, "included here")
                .with_note("the file is empty")
                .with_help("write a list under `assertions`")
                .add_to(&mut cx.problems);
        }
        return Vec::new();
    };

    interpolate(cx, &mut root);

    if root.as_map().is_none() {
        let mut complaint = wrong_type(&root, "a template", "a map with `assertions`");
        if root.as_seq().is_some() {
            complaint = complaint.with_help("put `assertions:` above the list");
        }

        cx.problems.add(complaint);
        return Vec::new();
    }

    let Some(mut object) = MapReader::new(&root, "a template", &mut cx.problems) else { return Vec::new() };
    for key in ["name", "description", "$schema"] {
        object.entry(key);
    }

    let list = object.value("assertions");
    if list.is_none() {
        Diagnostic::error(codes::TEMPLATE_BROKEN, "this template has no `assertions`")
            .at(object.head(), "expected a list under `assertions`")
            .with_help("write `assertions:` and the entries below it")
            .add_to(&mut cx.problems);
    }

    object.finish(&mut cx.problems);
    list.map_or_else(Vec::new, |list| decode_assertions(cx, list, at))
}

/// Returns the path of a template as [`DecodeContext::find_file`] takes it: a path as written, or the path of
/// the nearest template with this name.
fn locate_template(cx: &mut DecodeContext, name: &SpannedValue<String>) -> Option<String> {
    let written = name.value.trim();
    let is_path = written.starts_with("file://")
        || written.contains(['/', '\\'])
        || TEMPLATE_EXTENSIONS.iter().any(|ending| written.ends_with(&format!(".{ending}")));
    if is_path {
        return Some(written.to_owned());
    }

    let folders = cx.folders_upward(name.span);
    for folder in &folders {
        for kept in TEMPLATE_FOLDERS {
            for ending in TEMPLATE_EXTENSIONS {
                let relative = format!("{kept}/{written}.{ending}");
                if folder.join(&relative).is_file() {
                    return Some(relative);
                }
            }
        }
    }

    let mut diagnostic =
        Diagnostic::error(codes::TEMPLATE_NOT_FOUND, format!("there is no template `{written}`"))
            .at(name.span, "not found")
            .with_note(format!(
                "looked in `{}` and the folders above",
                folders.first()?.join(TEMPLATE_FOLDERS[0]).display()
            ));

    let known = list_template_names(&folders);
    if let Some(near) = did_you_mean(written, known.iter().map(String::as_str)) {
        diagnostic = diagnostic
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("use this one", name.span, near);
    } else {
        diagnostic = diagnostic.with_help(format!(
            "create `{}/{written}.yaml` with a list under `assertions`",
            TEMPLATE_FOLDERS[0]
        ));
    }

    cx.problems.reject(diagnostic)
}

/// Returns the names of all available templates.
fn list_template_names(folders: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = folders
        .iter()
        .flat_map(|folder| TEMPLATE_FOLDERS.map(|kept| folder.join(kept)))
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(Result::ok)
        .map(|file| file.path())
        .filter(|path| {
            path.extension().is_some_and(|found| TEMPLATE_EXTENSIONS.iter().any(|ending| found == *ending))
        })
        .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();

    names.sort();
    names.dedup();

    names
}

fn short_path(path: &Path) -> String {
    format!("`{}`", path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
}

#[cfg(test)]
mod tests {
    use assize_model::{GraderKind, ProgramFolder};

    use super::*;
    use crate::tests::snippets::{complaints, read_at};

    fn files(list: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in list {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("inside")).expect("a folder");
            fs::write(path, text).expect("written");
        }
        folder
    }

    fn decode(folder: &Path, text: &str) -> (Vec<Arc<Grader>>, Vec<(String, usize)>) {
        let (mut cx, node) = read_at(&folder.join("suite.yaml"), text);
        let graders = decode_assertions(&mut cx, &node, AssertionContext::default());
        (graders, complaints(cx))
    }

    #[test]
    fn templates_are_spliced_in_and_read_their_own_files() {
        let folder = files(&[
            (
                ".agentv/templates/safe.yaml",
                "assertions:\n- Is polite\n- {type: llm-grader, prompt: 'file://p.md'}\n- include: ./more.yml\n",
            ),
            (".agentv/templates/more.yml", "assertions:\n- {type: code-grader, command: [x]}\n"),
            (".agentv/templates/p.md", "Judge it\r\n"),
        ]);
        let (graders, problems) =
            decode(folder.path(), "- {type: is-json}\n- include: safe\n- {type: equals, value: x}\n- Last\n");
        assert_eq!(problems, vec![]);
        let names: Vec<&str> = graders.iter().map(|grader| grader.name.as_str()).collect();
        assert_eq!(names, ["is-json", "rubrics", "llm-grader", "code-grader", "equals", "rubrics-2"]);
        assert!(graders[1].place.path().ends_with(".agentv/templates/safe.yaml"));
        let GraderKind::Llm(llm) = &graders[2].kind else { panic!("a judge") };
        assert!(format!("{:?}", llm.prompt).contains("Judge it\\n"));
        let GraderKind::Code(code) = &graders[3].kind else { panic!("a program") };
        let folder = code.cwd.as_ref().and_then(ProgramFolder::named);
        assert!(folder.is_some_and(|folder| folder.ends_with(".agentv/templates")));
    }

    #[test]
    fn cycles_and_deep_nests_end() {
        let folder = files(&[
            (".assize/templates/a.yaml", "assertions: [{include: b}]\n"),
            (".assize/templates/b.yaml", "assertions: [{include: a}]\n"),
            (".assize/templates/t1.yaml", "assertions: [{include: t2}]\n"),
            (".assize/templates/t2.yaml", "assertions: [{include: t3}]\n"),
            (".assize/templates/t3.yaml", "assertions: [{include: t4}]\n"),
            (".assize/templates/t4.yaml", "assertions: [Fine]\n"),
        ]);
        // Named templates are also found from the template's own folder.
        let inner = folder.path().join(".assize/templates");
        for (text, code) in [("- include: a\n", "E0312"), ("- include: t1\n", "E0313")] {
            let (mut cx, node) = read_at(&folder.path().join("suite.yaml"), text);
            Arc::make_mut(&mut cx.reach).search = vec![folder.path().to_path_buf(), inner.clone()];
            decode_assertions(&mut cx, &node, AssertionContext::default());
            let problems = complaints(cx);
            assert_eq!(problems.iter().map(|p| p.0.as_str()).collect::<Vec<_>>(), [code], "{text}");
        }
        let (mut cx, node) = read_at(&folder.path().join("suite.yaml"), "- include: t2\n");
        Arc::make_mut(&mut cx.reach).search = vec![folder.path().to_path_buf()];
        assert_eq!(decode_assertions(&mut cx, &node, AssertionContext::default()).len(), 1);
    }

    #[test]
    fn a_broken_template_is_reported_once_and_spoils_every_use() {
        let folder = files(&[
            (".assize/templates/bad.yaml", "assertions:\n- ''\n- {type: nonsense}\n"),
            (".assize/templates/list.yaml", "- a\n"),
            (".assize/templates/none.yaml", "rules: []\n"),
            (".assize/templates/empty.yaml", "# nothing\n"),
        ]);
        let (mut cx, node) = read_at(&folder.path().join("suite.yaml"), "- include: bad\n- include: bad\n");
        decode_assertions(&mut cx, &node, AssertionContext::default());
        assert_eq!(cx.problems.error_count(), 3, "both uses are spoilt");
        let codes: Vec<&str> = cx.problems.into_vec().iter().map(|d| d.code.as_str()).collect();
        assert_eq!(codes, ["E0107", "E0301"]);
        for (name, expected) in [
            ("list", vec!["E0105"]),
            ("none", vec!["E0103", "E0314"]),
            ("empty", vec!["E0314"]),
            ("lost", vec!["E0311"]),
            ("lost.yaml", vec!["E0501"]),
        ] {
            let (_, problems) = decode(folder.path(), &format!("- include: {name}\n"));
            let mut codes: Vec<&str> = problems.iter().map(|p| p.0.as_str()).collect();
            codes.sort_unstable();
            assert_eq!(codes, expected, "{name}");
        }
        let (_, problems) = decode(folder.path(), "- {include: bad, weight: 2}\n- include:\n");
        assert!(problems.contains(&("E0103".into(), 1)) && problems.contains(&("E0107".into(), 2)));
    }
}
