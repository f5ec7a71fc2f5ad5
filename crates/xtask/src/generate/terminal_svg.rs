//! Draws text with colour escape sequences as a self-contained SVG. Its dark background is readable on light
//! and dark pages.

use std::fmt::Write as _;

/// Width of a character and height of a line, in pixels.
const CHARACTER: f64 = 8.0;
const LINE: usize = 19;
/// Space around the text, in pixels.
const MARGIN: usize = 16;

/// Codes in escape sequences, with their CSS classes.
const CLASSES: [(&str, &str); 8] = [
    ("1", "b"),
    ("2", "d"),
    ("4", "u"),
    ("31", "red"),
    ("32", "green"),
    ("33", "yellow"),
    ("34", "blue"),
    ("36", "cyan"),
];

const STYLE: &str = "\
  <style>
    text { font: 13px ui-monospace, SFMono-Regular, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; fill: #e6edf3 }
    .b { font-weight: 600 } .d { fill: #9aa4af } .u { text-decoration: underline }
    .red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 } .blue { fill: #79c0ff } .cyan { fill: #76e3ea }
  </style>
";

/// Draws text whose lines are at most `columns` characters long.
pub(super) fn draw(text: &str, columns: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let width = (columns as f64 * CHARACTER) as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n{STYLE}  <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\" stroke=\"#30363d\"/>\n"
    );

    for (index, line) in lines.iter().enumerate() {
        let y = MARGIN + (index + 1) * LINE - 5;
        let mut column = 0;
        for (classes, text) in runs(line) {
            let length = text.chars().count();
            if !text.trim().is_empty() {
                // `textLength` keeps the columns aligned whichever font is used.
                let x = MARGIN as f64 + column as f64 * CHARACTER;
                let span = length as f64 * CHARACTER;
                let class = if classes.is_empty() { String::new() } else { format!(" class=\"{classes}\"") };
                writeln!(
                    svg,
                    "  <text x=\"{x}\" y=\"{y}\" textLength=\"{span}\" xml:space=\"preserve\"{class}>{}</text>",
                    escape(text)
                )
                .expect("a string takes everything");
            }
            column += length;
        }
    }

    svg.push_str("</svg>\n");
    svg
}

/// Text without escape sequences.
pub(super) fn without_styles(text: &str) -> String {
    text.lines()
        .map(|line| runs(line).into_iter().map(|(_, text)| text).collect())
        .collect::<Vec<String>>()
        .join("\n")
}

/// The parts of a line with the same style, each with its CSS classes.
fn runs(line: &str) -> Vec<(String, &str)> {
    let mut parts = line.split("\x1b[");
    let mut found = vec![(String::new(), parts.next().unwrap_or_default())];
    let mut classes: Vec<&str> = Vec::new();
    for part in parts {
        let (codes, text) = part.split_once('m').unwrap_or(("0", part));
        for code in codes.split(';') {
            match CLASSES.iter().find(|(known, _)| *known == code) {
                Some((_, class)) => classes.push(class),
                None => classes.clear(),
            }
        }
        found.push((classes.join(" "), text));
    }

    found.retain(|(_, text)| !text.is_empty());
    found
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_begin_and_end() {
        let line = "a \x1b[1;31mb<c\x1b[0m d";
        let expected = [(String::new(), "a "), ("b red".to_owned(), "b<c"), (String::new(), " d")];
        assert_eq!(runs(line), expected);
        assert_eq!(without_styles(line), "a b<c d");

        let svg = draw(line, 20);
        assert!(svg.contains("<text x=\"32\" y=\"30\" textLength=\"24\" xml:space=\"preserve\" class=\"b red\">b&lt;c</text>"), "{svg}");
    }
}
