//! Escapes texts that are not templates.

const RAW: &str = "{% raw %}";
const END_RAW: &str = "{% endraw %}";

/// Escapes a text: if it contains template markers, it is put into a raw block.
pub(crate) fn escape_template(text: &str) -> String {
    if ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
        // If the text itself contains the end of a raw block, close the block before it and open it again after
        // it.
        let inner = text.replace(END_RAW, "{% endraw %}{{ '{% endraw %}' }}{% raw %}");
        format!("{RAW}{inner}{END_RAW}")
    } else {
        text.to_owned()
    }
}
