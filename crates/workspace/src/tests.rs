//! What an agent can do to a folder, and how it is reported.

use std::fs;
use std::path::Path;

use crate::{ChangeKind, FileChanges, SnapshotLimits, WalkError, WorkspaceSnapshot};
use tempfile::TempDir;

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        write(folder.path(), name, content);
    }
    folder
}

fn write(root: &Path, name: &str, content: &[u8]) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().expect("it has one")).expect("folders");
    fs::write(path, content).expect("a file");
}

/// The changes after `act` was applied to a folder with these files.
fn after(files: &[(&str, &[u8])], act: impl FnOnce(&Path)) -> FileChanges {
    let folder = folder(files);
    let snapshot = WorkspaceSnapshot::take(folder.path(), SnapshotLimits::default(), &std::env::temp_dir())
        .expect("it is readable");
    act(folder.path());
    snapshot.changes().expect("it is readable")
}

fn kinds(changes: &FileChanges) -> Vec<(&str, &ChangeKind)> {
    changes.changes.iter().map(|change| (change.path.as_str(), &change.kind)).collect()
}

#[test]
fn nothing_done_is_nothing_said() {
    let changes = after(&[("a", b"1\n"), ("b/c", b"\0\x01")], |root| write(root, "a", b"1\n"));
    assert_eq!(changes, FileChanges { changes: Vec::new(), diff: String::new(), left_out: Vec::new() });
}

#[test]
fn new_changed_and_deleted_files_are_a_unified_diff() {
    let changes = after(&[("keep.txt", b"one\ntwo\nthree\n"), ("old.txt", b"gone\n")], |root| {
        write(root, "keep.txt", b"one\n2\nthree\n");
        write(root, "deep/new.txt", b"hello");
        fs::remove_file(root.join("old.txt")).expect("removed");
    });
    let expected = "\
diff --git a/deep/new.txt b/deep/new.txt
new file mode 100644
--- /dev/null
+++ b/deep/new.txt
@@ -0,0 +1 @@
+hello
\\ No newline at end of file
diff --git a/keep.txt b/keep.txt
--- a/keep.txt
+++ b/keep.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
";
    assert_eq!(changes.diff, expected);
    assert_eq!(
        kinds(&changes),
        [
            ("deep/new.txt", &ChangeKind::Added),
            ("keep.txt", &ChangeKind::Modified),
            ("old.txt", &ChangeKind::Deleted)
        ]
    );
}

#[test]
fn a_moved_file_is_a_rename_even_when_it_was_edited() {
    let text = "alpha\nbeta\ngamma\ndelta\nepsilon\n";
    let changes = after(&[("a.txt", text.as_bytes()), ("b.bin", b"\0binary"), ("empty", b"")], |root| {
        fs::rename(root.join("a.txt"), root.join("c.txt")).expect("moved");
        write(root, "c.txt", text.replace("gamma", "GAMMA").as_bytes());
        fs::rename(root.join("b.bin"), root.join("d.bin")).expect("moved");
        fs::rename(root.join("empty"), root.join("void")).expect("moved");
    });
    let from = |name: &str| ChangeKind::Renamed { from: name.to_owned() };
    let expected = [
        ("c.txt", &from("a.txt")),
        ("d.bin", &from("b.bin")),
        ("empty", &ChangeKind::Deleted),
        ("void", &ChangeKind::Added),
    ];
    assert_eq!(kinds(&changes), expected, "two empty files have nothing in common");
    assert!(
        changes.diff.contains("rename from a.txt\nrename to c.txt\n--- a/a.txt\n+++ b/c.txt\n"),
        "{}",
        changes.diff
    );
    assert!(changes.diff.contains("-gamma\n+GAMMA\n"), "{}", changes.diff);
    assert!(changes.diff.contains("rename from b.bin\nrename to d.bin\n"), "{}", changes.diff);
}

#[test]
fn binary_files_are_named_with_size_and_hash() {
    let changes = after(&[("x.bin", b"\0\x01\x02")], |root| write(root, "x.bin", b"\0\x01\x02\x03"));
    assert!(
        changes.diff.contains("Binary files a/x.bin and b/x.bin differ (3 bytes, blake3 "),
        "{}",
        changes.diff
    );
    assert!(changes.diff.contains(" to 4 bytes, blake3 "), "{}", changes.diff);
}

#[test]
fn repositories_inside_are_folders_and_their_insides_stay_out() {
    let changes =
        after(&[("vendor/lib/.git/HEAD", b"ref: x\n"), ("vendor/lib/code.rs", b"fn a() {}\n")], |root| {
            write(root, "vendor/lib/.git/HEAD", b"ref: y\n");
            write(root, "vendor/lib/code.rs", b"fn b() {}\n");
            write(root, ".git/index", b"new repository");
            write(root, ".gitignore", b"*.log\n");
            write(root, "debug.log", b"ignored files count as well\n");
        });
    let paths: Vec<&str> = kinds(&changes).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, [".gitignore", "debug.log", "vendor/lib/code.rs"]);
}

