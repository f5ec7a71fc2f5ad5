//! Decoder of custom graders: programs of the project whose file name is the type.

use std::fs;
use std::path::{Path, PathBuf};

use assize_diagnostic::Span;
use assize_document::MapReader;
use assize_model::{CustomGrader, GraderKind};

use super::code::{decode_pass_env, decode_program_settings};
use super::prompt::decode_program_config;
use crate::decode::DecodeContext;

/// Folders with custom graders. They may be in any folder from the eval file upwards.
const GRADER_FOLDERS: [&str; 2] = [".assize/graders", ".agentv/assertions"];
const KNOWN_KEYS: [&str; 8] =
    ["name", "type", "weight", "required", "min_score", "negate", "config", "pass_env"];

/// Finds the nearest file that defines the type `name`. Names that could lead to another folder are not looked
/// up.
pub(super) fn find_custom_grader(cx: &DecodeContext, name: &str, span: Span) -> Option<PathBuf> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || !name.chars().all(is_plain) {
        return None;
    }

    let found = cx
        .folders_upward(span)
        .iter()
        .flat_map(|folder| GRADER_FOLDERS.map(|kept| folder.join(kept)))
        .find_map(|folder| file_named(&folder, name))?;
    cx.reach.roots.contain(&found).then_some(found)
}

fn file_named(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .map(|file| file.path())
        .filter(|path| path.is_file() && path.file_stem().is_some_and(|stem| stem == name))
        .collect();
    // Folders are listed in an order that depends on the file system.
    files.sort();

    files.into_iter().next()
}

/// Decodes a custom grader. All keys except the common ones are its settings.
pub(super) fn decode_custom(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    name: &str,
    path: &Path,
) -> GraderKind {
    let pass_env = decode_pass_env(cx, object);
    let mut settings = decode_program_config(cx, object);
    settings.extend(decode_program_settings(cx, object, &KNOWN_KEYS));

    GraderKind::Custom(CustomGrader {
        type_name: name.to_owned(),
        path: path.to_path_buf(),
        pass_env,
        config: settings,
    })
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::decode::grader::{AssertionContext, decode_assertions};
    use crate::tests::snippets::{complaints, read_at};

    #[test]
    fn a_file_makes_a_type() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = folder.path().join(".agentv/assertions");
        fs::create_dir_all(&kept).expect("a folder");
        fs::write(kept.join("word-count.ts"), "").expect("written");
        let text =
            "- {type: word-count, minimum: 3, weight: 2}\n- {type: word_count}\n- {type: ../word-count}\n";
        let (mut cx, node) = read_at(&folder.path().join("suite.yaml"), text);
        let graders = decode_assertions(&mut cx, &node, AssertionContext::default());
        assert_eq!(graders.len(), 1);
        let GraderKind::Custom(custom) = &graders[0].kind else { panic!("custom") };
        assert_eq!(custom.type_name, "word-count");
        assert!(custom.path.ends_with("word-count.ts"));
        assert_eq!(custom.config.len(), 1);
        assert_eq!(complaints(cx), vec![("E0302".into(), 2), ("E0301".into(), 3)]);
    }
}
