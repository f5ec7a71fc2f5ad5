//! Measures times and memory of the program as distributed: `cargo run -p assize-bench -- [PART] [--quick] [--write]`.
//!
//! Every result is next to a baseline that was measured within the same minute on the same machine, because times from
//! different machines are not comparable.

#![expect(clippy::print_stdout, reason = "a tool for developers: its report goes to the terminal")]

mod audits;
mod cargo;
mod cluster;
mod commands;
mod coverage;
mod data;
mod judge;
mod load;
mod local;
mod measure;
mod million;
mod mock;
mod parallel;
mod rates;
mod relay;
mod scorecards;
mod service;
mod simulation;
mod statistics;
mod table;
mod viewers;
mod wire;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use measure::{RunSample, fastest, once};
use table::FigureTable;

/// Number of starts; the fastest one counts.
const STARTS: usize = 30;

/// Number of cases in the file for `validate`.
const VALIDATED: usize = 1_000;

const USAGE: &str = "\
usage: cargo run -p assize-bench -- [PART] [--quick] [--write] [--python=PROGRAM]
       cargo run -p assize-bench -- cluster --million[=CASES] [--offline] [--as-built]
       cargo run -p assize-bench -- coverage [--quick] [--only=ROW] [--write]
       cargo run -p assize-bench -- audits [--quick] [--only=ROW] [--write]
       cargo run -p assize-bench -- simulation [--quick] [--write] [--seed=N]

PART is one of start, runs, judging, service, rates, commands, scorecards, statistics; without it, all of these are measured. The parts
viewers, cluster and local, which install other programs, have to be named. --quick takes smaller sizes. --write puts all figures, or those of
judging, service, rates, commands, viewers or cluster alone, into docs/benchmarks.md. --as-built measures the program beside this one,
however it was built, instead of building the one that is distributed; --latency=MS is that of the judge that workers ask.
Statistics are compared with scipy, statsmodels and krippendorff where the
Python has them.

cluster --million runs very many small cases by two workers, and shows the memory of every process on the way; --offline has the
offline judge decide instead of a mock server.

coverage simulates how often intervals hold the truth, audits how often audits find a biased judge or accuse an honest one; --write puts
their tables into docs/benchmarks.md. --only=ROW takes the rows whose name contains ROW, and leaves the others on the page as they are

simulation is about a thousand workers and a billion calls of `assize eval --cluster`; --write puts its tables into docs/benchmarks.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        // The other processes of a measurement.
        ["mock", latency] => mock::run(latency, None, None),
        ["mock", latency, record] => mock::run(latency, Some(record), None),
        &["limited", latency, rate, burst, asked, headers, one_in] => {
            mock::RequestLimit::parse([rate, burst, asked, headers, one_in])
                .ok_or_else(|| USAGE.to_owned())
                .and_then(|limit| mock::run(latency, None, Some(limit)))
        }
        ["relay", port] => relay::run(port),
        ["paced", port, file, rate, burst] => load::run_paced(port, file, rate, burst),
        ["timed", port, file, senders, spread] => service::run_timed(port, file, senders, spread),
        ["load", way, port, file, in_flight] => load::run(way, port, file, in_flight),
        ["coverage", flags @ ..] => simulate(flags, COVERAGE, coverage::tables),
        ["audits", flags @ ..] => simulate(flags, AUDITS, |options| vec![audits::table(options)]),
        ["simulation", flags @ ..] => simulate_cluster(flags),
        flags => BenchOptions::parse(flags).ok_or_else(|| USAGE.to_owned()).and_then(run),
    };

    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Options of a simulation.
#[derive(Debug, Clone, Copy)]
struct SimulationOptions<'a> {
    /// True to use only part of the data sets.
    quick: bool,
    /// Words that names of rows must contain; empty for all rows.
    only: &'a str,
}

impl SimulationOptions<'_> {
    fn takes(&self, name: &str) -> bool {
        name.contains(self.only)
    }
}

