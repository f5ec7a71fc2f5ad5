//! Parsers of option values.

use std::convert::Infallible;
use std::str::FromStr;
use std::time::Duration;

use assize_audit::injection::InsertPosition;
use assize_rubric::{JudgingMode, LabelSplit, TruncationMode, UnitInterval, Usd, composed_name};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, Command};

/// Values of an option: name, value and help of each. A name without help is a hidden alias.
pub(super) type OptionValues<T> = [(&'static str, T, &'static str)];

/// Values of `--split`.
pub(super) const LABEL_SPLITS: &OptionValues<LabelSplit> = &[
    ("test", LabelSplit::Test, "Labels held out for testing"),
    ("train", LabelSplit::Train, "Labels the judge was tuned on, which overestimate it"),
];

/// Returns a parser of one of these values.
pub(super) fn one_of<T: Copy + Send + Sync + 'static>(
    values: &'static OptionValues<T>,
) -> impl TypedValueParser<Value = T> {
    let names = values.iter().map(|(name, _, help)| {
        let shown = PossibleValue::new(*name);
        if help.is_empty() { shown.hide(true) } else { shown.help(*help) }
    });

    PossibleValuesParser::new(names).try_map(|given| {
        let found = values.iter().find(|(name, ..)| *name == given);
        found.map(|(_, value, _)| *value).ok_or("unknown value")
    })
}

/// Names of the values of options that are compared with names in files and runs.
const NAMES: [&str; 5] = ["CASE", "GLOB", "ID", "NAME", "TAG"];

/// Reads such values in the form in which names are compared.
pub(crate) fn with_composed_names(command: Command) -> Command {
    let is_name = |argument: &Arg| {
        let named = argument.get_value_names().unwrap_or_default();
        let is_text = argument.get_value_parser().type_id() == ValueParser::string().type_id();
        let is_free = is_text && argument.get_possible_values().is_empty();
        is_free && named.iter().any(|name| NAMES.contains(&name.as_str()))
    };
    let composed = |text: &str| Ok::<_, Infallible>(composed_name(text.to_owned()));
    let command = command
        .mut_args(|argument| if is_name(&argument) { argument.value_parser(composed) } else { argument });
    command.mut_subcommands(with_composed_names)
}

/// Parses a number from 0 to 1.
pub(super) fn unit(text: &str) -> Result<UnitInterval, String> {
    text.parse::<f64>().ok().and_then(|value| UnitInterval::new(value).ok()).ok_or_else(|| {
        // A small number without a sign is rarely meant as a percentage.
        let (percent, least) = text.strip_suffix('%').map_or((text, 10.0), |percent| (percent, 0.0));
        let meant = percent.trim_end().parse::<f64>().ok().filter(|one| (least..=100.0).contains(one));
        match meant.map(|percent| percent / 100.0) {
            Some(share) => format!("expected a number from 0 to 1; did you mean {share}?"),
            None => "expected a number from 0 to 1, such as 0.8".to_owned(),
        }
    })
}

/// Parses a share, as a number from 0 to 1 or as a percentage.
pub(super) fn rate(text: &str) -> Result<UnitInterval, String> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().ok().map(|value| value / 100.0),
        None => text.parse::<f64>().ok(),
    };
    number.and_then(|value| UnitInterval::new(value).ok()).ok_or_else(|| match text.parse::<f64>() {
        // Smaller numbers are rarely meant as percentages.
        Ok(value) if (10.0..=100.0).contains(&value) => {
            format!(
                "expected a share from 0 to 1 or a percentage; did you mean {} or {text}%?",
                value / 100.0
            )
        }
        _ => "expected a share from 0 to 1 or a percentage, such as 0.9 or 90%".to_owned(),
    })
}

fn number(text: &str, is_allowed: impl Fn(&f64) -> bool, expected: &str) -> Result<f64, String> {
    text.parse().ok().filter(is_allowed).ok_or_else(|| expected.to_owned())
}

/// Parses a number above 0 and up to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    number(text, |value| *value > 0.0 && *value <= 1.0, "expected a number above 0 and up to 1, such as 0.05")
}

/// Parses a confidence level or a power: a number above 0 and below 1.
pub(super) fn level(text: &str) -> Result<f64, String> {
    number(text, |value| *value > 0.0 && *value < 1.0, "expected a number above 0 and below 1, such as 0.95")
}

/// Parses a number of at least 0.
pub(super) fn amount(text: &str) -> Result<f64, String> {
    number(text, |value| value.is_finite() && *value >= 0.0, "expected a number of at least 0, such as 0.3")
}

/// Parses a whole number of at least 1.
pub(super) fn positive<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "expected a whole number of at least 1, such as 8".to_owned())
}

