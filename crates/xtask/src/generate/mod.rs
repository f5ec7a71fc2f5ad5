//! Generates files from the code (pages of `docs/`, the table in ARCHITECTURE.md, the README's picture,
//! schemas), and checks that they are current.

mod agentv;
mod architecture;
mod assertions;
mod commands;
mod errors;
mod help_text;
mod lint;
mod marked;
mod mode;
mod picture;
mod schemas;
mod summary;
mod terminal_svg;

use crate::shell;
pub(crate) use commands::{Build, printed};
pub(crate) use mode::Mode;

/// Builds the program and returns its path.
pub(crate) fn program(build: Build) -> Result<std::path::PathBuf, String> {
    commands::built(build)
}

/// Generates or checks all files.
pub(crate) fn run(mode: Mode, build: Build) -> Result<(), String> {
    let program = program(build)?;
    let mut pages = vec![
        ("docs/errors.md".to_owned(), errors::page()),
        ("docs/lint.md".to_owned(), lint::page()),
        ("docs/cli.md".to_owned(), commands::page(&program)?),
    ];
    pages.push((architecture::PAGE.to_owned(), architecture::page()?));
    pages.push((agentv::PAGE.to_owned(), agentv::page()?));
    pages.push((assertions::PAGE.to_owned(), assertions::page()?));
    pages.push((summary::PAGE.to_owned(), summary::page()?));
    pages.push((picture::FILE.to_owned(), picture::picture(&program)?));
    pages.extend(schemas::files(&program)?);

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