/// Simulates and prints the tables; `--write` puts them into their section of the benchmark page.
fn simulate(
    flags: &[&str],
    section: &str,
    tables: fn(SimulationOptions<'_>) -> Vec<FigureTable>,
) -> Result<(), String> {
    let (mut options, mut write) = (SimulationOptions { quick: false, only: "" }, false);
    for flag in flags {
        match flag.strip_prefix("--only=") {
            Some(words) => options.only = words,
            None if *flag == "--quick" => options.quick = true,
            None if *flag == "--write" => write = true,
            None => return Err(USAGE.to_owned()),
        }
    }
    let is_part = !options.only.is_empty();
    if write && is_part && options.quick {
        return Err(
            "rows of a full table are not replaced by those of a quick one: leave out --quick".to_owned()
        );
    }

    let tables: Vec<FigureTable> = tables(options).into_iter().filter(|table| !table.is_empty()).collect();
    if tables.is_empty() {
        return Err(format!("no row of `{section}` is called `{}`", options.only));
    }
    println!("{}", markdown(&tables));

    match (write, is_part) {
        (false, _) => Ok(()),
        (true, false) => write_sections("docs/benchmarks.md", &[(section, markdown(&tables))]),
        (true, true) => replace_rows("docs/benchmarks.md", section, &tables),
    }
}

/// Replaces rows with the same names in a section of a page.
fn replace_rows(name: &str, section: &str, tables: &[FigureTable]) -> Result<(), String> {
    let path = cargo::root().join(name);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
    let begin = format!("<!-- {section} -->\n");
    let present =
        page.split_once(&begin).and_then(|(_, rest)| rest.split_once(&format!("<!-- end of {section} -->")));
    let (present, _) = present.ok_or_else(|| format!("{name} has no section `{section}`"))?;
    let text = tables
        .iter()
        .try_fold(present.to_owned(), |text, table| table.replace_rows(&text))
        .map_err(|missing| format!("{name} {missing}"))?;

    write_sections(name, &[(section, text)])
}

/// Simulates a run on many machines and prints its table.
fn simulate_cluster(flags: &[&str]) -> Result<(), String> {
    let (mut quick, mut write, mut seed) = (false, false, 1);
    for flag in flags {
        match flag.strip_prefix("--seed=").map(str::parse) {
            Some(Ok(number)) => seed = number,
            None if *flag == "--quick" => quick = true,
            None if *flag == "--write" => write = true,
            _ => return Err(USAGE.to_owned()),
        }
    }

    let text = markdown(&[simulation::table(quick, seed), simulation::constants()]);
    println!("{text}");

    if write { write_sections("docs/benchmarks.md", &[(SIMULATION, text)]) } else { Ok(()) }
}

/// Writes sections between their marks on a page.
fn write_sections(name: &str, sections: &[(&str, String)]) -> Result<(), String> {
    let path = cargo::root().join(name);
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let present = std::fs::read_to_string(&path).map_err(failed)?;
    let page = sections
        .iter()
        .try_fold(present, |page, (section, text)| replace_figures(&page, section, text))
        .map_err(|missing| format!("{name} {missing}"))?;
    std::fs::write(&path, page).map_err(failed)?;

    println!("wrote {name}");
    Ok(())
}

/// A part that can be measured separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BenchPart {
    /// Starting, and reading a file.
    Start,
    /// Complete runs with the offline judge.
    Runs,
    /// The path to a judge over a network.
    Judging,
    /// The grading service, compared with the judge that it calls.
    Service,
    /// Servers with rate limits, compared with a client that knows the limit.
    Rates,
    /// Targets that are commands.
    Commands,
    /// Scorecards with many files and many leaves.
    Scorecards,
    /// Statistics, compared with other libraries.
    Statistics,
    /// Pages of a large run in a browser, compared with the viewers of other tools.
    Viewers,
    /// One run with several workers.
    Cluster,
    /// A model on this machine, compared with a client that asks it one call after another.
    Local,
}