/// Parses an amount of US dollars, 0 or more.
pub(super) fn usd(text: &str) -> Result<Usd, String> {
    text.strip_prefix('$')
        .unwrap_or(text)
        .parse::<f64>()
        .ok()
        .and_then(Usd::from_dollars)
        .ok_or_else(|| "expected an amount of US dollars, such as 2.50".to_owned())
}

/// Parses the name of a truncation mode.
pub(super) fn truncate(text: &str) -> Result<TruncationMode, String> {
    TruncationMode::from_name(text)
        .ok_or_else(|| format!("expected one of {}", TruncationMode::NAMES.join(", ")))
}

/// Parses `per-criterion`, `batched` or `batched:N`.
pub(super) fn judging(text: &str) -> Result<JudgingMode, String> {
    match text {
        "per-criterion" => return Ok(JudgingMode::PerCriterion),
        "batched" => return Ok(JudgingMode::Batched(None)),
        _ => {}
    }
    text.strip_prefix("batched:")
        .and_then(|size| size.parse().ok())
        .map(|size| JudgingMode::Batched(Some(size)))
        .ok_or_else(|| "expected `per-criterion`, `batched` or `batched:N` with N at least 1".to_owned())
}

/// Parses a duration above zero, such as `30m`, `90s`, `1h30m` or `500ms`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    assize_document::parse_duration(text)
        .ok_or_else(|| "expected a length of time such as `90s`, `30m` or `1h30m`".to_owned())
}

/// Parses an age: days, as a number alone or with `d`, weeks with `w`, or a duration as [`duration`] parses
/// it.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    const HOURS_OF_A_DAY: f64 = 24.0;

    let text = text.trim();
    let (number, days) = match text.strip_suffix('w') {
        Some(weeks) => (weeks, 7.0),
        None => (text.strip_suffix('d').unwrap_or(text), 1.0),
    };
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = number.parse::<f64>().ok().filter(|_| plain).map(|n| n * days * HOURS_OF_A_DAY * 3600.0);

    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .or_else(|| assize_document::parse_duration(text))
        .ok_or_else(|| {
            "expected a number of days, or a length of time such as `12h`, `7d` or `2w`".to_owned()
        })
}

/// Parses the position of a probe in an answer.
pub(super) fn place(text: &str) -> Result<InsertPosition, String> {
    InsertPosition::from_name(text).ok_or_else(|| format!("`{text}` is not one of append, prepend, inject"))
}

/// Parses `NAME=TEXT`; a name may contain a `=`, the text may not.
pub(super) fn named(text: &str) -> Result<(String, String), String> {
    text.rsplit_once('=')
        .map(|(name, text)| (name.trim().to_owned(), text.trim().to_owned()))
        .filter(|(name, text)| !name.is_empty() && !text.is_empty())
        .ok_or_else(|| "expected NAME=FAMILY, such as writer=claude".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judging_modes_are_read() {
        assert_eq!(judging("per-criterion"), Ok(JudgingMode::PerCriterion));
        assert_eq!(judging("batched"), Ok(JudgingMode::Batched(None)));
        assert_eq!(judging("batched:4"), Ok(JudgingMode::Batched(std::num::NonZeroUsize::new(4))));
        assert!(judging("batched:0").is_err());
        assert!(judging("all").is_err());
    }

    #[test]
    fn ages_are_days_or_have_a_unit() {
        const DAY: u64 = 24 * 60 * 60;
        for (text, seconds) in [
            ("30", 30 * DAY),
            ("0", 0),
            ("7d", 7 * DAY),
            ("2w", 14 * DAY),
            ("1.5", 36 * 3600),
            ("1h30m", 5400),
        ] {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "-1", "d", "w", "1y", "inf", "nan", "1e3", "7 d", "99999999999999999999999"] {
            assert!(age(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sums_of_money_are_dollars() {
        assert_eq!(usd("2.50"), usd("$2.5"));
        assert!(usd("-1").is_err() && usd("2,50").is_err() && usd("nan").is_err());
    }

    #[test]
    fn rates_are_shares_or_percentages() {
        assert_eq!(rate("0.9"), rate("90%"));
        assert!(rate("0").is_ok() && rate("1").is_ok() && rate("99.5 %").is_ok());
        assert!(rate("90").unwrap_err().ends_with("did you mean 0.9 or 90%?"));
        assert!(rate("2").unwrap_err().ends_with("such as 0.9 or 90%"));
        assert!(rate("101%").is_err() && rate("-1").is_err() && rate("nan").is_err() && rate("%").is_err());
    }

    #[test]
    fn thresholds_lie_between_zero_and_one() {
        assert!(unit("0.8").is_ok());
        assert!(unit("80").unwrap_err().ends_with("did you mean 0.8?"));
        assert!(unit("2%").unwrap_err().ends_with("did you mean 0.02?"));
        assert!(unit("2").unwrap_err().ends_with("such as 0.8"));
        assert!(unit("nan").is_err());
    }
}
