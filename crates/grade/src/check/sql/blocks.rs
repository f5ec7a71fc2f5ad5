//! Code blocks of an answer in Markdown.

/// The fence at the beginning or end of a code block.
struct CodeFence<'a> {
    mark: char,
    length: usize,
    info: &'a str,
}

impl<'a> CodeFence<'a> {
    /// Parses a fence line: three or more back-ticks or tildes, after at most three spaces.
    fn parse(line: &'a str) -> Option<Self> {
        let text = line.trim_start_matches([' ', '\t']);
        let mark = text.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        (line.len() - text.len() <= 3 && length >= 3).then_some(Self { mark, length, info: info.trim() })
    }

    fn closes(&self, opening: &Self) -> bool {
        self.info.is_empty() && self.mark == opening.mark && self.length >= opening.length
    }
}

/// Returns the code blocks that are marked as SQL or not marked at all.
pub(super) fn sql_blocks(answer: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(CodeFence<'_>, String)> = None;
    for line in answer.lines() {
        let fence = CodeFence::parse(line);
        match (open.take(), fence) {
            (None, fence) => open = fence.map(|fence| (fence, String::new())),
            (Some((opening, body)), Some(fence)) if fence.closes(&opening) => {
                if opening.info.is_empty() || opening.info.eq_ignore_ascii_case("sql") {
                    blocks.push(body);
                }
            }
            (Some((opening, mut body)), _) => {
                body.push_str(line);
                body.push('\n');
                open = Some((opening, body));
            }
        }
    }

    blocks
}

#[cfg(test)]
mod tests {
    use super::sql_blocks;

    #[test]
    fn blocks_end_at_a_fence_of_their_own_kind() {
        assert_eq!(sql_blocks("a\n```SQL\nSELECT 1\n```\n~~~\nx\n```\n~~~\n"), ["SELECT 1\n", "x\n```\n"]);
        assert_eq!(sql_blocks("````\na\n```\n````"), ["a\n```\n"]);
        assert!(sql_blocks("```js\na\n```\n``\nb\n``\n```\nnever closed").is_empty());
    }
}
