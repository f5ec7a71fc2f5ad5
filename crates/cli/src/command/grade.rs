//! `assize grade`.

use std::fs::File;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use assize_engine::ExitStatus;
use tempfile::TempDir;

use super::eval::print_outcome;
use super::present;
use crate::args::GradeArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::runtime::block_on;

pub(crate) fn execute(args: &GradeArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    let engine = context.run_engine(args.run.quiet, args.run.output.json);
    let mut options = args.options()?;
    // Answers are read more than once, so piped answers are kept in a file until the run ends.
    let piped = if options.answers == Path::new("-") { Some(PipedAnswers::read()?) } else { None };
    if let Some(piped) = &piped {
        options.answers.clone_from(&piped.path);
        options.answers_name = Some(PathBuf::from("<stdin>"));
    }

    let outcome = block_on(engine.grade(&options))?;
    print_outcome(outcome, &args.run, context, |finished| {
        present::finished_run(finished, args.run.output(), args.run.output.show(), context)
    })
}

/// Answers from standard input in a temporary file, which is removed when this is dropped.
struct PipedAnswers {
    path: PathBuf,
    _folder: TempDir,
}

impl PipedAnswers {
    fn read() -> Result<Self, CommandFailure> {
        Self::copy(&mut io::stdin().lock())
            .map_err(|error| format!("can't read standard input: {error}").into())
    }

    fn copy(input: &mut impl BufRead) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("assize-").tempdir()?;
        let ending = ending_of(input.fill_buf()?);
        let path = folder.path().join(format!("standard-input.{ending}"));
        io::copy(input, &mut File::create(&path)?)?;

        Ok(Self { path, _folder: folder })
    }
}

/// Extension for a file that begins with these bytes.
fn ending_of(beginning: &[u8]) -> &'static str {
    let first = beginning.trim_ascii_start().first();
    match (beginning, first) {
        ([b'P', b'K', ..], _) => "xlsx",
        ([b'P', b'A', b'R', b'1', ..], _) => "parquet",
        (_, Some(b'{' | b'[') | None) => "jsonl",
        _ => "csv",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piped_answers_are_kept_in_a_file_until_they_are_graded() {
        let piped = PipedAnswers::copy(&mut &b"id,answer\n1,Hello\n"[..]).expect("it is copied");
        assert_eq!(piped.path.file_name().expect("a file"), "standard-input.csv");
        let text = std::fs::read_to_string(&piped.path).expect("it is there");
        assert_eq!(text, "id,answer\n1,Hello\n");

        let path = piped.path.clone();
        drop(piped);
        assert!(!path.exists());
    }

    #[test]
    fn the_format_of_piped_answers_is_told_by_their_beginning() {
        for (beginning, ending) in [
            (&b"\n {\"answer\": 1}"[..], "jsonl"),
            (b"[1]", "jsonl"),
            (b"", "jsonl"),
            (b"id,answer", "csv"),
            (b"PK\x03\x04", "xlsx"),
            (b"PAR1\x15", "parquet"),
        ] {
            assert_eq!(ending_of(beginning), ending, "{beginning:?}");
        }
    }
}