/// Which parts to measure, and where the figures go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BenchOptions<'a> {
    /// The part to measure; `None` for all.
    part: Option<BenchPart>,
    /// Smaller sizes.
    quick: bool,
    /// True to write the figures to docs/benchmarks.md.
    write: bool,
    /// Latency of the judge that workers call.
    latency: Duration,
    /// Number of cases of one large run with workers, to measure memory.
    million: Option<usize>,
    /// True to use the offline judge in that run.
    offline: bool,
    /// True to build nothing and to measure the program next to this one.
    as_built: bool,
    /// The interpreter for comparisons.
    python: &'a str,
}

impl<'a> BenchOptions<'a> {
    /// Parses the command line; `None` if it contains an unknown word. The page has all figures, so a single
    /// part is not written, unless it has its own section.
    fn parse(words: &[&'a str]) -> Option<Self> {
        let mut options = Self {
            part: None,
            quick: false,
            write: false,
            latency: cluster::SLOW,
            million: None,
            offline: false,
            as_built: false,
            python: "python3",
        };
        for word in words {
            match *word {
                "--quick" => options.quick = true,
                "--write" => options.write = true,
                "--as-built" => options.as_built = true,
                "--million" => options.million = Some(million::MILLION),
                "--offline" => options.offline = true,
                "start" => options.part = Some(BenchPart::Start),
                "runs" => options.part = Some(BenchPart::Runs),
                "judging" => options.part = Some(BenchPart::Judging),
                "service" => options.part = Some(BenchPart::Service),
                "rates" => options.part = Some(BenchPart::Rates),
                "commands" => options.part = Some(BenchPart::Commands),
                "scorecards" => options.part = Some(BenchPart::Scorecards),
                "statistics" => options.part = Some(BenchPart::Statistics),
                "viewers" => options.part = Some(BenchPart::Viewers),
                "local" => options.part = Some(BenchPart::Local),
                "cluster" => options.part = Some(BenchPart::Cluster),
                other => match other.split_once('=')? {
                    ("--latency", millis) => options.latency = Duration::from_millis(millis.parse().ok()?),
                    ("--million", cases) => options.million = Some(cases.parse().ok().filter(|n| *n > 0)?),
                    ("--python", python) => options.python = python,
                    _ => return None,
                },
            }
        }

        (matches!(
            options.part,
            None | Some(
                BenchPart::Judging
                    | BenchPart::Service
                    | BenchPart::Rates
                    | BenchPart::Commands
                    | BenchPart::Viewers
                    | BenchPart::Cluster
            )
        ) || !options.write)
            .then_some(options)
    }
}

/// The profile of the distributed program.
const PROFILE: &str = "dist";

/// Builds the distributed program, measures it and prints the tables.
fn run(options: BenchOptions<'_>) -> Result<(), String> {
    if !options.as_built {
        let program = ["build", "--profile", PROFILE, "--package", "assize", "--features", "full"];
        cargo::run(&mut cargo::command(&program))?;
        cargo::run(&mut cargo::tools_command(&["build", "--profile", PROFILE, "--package", "assize-bench"]))?;
    }
    let bench = ProgramUnderTest::new(options.as_built)?;
    let sizes: &[usize] = if options.quick { &[1_000, 10_000] } else { &[1_000, 10_000, 100_000] };
    let is_wanted = |part| options.part.is_none_or(|wanted| wanted == part);
    let mut tables = Vec::new();
    let mut sections = Vec::new();

    if is_wanted(BenchPart::Start) {
        tables.push(bench.starts()?);
    }
    if is_wanted(BenchPart::Runs) {
        tables.push(bench.runs(sizes, RunCommand::Eval)?);
        tables.push(bench.runs(sizes, RunCommand::Grade)?);
    }
    if is_wanted(BenchPart::Judging) {
        sections.push((JUDGING, markdown(&bench.judging(options.quick)?)));
    }
    if is_wanted(BenchPart::Service) {
        sections.push((SERVICE, markdown(&bench.service(options.quick)?)));
    }
    if is_wanted(BenchPart::Rates) {
        sections.push((RATES, markdown(&[bench.rates(options.quick)?])));
    }
    if is_wanted(BenchPart::Commands) {
        sections.push((COMMANDS, markdown(&[bench.commands(options.quick)?])));
    }
    if is_wanted(BenchPart::Scorecards) {
        tables.push(bench.scorecards()?);
    }
    if is_wanted(BenchPart::Statistics) {
        tables.push(statistics::table(options.python)?);
    }
    // These need other tools, so they are measured only on request.
    if options.part == Some(BenchPart::Viewers) {
        let cases = if options.quick { 10_000 } else { 100_000 };
        sections.push((VIEWERS, markdown(&[bench.viewers(cases)?])));
    }
    if options.part == Some(BenchPart::Local) {
        tables.push(bench.local()?);
    }
    if options.part == Some(BenchPart::Cluster) {
        sections.push(match options.million {
            None => (CLUSTER, markdown(&bench.cluster(options.quick, options.latency)?)),
            Some(cases) => (MILLION, markdown(&[bench.million(cases, options.offline)?])),
        });
    }
    if !tables.is_empty() {
        sections.push((FIGURES, markdown(&tables)));
    }

    for (_, text) in &sections {
        println!("\n{text}");
    }

    if options.write {
        write_sections("docs/benchmarks.md", &sections)?;
    }

    Ok(())
}

fn markdown(tables: &[FigureTable]) -> String {
    tables.iter().map(FigureTable::to_markdown).collect::<Vec<_>>().join("\n")
}

/// The sections of the page that this program writes.
const FIGURES: &str = "figures";
const JUDGING: &str = "judging";
const SERVICE: &str = "service";
const RATES: &str = "rates";
const COMMANDS: &str = "commands";
const VIEWERS: &str = "viewers";
const CLUSTER: &str = "cluster";
const MILLION: &str = "million";
const COVERAGE: &str = "coverage";
const AUDITS: &str = "audits";
const SIMULATION: &str = "simulation";

/// Puts new figures between the two marks of a section of the page.
fn replace_figures(page: &str, section: &str, figures: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {section} -->"), format!("<!-- end of {section} -->"));
    let missing = || format!("has no `{begin}` and `{end}`");
    let (head, rest) = page.split_once(&begin).ok_or_else(missing)?;
    let (_, tail) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{head}{begin}\n{figures}{end}{tail}"))
}

/// Command that reads the cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunCommand {
    /// `eval` of a JSONL suite.
    Eval,
    /// `grade` of answers against a rubric.
    Grade,
}

