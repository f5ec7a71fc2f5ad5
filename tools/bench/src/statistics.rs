//! Expensive statistics, compared with the Python libraries that people would use instead, if they are
//! installed.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::table::{FigureTable, ratio, time};
use crate::cargo;

const REFERENCE: &str = include_str!("reference.py");

/// Measurements: heading and line of our benchmark, the script's name for it, a description, the library.
const MEASURED: [(&str, &str, &str, &str, &str); 6] = [
    (
        "",
        "bootstrap_10_000_resamples_of_10_000_cases",
        "bootstrap",
        "bootstrap of a mean: 10,000 resamples of 10,000 cases, percentile and BCa",
        "scipy",
    ),
    (
        "mcnemar_exact_of_a_million",
        "(499000, 501000)",
        "mcnemar",
        "exact McNemar: a million differing pairs",
        "statsmodels",
    ),
    ("alpha_of_126_000_ratings", "Nominal", "nominal", "alpha of 126,000 ratings, nominal", "krippendorff"),
    ("alpha_of_126_000_ratings", "Ordinal", "ordinal", "alpha, ordinal", "krippendorff"),
    ("alpha_of_126_000_ratings", "Interval", "interval", "alpha, interval", "krippendorff"),
    ("alpha_of_126_000_ratings", "Ratio", "ratio", "alpha, ratio", "krippendorff"),
];

/// Runs the benchmark `stats`, then the script. `python` names the interpreter.
pub(super) fn table(python: &str) -> Result<FigureTable, String> {
    let mut bench = cargo::tools_command(&["bench", "--package", "assize-bench", "--bench", "stats"]);
    let text = cargo::output(&mut bench)?;
    let reference = reference(python);
    if reference.is_none() {
        println!("{python} has no scipy, statsmodels and krippendorff: nothing to compare statistics with");
    }

    let mut table = FigureTable::new(
        "Statistics, the fastest of several",
        &["what", "assize", "library", "its time", "ratio"],
    );
    for (heading, line, name, what, library) in MEASURED {
        let own = fastest(&text, heading, line)
            .ok_or_else(|| format!("the benchmark printed no time for {heading} {line}"))?;
        let other = reference.as_ref().and_then(|found| found[name].as_f64()).map(Duration::from_secs_f64);
        let (library, its, ratio) = match other {
            Some(other) => (library, short(other), ratio(other, own)),
            None => ("", String::new(), String::new()),
        };
        table.row([what, &short(own), library, &its, &ratio]);
    }

    Ok(table)
}

/// A time; in microseconds if it is below a tenth of a millisecond.
fn short(span: Duration) -> String {
    if span < Duration::from_micros(100) {
        format!("{:.1} µs", span.as_secs_f64() * 1e6)
    } else {
        time(span)
    }
}

/// Returns the output of the reference script; `None` if it can't be run.
fn reference(python: &str) -> Option<Value> {
    let output =
        Command::new(python).args(["-c", REFERENCE]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.ok().filter(|output| output.status.success())?;
    serde_json::from_slice(&output.stdout).ok()
}

/// The first time on a line of the benchmark's tree, below a heading if the line has one.
fn fastest(text: &str, heading: &str, name: &str) -> Option<Duration> {
    let mut lines = text.lines().skip_while(|line| !heading.is_empty() && !line.contains(heading));
    let line = lines.find(|line| line.trim_start_matches(['│', '├', '╰', '─', ' ']).starts_with(name))?;
    let (_, times) = line.split_once(name)?;
    let mut words = times.split_whitespace();
    let (number, unit) = (words.next()?.parse::<f64>().ok()?, words.next()?);
    let seconds = match unit {
        "ns" => 1e-9,
        "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };

    Some(Duration::from_secs_f64(number * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_off_the_tree() {
        let text = "stats          fastest │ slowest\n├─ alpha       │         │\n│  ├─ Nominal  2.5 ms  │ 24 ms\n\
                    ├─ other       │\n│  ├─ Nominal  3 µs    │ 4 µs\n╰─ last        158.8 ns │ 2 µs\n";
        assert_eq!(fastest(text, "other", "Nominal"), Some(Duration::from_micros(3)));
        assert_eq!(fastest(text, "alpha", "Nominal"), Some(Duration::from_micros(2_500)));
        assert_eq!(fastest(text, "", "last"), Some(Duration::from_secs_f64(158.8e-9)));
        assert_eq!(fastest(text, "", "gone"), None);
    }
}