#[test]
fn more_than_a_mebibyte_is_there_to_the_last_line() {
    let line = "x".repeat(99);
    let lines: Vec<String> = (0..20_000).map(|number| format!("{number} {line}")).collect();
    let big = lines.join("\n") + "\n";
    let changes = after(&[], |root| write(root, "big.txt", big.as_bytes()));
    assert!(changes.diff.len() > 2 << 20);
    assert!(changes.diff.ends_with(&format!("+19999 {line}\n")));
    assert!(changes.left_out.is_empty());
}

#[test]
fn what_is_cut_is_said_at_the_place_and_in_the_list() {
    let folder = folder(&[]);
    let limits = SnapshotLimits { max_file_diff: 200, max_diff: 500, ..SnapshotLimits::default() };
    let snapshot =
        WorkspaceSnapshot::take(folder.path(), limits, &std::env::temp_dir()).expect("it is readable");
    for name in ["a", "b", "c", "d"] {
        write(folder.path(), name, "0123456789\n".repeat(40).as_bytes());
    }
    let changes = snapshot.changes().expect("it is readable");
    assert_eq!(changes.changes.len(), 4, "every changed file is listed");
    assert!(changes.diff.contains("more lines of this file's diff are not shown]"), "{}", changes.diff);
    assert!(changes.diff.contains("[cut: d changed too;"), "{}", changes.diff);
    assert!(changes.left_out.iter().any(|text| text.starts_with("a: ")), "{:?}", changes.left_out);
    assert!(changes.left_out.contains(&"d: all of its diff".to_owned()), "{:?}", changes.left_out);
}

#[test]
fn a_text_too_large_to_be_kept_is_still_told() {
    let folder = folder(&[("log", b"0123456789")]);
    let limits = SnapshotLimits { max_text: 8, ..SnapshotLimits::default() };
    let snapshot =
        WorkspaceSnapshot::take(folder.path(), limits, &std::env::temp_dir()).expect("it is readable");
    write(folder.path(), "log", b"012345678x");
    let changes = snapshot.changes().expect("it is readable");
    assert!(changes.diff.contains("differ (10 bytes, blake3 "), "{}", changes.diff);
}

#[test]
fn names_can_not_forge_a_diff() {
    let changes = after(&[], |root| write(root, "x\n+++ b/passwd", b"y\n"));
    assert!(changes.diff.contains("+++ \"b/x\\n+++ b/passwd\"\n"), "{}", changes.diff);
    assert!(!changes.diff.contains("\n+++ b/passwd"), "{}", changes.diff);
}

#[test]
fn a_workspace_without_end_is_refused() {
    let folder = folder(&[("a", b""), ("b", b""), ("c", b"")]);
    let limits = SnapshotLimits { max_files: 2, ..SnapshotLimits::default() };
    assert!(matches!(
        WorkspaceSnapshot::take(folder.path(), limits, &std::env::temp_dir()),
        Err(WalkError::TooManyFiles { limit: 2, .. })
    ));
    let missing = WorkspaceSnapshot::take(
        &folder.path().join("nowhere"),
        SnapshotLimits::default(),
        &std::env::temp_dir(),
    );
    assert!(matches!(missing, Err(WalkError::Unreadable { .. })));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_are_told_and_never_followed() {
        let outside = folder(&[("secret", b"do not read\n")]);
        let secret = outside.path().join("secret");
        let changes = after(&[("file", b"text\n")], |root| {
            symlink(&secret, root.join("way-out")).expect("a link");
            symlink(outside.path(), root.join("folder-out")).expect("a link");
            fs::remove_file(root.join("file")).expect("removed");
            symlink("elsewhere", root.join("file")).expect("a link");
        });
        assert!(!changes.diff.contains("do not read"), "{}", changes.diff);
        assert!(changes.diff.contains("new file mode 120000"), "{}", changes.diff);
        // A file that became a link is a deletion and a creation.
        assert!(
            changes.diff.contains("deleted file mode 100644\n--- a/file\n+++ /dev/null"),
            "{}",
            changes.diff
        );
        assert_eq!(changes.changes.len(), 3);
    }

    #[test]
    fn a_mode_is_a_change() {
        let changes = after(&[("run.sh", b"true\n")], |root| {
            fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("set");
        });
        assert_eq!(changes.diff, "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n");
    }
}