/// The program and a folder for its files.
struct ProgramUnderTest {
    program: PathBuf,
    folder: PathBuf,
}

impl ProgramUnderTest {
    fn new(as_built: bool) -> Result<Self, String> {
        let target = target_folder()?;
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let beside = own.parent().unwrap_or(&target).to_path_buf();
        let built = if as_built { beside } else { target.join(PROFILE) };
        let program = built.join(format!("assize{}", std::env::consts::EXE_SUFFIX));
        let folder = target.join("bench");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }

        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { program, folder })
    }

    /// The program without environment variables, so that no key or configuration affects the measurement.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder).env_clear();
        command
    }

    fn file(&self, name: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.folder.join(name), text).map_err(|error| format!("{name}: {error}"))
    }

    fn starts(&self) -> Result<FigureTable, String> {
        self.file("suite.eval.yaml", &data::suite(VALIDATED))?;
        let nothing = fastest(STARTS, || Command::new("true"))?;
        let mut read = || {
            let mut command = Command::new("cat");
            command.arg(self.folder.join("suite.eval.yaml"));
            command
        };
        let read = fastest(STARTS, &mut read)?;
        let version = fastest(STARTS, || self.command(&["--version"]))?;
        let validate = fastest(STARTS, || self.command(&["validate", "suite.eval.yaml"]))?;
        let mut table = FigureTable::new(
            "Start-up and validation",
            &["what", "time", "against the baseline", "peak memory"],
        );
        table.row(["starting a program that does nothing (`true`)", &table::time(nothing.time), "1", ""]);

        let ratio = table::ratio(version.time, nothing.time);
        table.row(["`assize --version`", &table::time(version.time), &ratio, &table::memory(version.peak)]);
        table.row(["reading the file (`cat`)", &table::time(read.time), "1", ""]);

        let ratio = table::ratio(validate.time, read.time);
        let what = format!("`assize validate` on {VALIDATED} cases in YAML");
        table.row([&what, &table::time(validate.time), &ratio, &table::memory(validate.peak)]);

        Ok(table)
    }

    fn runs(&self, sizes: &[usize], way: RunCommand) -> Result<FigureTable, String> {
        let title = match way {
            RunCommand::Eval => "`assize eval` on JSONL cases with given answers, offline judge",
            RunCommand::Grade => "`assize grade` on JSONL answers, offline judge",
        };
        let mut table = FigureTable::new(
            title,
            &[
                "cases", "time", "cases a second", "peak memory", "memory against the first",
                "copying the file",
            ],
        );

        self.file("rubric.yaml", data::RUBRIC)?;
        let mut first: Option<RunSample> = None;
        for &size in sizes {
            let (name, text) = match way {
                RunCommand::Eval => ("cases.jsonl", data::cases(size)),
                RunCommand::Grade => ("answers.jsonl", data::answers(size)),
            };
            self.file(name, &text)?;

            let out = format!("run-{size}");
            let arguments: &[&str] = match way {
                RunCommand::Eval => {
                    &["eval", name, "--judge", "offline", "--json", "--quiet", "--run-dir", &out]
                }
                RunCommand::Grade => &[
                    "grade", "rubric.yaml", "--answers", name, "--judge", "offline", "--json", "--quiet",
                    "--run-dir", &out,
                ],
            };

            let sample = once(&mut self.command(arguments))?;
            self.is_complete(&out, size)?;

            let copy = copy(&self.folder.join(name))?;
            let seconds = sample.time.as_secs_f64();
            table.row([
                &table::count(size),
                &table::time(sample.time),
                &table::count((size as f64 / seconds) as usize),
                &table::memory(sample.peak),
                &table::memory_ratio(sample.peak, first.as_ref().unwrap_or(&sample).peak),
                &table::time(copy),
            ]);

            first.get_or_insert(sample);
            // A large run is not needed again, and disks are small.
            let _ = std::fs::remove_dir_all(self.folder.join(&out));
        }

        Ok(table)
    }

    /// Checks that the run is complete, since a run that stopped early would look fast.
    fn is_complete(&self, out: &str, size: usize) -> Result<(), String> {
        let path = self.folder.join(out).join("results.jsonl");
        let file = std::fs::File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let rows = std::io::BufRead::lines(std::io::BufReader::new(file)).count();
        if rows == size { Ok(()) } else { Err(format!("{out}: {rows} rows for {size} cases")) }
    }
}

/// The build folder of cargo.
fn target_folder() -> Result<PathBuf, String> {
    let text = cargo::output(&mut cargo::command(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    value["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| "cargo names no target folder".to_owned())
}

/// How long the disk takes to read a file and write it again.
fn copy(path: &Path) -> Result<Duration, String> {
    let begun = std::time::Instant::now();
    let copy = path.with_extension("copy");
    std::fs::copy(path, &copy).map_err(|error| format!("{}: {error}", path.display()))?;

    let time = begun.elapsed();
    let _ = std::fs::remove_file(copy);

    Ok(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_put_between_the_marks_of_their_section() {
        let section = |figures: &str| format!("<!-- {JUDGING} -->\n{figures}<!-- end of {JUDGING} -->");
        let page = format!("words\n{}\nmore\n<!-- {FIGURES} -->", section("old\n"));
        let new = replace_figures(&page, JUDGING, "| new |\n").expect("marks are there");
        assert_eq!(new, format!("words\n{}\nmore\n<!-- {FIGURES} -->", section("| new |\n")));
        assert_eq!(replace_figures(&new, JUDGING, "| new |\n"), Ok(new.clone()));
        assert!(replace_figures(&page, FIGURES, "x").is_err());
    }
}
