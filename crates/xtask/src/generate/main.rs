//! Makes files from the code (pages of `docs/`, the README's picture, schemas), or checks that they
//! are current. `cargo xtask generate` and `cargo xtask package-files` start it.

#![expect(clippy::print_stdout, reason = "a tool for developers: its report goes to the terminal")]

mod agentv;
mod assertions;
mod commands;
mod errors;
mod help_text;
mod limits;
mod lint;
mod marked;
mod mode;
mod package_files;
mod picture;
mod schemas;
mod summary;
mod terminal_svg;

use std::path::Path;
use std::process::ExitCode;

use mode::Mode;
use xtask::shell;
use xtask::workspace_build::WorkspaceBuild;

const USAGE: &str = "usage: generate [--check | package-files]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let program = WorkspaceBuild::make_program().and_then(|build| build.program("assize"));
    let result = program.and_then(|program| {
        match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [] => make(Mode::Write, &program),
            ["--check"] => make(Mode::Check, &program),
            ["package-files"] => package_files::run(&program),
            _ => Err(USAGE.to_owned()),
        }
    });

    shell::exit_code(result)
}

/// Generates every file with a program that was built from the current code.
fn make(mode: Mode, program: &Path) -> Result<(), String> {
    let mut pages = vec![
        ("docs/errors.md".to_owned(), errors::page()),
        ("docs/lint.md".to_owned(), lint::page()),
        ("docs/cli.md".to_owned(), commands::page(program)?),
    ];
    pages.push((agentv::PAGE.to_owned(), agentv::page()?));
    pages.push((limits::PAGE.to_owned(), limits::page()?));
    pages.push((assertions::PAGE.to_owned(), assertions::page()?));
    pages.push((summary::PAGE.to_owned(), summary::page()?));
    pages.push((picture::FILE.to_owned(), picture::picture(program)?));
    pages.extend(schemas::files(program)?);

    let mut stale = schemas::left_over(&pages, mode)?;
    for (name, page) in pages {
        let path = shell::root().join(&name);
        let present = std::fs::read_to_string(&path).unwrap_or_default();
        if present.replace("\r\n", "\n") == page {
            continue;
        }

        match mode {
            Mode::Check => stale.push(match first_difference(&present, &page) {
                Some(line) => format!("{name} differs from line {line}"),
                None => name,
            }),
            Mode::Write => {
                let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
                written
                    .and_then(|()| std::fs::write(&path, page))
                    .map_err(|error| format!("can't write {name}: {error}"))?;
                println!("wrote {name}");
            }
        }
    }

    if stale.is_empty() {
        return Ok(());
    }

    Err(format!("generated pages are not current: {}\nrun `cargo xtask generate`", stale.join(", ")))
}

/// Number of the first line in which two texts differ, counted from 1.
fn first_difference(a: &str, b: &str) -> Option<usize> {
    let (mut a, mut b) = (a.lines(), b.lines());
    (1..).map(|number| (number, a.next(), b.next())).find_map(|(number, a, b)| match (a, b) {
        (None, None) => Some(None),
        (a, b) => (a != b).then_some(Some(number)),
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("", "a"), Some(1));
    }
}
