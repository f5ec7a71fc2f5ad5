//! Texts that are no templates.

const RAW: &str = "{% raw %}";
const END_RAW: &str = "{% endraw %}";

/// Escapes a text: template markers are put into a raw block.
pub(crate) fn escape_template(text: &str) -> String {
    if ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
        // A raw block in the text itself is closed and reopened around its end.
        let inner = text.replace(END_RAW, "{% endraw %}{{ '{% endraw %}' }}{% raw %}");
        format!("{RAW}{inner}{END_RAW}")
    } else {
        text.to_owned()
    }
}
