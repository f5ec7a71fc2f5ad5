//! Limits of templates, checked before they are compiled.
//!
//! The compiler calls itself for each level of an expression and of a tag, and ends the process when its stack is full.

pub use assize_limits::TEMPLATE_BYTES as MAX_TEMPLATE_BYTES;
pub use assize_limits::TEMPLATE_DEPTH as MAX_TEMPLATE_DEPTH;
pub use assize_limits::TEMPLATE_TAG_BYTES as MAX_TAG_BYTES;

/// Words that combine parts of an expression.
const OPERATOR_WORDS: [&str; 7] = ["not", "and", "or", "in", "is", "if", "else"];

/// How much of its limits a template has used so far.
#[derive(Debug, Default)]
pub(super) struct TemplateLimits {
    /// The levels that each open tag has added.
    open: Vec<usize>,
    tag_bytes: usize,
}

impl TemplateLimits {
    /// Limits of a template of this length.
    pub(super) fn new(length: usize) -> Result<Self, String> {
        if length > MAX_TEMPLATE_BYTES {
            return Err(format!("the template is larger than {} MiB", MAX_TEMPLATE_BYTES >> 20));
        }
        Ok(Self::default())
    }

    /// Counts a tag or braces. `plain` is the content without quoted strings; `word` is the first word of a tag.
    pub(super) fn take(&mut self, inner: &str, plain: &str, word: Option<&str>) -> Result<(), String> {
        self.tag_bytes += inner.len();
        if self.tag_bytes > MAX_TAG_BYTES {
            return Err(format!("the tags of the template are larger than {} MiB", MAX_TAG_BYTES >> 20));
        }

        match word {
            Some("if" | "for") => self.open.push(1),
            Some("elif" | "elseif") => {
                if let Some(levels) = self.open.last_mut() {
                    *levels += 1;
                }
            }
            Some("endif" | "endfor") => {
                self.open.pop();
            }
            _ => {}
        }

        if self.open.iter().sum::<usize>() + expression_depth(plain) > MAX_TEMPLATE_DEPTH {
            return Err(format!(
                "the template has more than {MAX_TEMPLATE_DEPTH} tags and operators inside of each other"
            ));
        }
        Ok(())
    }
}

/// An upper bound of how deep an expression is nested: its operators, properties, filters, calls and brackets, those
/// between commas by themselves.
fn expression_depth(plain: &str) -> usize {
    let mut depth = 0;
    // For each open bracket, the depth where it begins and the largest depth in it so far.
    let mut brackets = vec![(0, 0)];
    let mut rest = plain;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        match letter {
            '(' | '[' | '{' => {
                depth += 1;
                brackets.push((depth, depth));
            }
            // Whatever follows, such as another operator, has all of this as its part.
            ')' | ']' | '}' if brackets.len() > 1 => {
                depth = brackets.pop().map_or(depth, |(_, deepest)| deepest);
            }
            ',' | ':' => depth = brackets.last().map_or(0, |(start, _)| *start),
            '+' | '-' | '~' | '|' | '.' | '/' | '%' | '<' | '>' | '=' | '!' => depth += 1,
            letter if letter.is_alphabetic() || letter == '_' => {
                let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
                length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
                depth += usize::from(OPERATOR_WORDS.contains(&&rest[..length]));
            }
            _ => {}
        }
        if let Some((_, deepest)) = brackets.last_mut() {
            *deepest = depth.max(*deepest);
        }
        rest = &rest[length..];
    }

    brackets.into_iter().map(|(_, deepest)| deepest).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use minijinja::UndefinedBehavior;
    use minijinja::value::Value as JinjaValue;

    use crate::{TemplateWork, full_environment, render_text};

    /// Templates with a chain of `count` of each shape.
    fn shapes(count: usize) -> Vec<(&'static str, String)> {
        let expression = |before: &str, part: &str, after: &str| {
            format!("{{{{ {}a{}{} }}}}", before.repeat(count), part.repeat(count), after.repeat(count))
        };
        let tags = |open: &str, close: &str| format!("{}x{}", open.repeat(count), close.repeat(count));
        vec![
            ("minus", expression("-", "", "")),
            ("not", expression("not ", "", "")),
            ("plus", expression("", " + 1", "")),
            ("tilde", expression("", " ~ a", "")),
            ("and", expression("", " and a", "")),
            ("compared", expression("", " == a", "")),
            ("filter", expression("", "|string", "")),
            ("attribute", expression("", ".a", "")),
            ("call", expression("", "()", "")),
            ("subscript", expression("", "[0]", "")),
            ("inline if", expression("", " if a else a", "")),
            ("brackets", expression("(", "", ")")),
            ("lists", expression("[", "", "]")),
            ("elif", format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}".repeat(count))),
            ("if", tags("{% if a %}", "{% endif %}")),
            ("for", tags("{% for b in a %}", "{% endfor %}")),
            ("test", expression("", " is defined", "")),
            ("brackets and operators", expression("(", "", " + 1)")),
        ]
    }

    fn render(text: &str) -> Result<String, minijinja::Error> {
        let environment = full_environment(UndefinedBehavior::Chainable);
        render_text(&environment, text, &JinjaValue::UNDEFINED, &TemplateWork::default())
    }

    #[test]
    fn no_shape_of_a_template_fills_the_stack() {
        for (name, text) in shapes(50_000) {
            let error = render(&text).expect_err(name);
            let message = error.detail().unwrap_or_default();
            assert!(message.contains("more than 200 tags and operators"), "{name}: {message}");
        }
        // Whatever the compiler thinks of them, these reach it.
        for (name, text) in shapes(60) {
            let message = render(&text).map_err(|error| error.to_string()).err().unwrap_or_default();
            assert!(!message.contains("more than 200"), "{name}: {message}");
        }
    }

    #[test]
    fn size_is_limited_and_length_is_no_depth() {
        let list = vec!["a.b"; 20_000].join(", ");
        assert!(render(&format!("{{{{ [{list}]|length }}}}")).is_ok_and(|text| text == "20000"));
        assert!(render(&"{% if a %}x{% endif %}{{ a }}".repeat(10_000)).is_ok());

        for (text, limit) in [
            ("x".repeat(17 << 20) + "{{ a }}", "larger than 16 MiB"),
            (format!("{{{{ [{}] }}}}", "1,".repeat(600_000)), "tags of the template are larger than 1 MiB"),
        ] {
            let message = render(&text).expect_err(limit).to_string();
            assert!(message.contains(limit), "{message}");
        }
    }
}
