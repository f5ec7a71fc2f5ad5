//! Fixture that runs the real binary in a temporary folder with a clean environment.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use crate::filter::OutputFilter;

/// Time limit of every command in a test, so that a hanging binary fails the test instead of blocking it
/// forever.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(2);

/// A temporary folder and a binary to run in it.
#[derive(Debug)]
pub struct CliTest {
    binary: PathBuf,
    folder: TempDir,
    /// Variables set on top of the clean environment.
    variables: Vec<(String, String)>,
    /// True if files may run programs.
    consents: bool,
    filters: Vec<OutputFilter>,
    time_limit: Duration,
}

impl CliTest {
    /// Creates a fixture for a binary; in an integration test of its crate, `env!("CARGO_BIN_EXE_name")` is
    /// its path.
    ///
    /// # Panics
    /// If no temporary folder can be created, which fails the test.
    pub fn new(binary: impl AsRef<Path>) -> Self {
        Self {
            binary: binary.as_ref().to_owned(),
            folder: TempDir::new().expect("a temporary folder can be made"),
            variables: Vec::new(),
            consents: true,
            filters: Vec::new(),
            time_limit: COMMAND_TIMEOUT,
        }
    }

    /// Sets the time limit of a command, which is two minutes by default.
    pub fn time_limit(&mut self, time_limit: Duration) -> &mut Self {
        self.time_limit = time_limit;
        self
    }

    /// Returns the folder in which the binary runs; also its home folder.
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a path in the folder.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.dir().join(relative)
    }

    /// Writes a file in the folder, with the folders above it.
    ///
    /// # Panics
    /// If it cannot be written, which fails the test.
    pub fn file(&self, relative: impl AsRef<Path>, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(relative);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("folders in a temporary folder can be made");
        }

        std::fs::write(&path, text).expect("files in a temporary folder can be written");
        self
    }

    /// Copies the contents of a folder into a folder of the fixture; the empty path is the fixture itself.
    ///
    /// # Panics
    /// If they cannot be read or written, which fails the test.
    pub fn copy_folder(&self, from: &Path, relative: impl AsRef<Path>) {
        let to = self.path(relative.as_ref());
        std::fs::create_dir_all(&to).expect("folders in a temporary folder can be made");

        for entry in std::fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
            let entry = entry.expect("a folder that was opened can be read");
            if entry.path().is_dir() {
                self.copy_folder(&entry.path(), relative.as_ref().join(entry.file_name()));
            } else {
                let copied = std::fs::copy(entry.path(), to.join(entry.file_name()));
                copied.unwrap_or_else(|error| panic!("{}: {error}", entry.path().display()));
            }
        }
    }

    /// Reads a file in the folder.
    ///
    /// # Panics
    /// If it does not exist or is not UTF-8, which fails the test.
    pub fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.path(relative);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a spreadsheet: sheets with their names, each a list of rows of texts.
    ///
    /// # Panics
    /// If it cannot be written, which fails the test.
    pub fn spreadsheet(&self, relative: impl AsRef<Path>, sheets: &[(&str, &[&[&str]])]) -> &Self {
        let mut book = rust_xlsxwriter::Workbook::new();
        for (name, rows) in sheets {
            let sheet = book.add_worksheet().set_name(*name).expect("a name of a sheet");
            for (row, cells) in rows.iter().enumerate() {
                for (column, text) in cells.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
                    sheet.write_string(row as u32, column as u16, *text).expect("a cell");
                }
            }
        }

        self.file(relative, book.save_to_buffer().expect("a spreadsheet"))
    }

    /// Removes checksums and row counts from a run folder, as in the first version of its layout, so that rows
    /// changed by a test can be read.
    pub fn drop_checksums(&self, folder: &str) {
        let parse = |text: &str| -> serde_json::Value {
            let mut value: serde_json::Value = serde_json::from_str(text).expect("a file of a run is JSON");
            value.as_object_mut().expect("a row is an object").remove("crc");
            value
        };

        for name in ["results.jsonl", "judgements.jsonl"] {
            let path = format!("{folder}/{name}");
            let rows: Vec<String> = self.read(&path).lines().map(|row| format!("{}\n", parse(row))).collect();
            self.file(&path, rows.concat());
        }

        let path = format!("{folder}/run.json");
        let mut info = parse(&self.read(&path));
        info.as_object_mut().expect("a description is an object").remove("rows");
        info["format_version"] = 1.into();
        self.file(&path, info.to_string());
    }

    /// Sets a variable for all further commands.
    pub fn env(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Withdraws the consent to programs of files. The fixture gives it by default, because most tests are about
    /// something else.
    pub fn without_consent(&mut self) -> &mut Self {
        self.consents = false;
        self
    }

    /// Adds a filter that [`CliTest::normalise`] applies.
    pub fn filter(&mut self, filter: OutputFilter) -> &mut Self {
        self.filters.push(filter);
        self
    }

    /// Builds the command: in the folder, with no variables except `PATH`, `HOME`, the consent and those that were set. For
    /// tests that need the process itself.
    #[expect(clippy::disallowed_methods, reason = "a child process finds its own tools by PATH")]
    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args).current_dir(self.dir()).env_clear().env("HOME", self.dir());

        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }

        if self.consents {
            command.env("ASSIZE_ALLOW_CODE", "1");
        }

        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the binary to its end.
    ///
    /// # Panics
    /// If it cannot be started or runs for longer than its time limit.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> CliOutput {
        self.run_with_input(args, "")
    }

    /// Runs the binary to its end with this standard input.
    ///
    /// # Panics
    /// If it cannot be started or runs for longer than its time limit.
    pub fn run_with_input<S: AsRef<OsStr>>(&self, args: &[S], input: &str) -> CliOutput {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {}: {error}", self.binary.display()));

        let stdin = child.stdin.take();
        let input = input.to_owned();
        let writer = std::thread::spawn(move || {
            if let Some(mut stdin) = stdin {
                // A program may close its input without reading it.
                let _ = std::io::Write::write_all(&mut stdin, input.as_bytes());
            }
        });

        let stdout = read_all(child.stdout.take());
        let stderr = read_all(child.stderr.take());
        let collected = stdout
            .recv_timeout(self.time_limit)
            .and_then(|out| Ok((out, stderr.recv_timeout(self.time_limit)?)));
        let Ok((stdout, stderr)) = collected else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{} did not end within {} s", self.binary.display(), self.time_limit.as_secs());
        };

        let status = child.wait().expect("a started process can be waited for");
        let _ = writer.join();

        CliOutput { stdout, stderr, code: status.code() }
    }

    /// Replaces the folder's path by `[DIR]` and applies all filters in the order in which they were added.
    pub fn normalise(&self, text: &str) -> String {
        let mut text = text.to_owned();
        // The longer path first: on some systems the real path contains the given one.
        let real = self.dir().canonicalize().ok();
        let mut paths: Vec<String> =
            real.iter().map(PathBuf::as_path).chain([self.dir()]).map(|p| p.display().to_string()).collect();
        paths.sort_by_key(|path| std::cmp::Reverse(path.len()));

        for path in paths {
            text = text.replace(&path, "[DIR]");
        }

        self.filters.iter().fold(text, |text, filter| filter.apply(&text))
    }

    /// Runs the binary and formats exit code, output and errors as one normalised text, for golden files.
    pub fn snapshot<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        let output = self.run(args);
        let code = output.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        let text = format!("exit: {code}\n--- stdout\n{}--- stderr\n{}", output.stdout, output.stderr);
        self.normalise(&text)
    }
}

