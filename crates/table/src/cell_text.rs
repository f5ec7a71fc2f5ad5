//! Converts the values of cells to text.

use calamine::{DataRef, ExcelDateTime};

/// Larger numbers may represent several integers.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;
/// Seconds per day.
const DAY_SECONDS: f64 = 86_400.0;

/// Returns the text of a value; an empty cell has an empty text.
///
/// # Errors
/// A description of the problem with the value.
pub(crate) fn cell_text(value: DataRef<'_>, has_formula: bool) -> Result<String, String> {
    Ok(match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(number),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text,
        DataRef::SharedString(text) => text.to_owned(),
        DataRef::Bool(flag) => flag.to_string(),
        DataRef::DateTime(moment) => moment_text(moment),
        DataRef::Error(error) => return Err(format!("the value is an error, {error}")),
        DataRef::Empty if has_formula => return Err("the formula has no result".to_owned()),
        DataRef::Empty => String::new(),
    })
}

/// Returns a number, without a decimal point if it is whole.
pub(crate) fn number_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() <= MAX_EXACT_INTEGER {
        // `-0.0` becomes `0`.
        (number as i64).to_string()
    } else {
        number.to_string()
    }
}

/// Returns a date as `2026-05-01`, with a time of day as `2026-05-01T12:30:00`, and a duration as `26:30:00`.
fn moment_text(moment: ExcelDateTime) -> String {
    let days = moment.as_f64();
    if moment.is_duration() {
        let seconds = (days * DAY_SECONDS).round() as i64;
        let (sign, seconds) = (if seconds < 0 { "-" } else { "" }, seconds.unsigned_abs());
        return format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }

    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
    // A time of day without a date has the first date of the calendar.
    match (days.trunc() == 0.0, days.fract() == 0.0) {
        (true, false) => format!("{hour:02}:{minute:02}:{second:02}"),
        (_, true) => format!("{year:04}-{month:02}-{day:02}"),
        (false, false) => format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"),
    }
}

#[cfg(test)]
mod tests {
    use calamine::{CellErrorType, ExcelDateTimeType};

    use super::*;

    #[test]
    fn values_are_the_texts_that_people_would_write() {
        let text = |value| cell_text(value, false);
        for (number, expected) in [(7.0, "7"), (-0.0, "0"), (0.25, "0.25"), (1e20, "100000000000000000000")] {
            assert_eq!(text(DataRef::Float(number)), Ok(expected.to_owned()));
        }
        assert_eq!(text(DataRef::String("007".to_owned())), Ok("007".to_owned()));
        assert_eq!(text(DataRef::Bool(true)), Ok("true".to_owned()));

        let moment = |days, kind| text(DataRef::DateTime(ExcelDateTime::new(days, kind, false)));
        let (date, duration) = (ExcelDateTimeType::DateTime, ExcelDateTimeType::TimeDelta);
        assert_eq!(moment(45943.0, date), Ok("2025-10-13".to_owned()));
        assert_eq!(moment(45943.541, date), Ok("2025-10-13T12:59:02".to_owned()));
        assert_eq!(moment(0.75, date), Ok("18:00:00".to_owned()));
        assert_eq!(moment(1.5, duration), Ok("36:00:00".to_owned()));
    }

    #[test]
    fn errors_and_formulas_without_a_result_are_no_texts() {
        let error = cell_text(DataRef::Error(CellErrorType::NA), true).unwrap_err();
        assert!(error.contains("#N/A"), "{error}");
        assert!(cell_text(DataRef::Empty, true).is_err());
        assert_eq!(cell_text(DataRef::Empty, false), Ok(String::new()));
        // The result of `=""`.
        assert_eq!(cell_text(DataRef::String(String::new()), true), Ok(String::new()));
    }
}
