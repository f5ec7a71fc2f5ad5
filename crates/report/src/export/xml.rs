//! Writer of XML 1.0.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::sanitize::escape_lines;

/// Writes XML and counts its output, because some readers have limits.
pub(crate) struct XmlWriter<'w> {
    out: &'w mut dyn Write,
    /// Bytes written.
    pub(crate) bytes: u64,
    /// Number of elements, attributes and texts written.
    pub(crate) objects: u64,
    open: Vec<&'static str>,
}

impl<'w> XmlWriter<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> io::Result<Self> {
        let mut writer = Self { out, bytes: 0, objects: 0, open: Vec::new() };
        writer.put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;

        Ok(writer)
    }

    /// Begins an element. Attributes without a value are omitted.
    pub(crate) fn begin(
        &mut self,
        name: &'static str,
        attributes: &[(&str, Option<String>)],
    ) -> io::Result<()> {
        self.tag(name, attributes, ">\n")?;
        self.open.push(name);

        Ok(())
    }

    /// Writes an element without content.
    pub(crate) fn empty(
        &mut self,
        name: &'static str,
        attributes: &[(&str, Option<String>)],
    ) -> io::Result<()> {
        self.tag(name, attributes, "/>\n")
    }

    /// Writes an element with a text.
    pub(crate) fn text(
        &mut self,
        name: &'static str,
        attributes: &[(&str, Option<String>)],
        text: &str,
    ) -> io::Result<()> {
        self.tag(name, attributes, ">")?;
        self.objects += 1;
        self.put(&escape_text(text))?;
        self.put(&format!("</{name}>\n"))
    }

    /// Ends the element that was begun last.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        let Some(name) = self.open.pop() else { return Ok(()) };
        self.put(&format!("{}</{name}>\n", "  ".repeat(self.open.len())))
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, Option<String>)], end: &str) -> io::Result<()> {
        let mut tag = format!("{}<{name}", "  ".repeat(self.open.len()));
        self.objects += 1;
        for (key, value) in attributes {
            let Some(value) = value else { continue };
            self.objects += 1;
            let _ = write!(tag, " {key}=\"{}\"", escape_attribute(value));
        }

        tag.push_str(end);
        self.put(&tag)
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        self.bytes += text.len() as u64;
        self.out.write_all(text.as_bytes())
    }
}

/// Escapes a text. Characters that XML can't represent, and those that control a terminal, are spelled out.
fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape_lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // The only other characters that XML 1.0 forbids.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }

    out
}

fn escape_attribute(text: &str) -> String {
    // A reader would turn line breaks into spaces.
    escape_text(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}