/// Result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliOutput {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
}

impl CliOutput {
    /// Asserts the exit code, showing all output if it differs.
    ///
    /// # Panics
    /// If it differs, which fails the test.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "unexpected exit code\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }
}

fn read_all(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // In a failing test, the output before an error is more useful than the error.
            let _ = pipe.read_to_end(&mut bytes);
        }

        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });

    receive
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn runs_in_its_folder_with_a_clean_environment() {
        let mut cli = CliTest::new("/bin/sh");
        cli.file("a/b.txt", "hello");
        cli.env("GIVEN", "yes");
        let script = "cat a/b.txt; echo; echo $GIVEN $CARGO_MANIFEST_DIR $HOME; cat; echo oops >&2; exit 3";
        let output = cli.run_with_input(&["-c", script], "typed\n").expect_code(3);
        assert_eq!(cli.normalise(&output.stdout), "hello\nyes [DIR]\ntyped\n");
        assert_eq!(output.stderr, "oops\n");
        cli.run(&["-c", "echo made > made.txt"]).expect_code(0);
        assert_eq!(cli.read("made.txt"), "made\n");
    }

    #[test]
    fn snapshots_are_normalised() {
        let mut cli = CliTest::new("/bin/sh");
        cli.filter(OutputFilter::durations());
        assert_eq!(
            cli.snapshot(&["-c", "echo $HOME/x in 12ms"]),
            "exit: 0\n--- stdout\n[DIR]/x in [TIME]\n--- stderr\n"
        );
    }
}
