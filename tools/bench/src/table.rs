//! Formats figures as Markdown tables.

use std::time::Duration;

/// A table with a heading.
pub(super) struct FigureTable {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl FigureTable {
    pub(super) fn new(title: &str, columns: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.rows.push(cells.iter().map(|cell| (*cell).to_owned()).collect());
    }

    /// Returns true without rows.
    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.columns.len()));
        let rows: String = self.rows.iter().map(|cells| line(cells)).collect();
        format!("### {}\n\n{}{rule}{rows}", self.title, line(&self.columns))
    }

    /// Replaces rows with the same names in the table with the same title, in a section of a page. Rows without
    /// a name belong to the previous row.
    ///
    /// # Errors
    /// What is missing in the section.
    pub(super) fn replace_rows(&self, section: &str) -> Result<String, String> {
        let heading = format!("### {}\n", self.title);
        let begin = section.find(&heading).ok_or_else(|| format!("has no table `{}`", self.title))?;
        let (before, table) = section.split_at(begin);
        let end = table[heading.len()..].find("\n### ").map_or(table.len(), |at| heading.len() + at + 1);
        let (table, after) = table.split_at(end);

        let is_of_name = |cells: &Vec<String>| cells.first().is_some_and(|name| !name.is_empty());
        let mut table = table.to_owned();
        // Rows with the same name follow each other in the same order in both tables.
        let mut from = 0;
        for rows in self.rows.chunk_by(|_, next| !is_of_name(next)) {
            let Some(name) = rows.first().and_then(|cells| cells.first()) else { continue };
            let missing = || format!("has no row `{name}` in the table `{}`", self.title);
            let begin = table[from..].find(&format!("\n| {name} | ")).ok_or_else(missing)? + from + 1;
            let lines = table[begin..].split_inclusive('\n').enumerate();
            let old = lines.take_while(|(at, line)| *at == 0 || line.starts_with("|  | "));
            let length: usize = old.map(|(_, line)| line.len()).sum();
            let lines: Vec<String> =
                rows.iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
            let new = lines.concat();
            table.replace_range(begin..begin + length, &new);
            // Stops before the end of the line, which the search for the next row needs.
            from = begin + new.len() - 1;
        }

        Ok([before, &table, after].concat())
    }
}

/// A time with about three digits.
pub(super) fn time(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    match milliseconds {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms if ms < 1_000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.2} s", ms / 1e3),
    }
}

/// Ratio of one time to another.
pub(super) fn ratio(time: Duration, baseline: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() / baseline.as_secs_f64().max(1e-9))
}

/// Memory in MB of a million bytes. Every program needs at least one; a smaller figure only means that the
/// process ended before the system had counted.
pub(super) fn memory(bytes: Option<u64>) -> String {
    match bytes {
        None => "not known".to_owned(),
        Some(bytes) if bytes < 1_000_000 => "too short to tell".to_owned(),
        Some(bytes) => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// Ratio of one peak of memory to another.
pub(super) fn memory_ratio(bytes: Option<u64>, baseline: Option<u64>) -> String {
    match (bytes, baseline) {
        (Some(bytes), Some(baseline)) if baseline > 0 => format!("{:.2}", bytes as f64 / baseline as f64),
        _ => "not known".to_owned(),
    }
}

/// A number in groups of three digits.
pub(super) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }

    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1_000), "1 000");
        assert_eq!(count(123_456_789), "123 456 789");
        assert_eq!(time(Duration::from_micros(1_234)), "1.23 ms");
        assert_eq!(time(Duration::from_millis(250)), "250 ms");
        assert_eq!(time(Duration::from_millis(2_500)), "2.50 s");
        assert_eq!(ratio(Duration::from_millis(3), Duration::from_millis(2)), "1.5");
        assert_eq!(memory(Some(12_340_000)), "12.3 MB");
        assert_eq!(memory(Some(40_000)), "too short to tell");
        assert_eq!(memory_ratio(Some(3), Some(2)), "1.50");
        assert_eq!(memory_ratio(Some(3), None), "not known");
    }

    #[test]
    fn a_table_is_markdown() {
        let mut table = FigureTable::new("T", &["a", "b"]);
        table.row(["1", "2"]);
        assert_eq!(table.to_markdown(), "### T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
    }

    #[test]
    fn rows_are_put_in_the_place_of_those_of_the_same_name() {
        let table = |rows: &[[&str; 2]]| {
            let mut table = FigureTable::new("B", &["name", "value"]);
            for row in rows {
                table.row(*row);
            }
            table
        };
        let page = format!(
            "### A\n\n| x | 0 |\n\n{}\n### C\n\n| x | 0 |\n",
            table(&[["x", "1"], ["", "2"], ["y", "3"]]).to_markdown()
        );
        let expected = page.replace("| x | 1 |\n|  | 2 |\n", "| x | 7 |\n|  | 8 |\n|  | 9 |\n");
        let new = table(&[["x", "7"], ["", "8"], ["", "9"]]);
        assert_eq!(new.replace_rows(&page), Ok(expected.clone()));
        assert_eq!(new.replace_rows(&expected), Ok(expected));

        let page = table(&[["x", "1"], ["y", "2"], ["x", "3"]]).to_markdown();
        let both = table(&[["x", "7"], ["x", "9"]]).replace_rows(&page);
        assert_eq!(both, Ok(page.replace("| x | 1 |", "| x | 7 |").replace("| x | 3 |", "| x | 9 |")));
        assert!(table(&[["z", "1"]]).replace_rows(&page).is_err());
        assert!(new.replace_rows("### A\n").is_err());
    }
}
