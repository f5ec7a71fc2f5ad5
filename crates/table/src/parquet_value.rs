//! Converts the values of Parquet files to text.

use parquet::data_type::Decimal;
use parquet::record::Field;
use serde_json::{Map, Value};

use crate::cell_text::number_text;

/// Microseconds per day.
const DAY_MICROSECONDS: i64 = 86_400_000_000;
/// Maximum number of digits of a decimal number.
const MAX_DIGITS: i32 = 38;

/// Unit and time zone of the integers in a column, for columns whose types the library does not know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TimeColumn {
    /// True for nanoseconds since the epoch.
    pub(crate) is_timestamp: bool,
    /// True for nanoseconds since midnight.
    pub(crate) is_time: bool,
    /// True for times in UTC, false for times in an unknown zone.
    pub(crate) is_utc: bool,
}

/// Returns the text of a value; null has an empty text.
///
/// # Errors
/// A description of the problem with the value.
pub(crate) fn field_text(field: &Field, times: TimeColumn) -> Result<String, String> {
    let zone = if times.is_utc { "Z" } else { "" };
    Ok(match (field, json_of(field)?) {
        (Field::Long(nanoseconds), _) if times.is_timestamp => {
            let fraction = (nanoseconds.rem_euclid(1000)) as u32;
            moment_text(nanoseconds.div_euclid(1000), fraction)? + zone
        }
        (Field::Long(nanoseconds), _) if times.is_time => {
            time_text(nanoseconds.div_euclid(1000), nanoseconds.rem_euclid(1000) as u32)
        }
        (Field::TimestampMillis(_) | Field::TimestampMicros(_), Value::String(text)) => text + zone,
        (_, Value::Null) => String::new(),
        (_, Value::String(text)) => text,
        (_, value) => value.to_string(),
    })
}

/// Returns the value as JSON. A number without a fraction becomes an integer; a number that JSON does not have
/// becomes a string.
fn json_of(field: &Field) -> Result<Value, String> {
    Ok(match field {
        Field::Null => Value::Null,
        Field::Bool(flag) => (*flag).into(),
        Field::Byte(number) => (*number).into(),
        Field::Short(number) => (*number).into(),
        Field::Int(number) => (*number).into(),
        Field::Long(number) => (*number).into(),
        Field::UByte(number) => (*number).into(),
        Field::UShort(number) => (*number).into(),
        Field::UInt(number) => (*number).into(),
        Field::ULong(number) => (*number).into(),
        Field::Float16(number) => float_of(&f32::from(*number).to_string()),
        Field::Float(number) => float_of(&number.to_string()),
        Field::Double(number) => float_of(&number_text(*number)),
        Field::Decimal(number) => decimal_text(number)?.into(),
        Field::Str(text) => text.as_str().into(),
        // Old programs wrote strings without marking them as such.
        Field::Bytes(bytes) => {
            std::str::from_utf8(bytes.data()).map_err(|_| "bytes that are not text")?.into()
        }
        Field::Date(days) => date_text(i64::from(*days))?.into(),
        Field::TimeMillis(time) => time_text(i64::from(*time) * 1000, 0).into(),
        Field::TimeMicros(time) => time_text(*time, 0).into(),
        Field::TimestampMillis(moment) => {
            moment_text(moment.checked_mul(1000).ok_or("a date that no calendar has")?, 0)?.into()
        }
        Field::TimestampMicros(moment) => moment_text(*moment, 0)?.into(),
        Field::Group(row) => {
            let members = row.get_column_iter().map(|(name, field)| Ok((name.clone(), json_of(field)?)));
            Value::Object(members.collect::<Result<Map<_, _>, String>>()?)
        }
        Field::ListInternal(list) => list.elements().iter().map(json_of).collect::<Result<_, _>>()?,
        Field::MapInternal(map) => {
            let members = map.entries().iter().map(|(key, value)| {
                let key = match json_of(key)? {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                Ok((key, json_of(value)?))
            });
            Value::Object(members.collect::<Result<Map<_, _>, String>>()?)
        }
    })
}

fn float_of(text: &str) -> Value {
    serde_json::from_str(text).ok().filter(Value::is_number).unwrap_or_else(|| Value::from(text))
}

fn decimal_text(number: &Decimal) -> Result<String, String> {
    let bytes = number.data();
    let (Some(first), scale) = (bytes.first(), number.scale()) else { return Ok("0".to_owned()) };
    if bytes.len() > 16 || !(0..=MAX_DIGITS).contains(&scale) {
        return Err(format!("a decimal number of more than {MAX_DIGITS} digits"));
    }
    let sign = if first & 0x80 == 0 { 0 } else { -1 };
    let whole = bytes.iter().fold(sign, |sum: i128, byte| sum << 8 | i128::from(*byte));
    let digits = format!("{:0>width$}", whole.unsigned_abs(), width = scale as usize + 1);
    let (integer, fraction) = digits.split_at(digits.len() - scale as usize);
    let minus = if whole < 0 { "-" } else { "" };

    Ok(if fraction.is_empty() { format!("{minus}{integer}") } else { format!("{minus}{integer}.{fraction}") })
}

/// Returns the date that is a number of days after 1970-01-01, in the Gregorian calendar. From Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn date_text(days: i64) -> Result<String, String> {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    if !(0..=9999).contains(&year) {
        return Err(format!("a date in the year {year}"));
    }

    Ok(format!("{year:04}-{month:02}-{day:02}"))
}

/// Returns a time of day, with a fraction of a second if there is one.
fn time_text(microseconds: i64, nanoseconds: u32) -> String {
    let seconds = microseconds.div_euclid(1_000_000);
    let fraction = microseconds.rem_euclid(1_000_000) * 1000 + i64::from(nanoseconds);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction == 0 { time } else { format!("{time}.{}", format!("{fraction:09}").trim_end_matches('0')) }
}

fn moment_text(microseconds: i64, nanoseconds: u32) -> Result<String, String> {
    let date = date_text(microseconds.div_euclid(DAY_MICROSECONDS))?;
    Ok(format!("{date}T{}", time_text(microseconds.rem_euclid(DAY_MICROSECONDS), nanoseconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, text) in
            [(0, "1970-01-01"), (-1, "1969-12-31"), (11_016, "2000-02-29"), (20_574, "2026-05-01")]
        {
            assert_eq!(date_text(days).as_deref(), Ok(text));
        }
        assert!(date_text(3_000_000).is_err());
        assert_eq!(moment_text(-1, 0).as_deref(), Ok("1969-12-31T23:59:59.999999"));
    }

    #[test]
    fn decimals_keep_their_digits() {
        for (value, scale, text) in [(-5, 2, "-0.05"), (12_345, 2, "123.45"), (7, 0, "7"), (0, 3, "0.000")] {
            assert_eq!(decimal_text(&Decimal::from_i32(value, 9, scale)).as_deref(), Ok(text));
        }
        assert!(decimal_text(&Decimal::from_i32(1, 9, -1)).is_err());
    }
}
