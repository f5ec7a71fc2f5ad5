//! Parses dates in formats that an author names.

use jiff::civil::Date;

const MONTHS: &str = "january february march april may june july august september october november december";

/// Formats that are tried if none is named: only formats that don't confuse day and month.
pub(super) const UNAMBIGUOUS_FORMATS: &[&str] =
    &["YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "D MMM YYYY", "D-MMM-YYYY", "MMM D, YYYY", "MMM D YYYY"];

/// The day that `text` names in one of the formats, made of `YYYY`, `YY`, `MM`, `M`, `MMM` and `MMMM` (a
/// month's name), `DD`, `D`. A time of day after the date (`T...`) is ignored.
pub(super) fn parse_date<S: AsRef<str>>(text: &str, formats: &[S]) -> Option<Date> {
    let text = text.trim();
    formats.iter().find_map(|format| parse_with_format(text, format.as_ref().trim()))
}

fn parse_with_format(text: &str, format: &str) -> Option<Date> {
    let (mut year, mut month, mut day): (Option<u32>, Option<i8>, Option<i8>) = (None, None, None);
    let mut rest = text;
    let mut form = format;
    while let Some(letter) = form.chars().next() {
        let run = form.chars().take_while(|c| *c == letter).count();
        match letter.to_ascii_uppercase() {
            'Y' => {
                let (number, after) = take_digits(rest, run.max(2), run.max(2))?;
                year = Some(if run <= 2 { 2000 + number } else { number });
                rest = after;
            }
            'M' if run >= 3 => {
                let (number, after) = take_month_name(rest)?;
                month = Some(number);
                rest = after;
            }
            'M' | 'D' => {
                let (number, after) = take_digits(rest, run, 2)?;
                let part = if letter.eq_ignore_ascii_case(&'M') { &mut month } else { &mut day };
                *part = Some(number.try_into().ok()?);
                rest = after;
            }
            // The time of day is ignored.
            'T' | 'H' => break,
            _ => {
                let literal: String = form.chars().take(run).collect();
                rest = rest.strip_prefix(&literal)?;
            }
        }

        form = &form[form.char_indices().nth(run).map_or(form.len(), |(at, _)| at)..];
    }

    let (year, month, day) = (year?, month?, day?);
    let rest_is_time = rest.is_empty()
        || rest.starts_with('T')
        || rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) && rest.contains(':');
    rest_is_time.then(|| Date::new(year.try_into().ok()?, month, day).ok()).flatten()
}

fn take_digits(text: &str, least: usize, most: usize) -> Option<(u32, &str)> {
    let count = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if count < least.min(most) {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

fn take_month_name(text: &str) -> Option<(i8, &str)> {
    let end = text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let word = text[..end].to_lowercase();
    let index = MONTHS.split(' ').position(|name| word.len() >= 3 && name.starts_with(&word))?;
    Some((i8::try_from(index).ok()? + 1, &text[end..]))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn the_named_format_decides_what_is_day_and_month() {
        let day = |text: &str, format: &str| parse_date(text, &[format]);
        assert_eq!(day("03/04/2024", "MM/DD/YYYY"), Some(date(2024, 3, 4)));
        assert_eq!(day("03/04/2024", "DD/MM/YYYY"), Some(date(2024, 4, 3)));
        assert_eq!(day("15-JAN-2025", "DD-MMM-YYYY"), day("2025-01-15", "YYYY-MM-DD"));
        assert_eq!(day("2025-01-15T23:30:00-08:00", "YYYY-MM-DD"), day("2025-01-15", "YYYY-MM-DD"));
        assert_eq!(day("1.2.24", "D.M.YY"), Some(date(2024, 2, 1)));
        assert_eq!(day("March 5, 2024", "MMMM D, YYYY"), Some(date(2024, 3, 5)));
        for (text, format) in
            [("2024-02-30", "YYYY-MM-DD"), ("13/13/2024", "MM/DD/YYYY"), ("soon", "YYYY-MM-DD")]
        {
            assert_eq!(day(text, format), None, "{text}");
        }
        assert_eq!(parse_date("03/04/2024", UNAMBIGUOUS_FORMATS), None, "nobody says which is the month");
        assert!(parse_date("4 Mar 2024", UNAMBIGUOUS_FORMATS).is_some());
    }
}