/// Every text file of a folder with its mode, and every link.
#[cfg(unix)]
fn listing(root: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt;
    let mut lines = Vec::new();
    let mut levels = vec![root.to_path_buf()];
    while let Some(level) = levels.pop() {
        for entry in fs::read_dir(level).expect("readable").filter_map(Result::ok) {
            let (path, found) = (entry.path(), entry.metadata().expect("there"));
            if found.is_dir() {
                levels.push(path);
                continue;
            }
            let content = match fs::read_link(&path) {
                Ok(to) => format!("-> {}", to.display()),
                Err(_) => fs::read_to_string(&path).expect("a text"),
            };
            let runs = found.permissions().mode() & 0o100 != 0;
            lines.push(format!("{} {runs} {content:?}", path.strip_prefix(root).expect("inside").display()));
        }
    }
    lines.sort();
    lines
}

#[cfg(unix)]
#[test]
fn git_applies_the_diff() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let prose = "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n";
    let files: &[(&str, &[u8])] = &[
        ("edited.txt", b"one\ntwo\nthree\n"),
        ("no newline", b"one\ntwo"),
        ("gets newline", b"one"),
        ("dos.txt", b"one\r\ntwo\r\n"),
        ("gone.txt", b"x\n"),
        ("gone-empty", b""),
        ("renamed.txt", prose.as_bytes()),
        ("moved/same.txt", prose.as_bytes()),
        ("run.sh", b"#!/bin/sh\n"),
        ("becomes-link", b"text\n"),
        ("with \"quotes\" and\ttab", b"1\n"),
        ("\u{e4}\u{20ac}", b"1\n"),
        ("diff-like", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"),
    ];
    let before = folder(files);
    let after = folder(files);
    let snapshot = WorkspaceSnapshot::take(after.path(), SnapshotLimits::default(), &std::env::temp_dir())
        .expect("it is readable");
    let root = after.path();
    write(root, "edited.txt", b"zero\none\n2\nthree\nfour\n");
    write(root, "no newline", b"one\n2");
    write(root, "gets newline", b"one\n");
    write(root, "dos.txt", b"one\r\n2\r\n");
    fs::remove_file(root.join("gone.txt")).expect("removed");
    fs::remove_file(root.join("gone-empty")).expect("removed");
    fs::remove_file(root.join("renamed.txt")).expect("removed");
    write(root, "to/here.txt", prose.replace("line 7\n", "line seven\n").as_bytes());
    fs::rename(root.join("moved/same.txt"), root.join("same.txt")).expect("moved");
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("set");
    fs::remove_file(root.join("becomes-link")).expect("removed");
    symlink("edited.txt", root.join("becomes-link")).expect("made");
    write(root, "with \"quotes\" and\ttab", b"2\n");
    write(root, "\u{e4}\u{20ac}", b"2\n");
    write(root, "diff-like", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+3\n");
    write(root, "new/empty", b"");
    write(root, "new/a b.txt", b"new\n");
    write(root, "nested/.git/HEAD", b"not told\n");
    write(root, "nested/file", b"told\n");
    let diff = snapshot.changes().expect("it is readable").diff;
    let patch = before.path().join("patch");
    fs::write(&patch, &diff).expect("written");
    let output = std::process::Command::new("git")
        .args(["apply", "--whitespace=nowarn", "patch"])
        .current_dir(before.path())
        .env("GIT_CEILING_DIRECTORIES", before.path().parent().expect("it has one"))
        .output()
        .expect("git is there");
    assert!(output.status.success(), "{}\n{diff}", String::from_utf8_lossy(&output.stderr));
    fs::remove_file(patch).expect("removed");
    fs::remove_dir_all(root.join("nested/.git")).expect("removed");
    assert_eq!(listing(before.path()), listing(root));
}

#[test]
fn what_is_excluded_comes_last_and_is_cut_before_anything_else() {
    let changes = after(&[(".gitignore", b"packages/\n")], |root| {
        for number in 0..3 {
            write(root, &format!("packages/p{number}/big"), &vec![b'x'; 200_000]);
        }
        write(root, "packages-not", b"1\n");
        // Excluding more paths afterwards hides nothing.
        write(root, ".gitignore", b"packages/\nhidden\n");
        write(root, "hidden", b"seen\n");
    });
    assert!(changes.diff.contains("+seen\n") && changes.diff.contains("b/packages-not"), "{}", changes.diff);
    let last = "[cut: 3 changed files in `packages`, which .gitignore excludes: not shown]\n";
    assert!(changes.diff.ends_with(last), "{}", changes.diff);
    assert_eq!((changes.changes.len(), changes.left_out.len()), (6, 1));
    let shown = after(&[(".gitignore", b"out/\n")], |root| write(root, "out/report", b"1\n"));
    assert!(shown.diff.contains("+++ b/out/report") && shown.left_out.is_empty(), "{}", shown.diff);
}
