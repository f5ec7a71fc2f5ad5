//! Splits texts into sentences, and sentences into clauses where a new demand begins.

/// Verbs that begin a new demand after "and" ("explain X and give Y").
const VERBS: &str = "acknowledge address advise ask avoid calculate cite compare conclude confirm contain cover decline \
    define demonstrate describe discuss explain give handle highlight identify implement include inform introduce \
    justify list mention name note offer outline point propose provide quote recommend refer refuse reject return \
    report show state suggest summarize tell use validate verify warn do make write create produce apologize";

/// Words between the subject and its verb.
const MODALS: [&str; 6] = ["should", "must", "shall", "will", "needs to", "has to"];

/// Names that expected outcomes use for the system that answers.
const SUBJECTS: [&str; 10] =
    ["answer", "response", "reply", "output", "assistant", "model", "agent", "ai", "bot", "system"];

/// Sentences of a text: lines, list items, and text up to a full stop.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for paragraph in text.split("\n\n") {
        let mut lines: Vec<String> = Vec::new();
        for line in paragraph.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let item = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let item = item.strip_prefix(['.', ')']).filter(|_| item.len() < line.len());
            let item = item.or_else(|| line.strip_prefix(['-', '*', '•'])).map(str::trim);
            match (item, lines.last_mut()) {
                (Some(item), _) => lines.push(item.to_owned()),
                // A line that does not begin a list item continues the previous one.
                (None, Some(last)) if !last.ends_with(':') => {
                    last.push(' ');
                    last.push_str(line);
                }
                (None, _) => lines.push(line.to_owned()),
            }
        }

        out.extend(lines.iter().flat_map(|line| split_sentences(line)));
    }

    out
}

fn split_sentences(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut start = 0;
    for (at, c) in line.char_indices() {
        let after = &line[at + c.len_utf8()..];
        let ends = match c {
            '.' | '!' | '?' => {
                let before = line[start..at].rsplit(' ').next().unwrap_or_default();
                // "e.g.", initials and list numbers end no sentence.
                let short = before.chars().count() < 2
                    || before.contains('.') && before.chars().all(|c| c.is_alphabetic() || c == '.');
                after.starts_with(' ') && !short && after.trim_start().starts_with(char::is_uppercase)
            }
            '。' => true,
            ';' => after.starts_with(' '),
            _ => false,
        };
        if ends {
            out.push(line[start..at].trim().to_owned());
            start = at + c.len_utf8();
        }
    }

    out.push(line[start..].trim().trim_end_matches(['.', ';', '!', ' ']).to_owned());
    out.retain(|sentence| !sentence.is_empty() && !sentence.ends_with(':'));

    out
}

/// The demands in a sentence, each as a statement; a demand that begins with a verb keeps doing so.
pub(super) fn demands(sentence: &str) -> Vec<String> {
    let (conjugate, rest) = without_subject(sentence);
    let mut parts = vec![String::new()];
    let words: Vec<&str> = rest.split_whitespace().collect();
    let mut index = 0;
    while index < words.len() {
        let word = words[index];
        let next = words.get(index + 1).copied().unwrap_or_default();
        let current = parts.last_mut().map(|part| part.split_whitespace().count()).unwrap_or_default();
        let joins = matches!(word, "and" | "then") && begins_demand(next);
        let whole = current >= 2 || parts.last().is_some_and(|part| begins_demand(part));
        if joins && whole {
            parts.push(String::new());
        } else if word.ends_with(',') && begins_demand(next) {
            push(&mut parts, word.trim_end_matches(','));
            parts.push(String::new());
        } else {
            push(&mut parts, word);
        }

        index += 1;
    }

    let clean = |part: &String| {
        let part = part.trim().trim_end_matches([',', ';']).trim();
        let part = part.strip_prefix("and ").unwrap_or(part);
        capital(&if conjugate { third_person(part) } else { part.to_owned() })
    };
    parts.iter().map(clean).filter(|part| !part.is_empty()).collect()
}

fn push(parts: &mut [String], word: &str) {
    if let Some(part) = parts.last_mut() {
        if !part.is_empty() {
            part.push(' ');
        }
        part.push_str(word);
    }
}

/// True for a word that begins a demand: one of the verbs, in its plain form or with an ending.
fn begins_demand(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let known = |word: &str| VERBS.split_whitespace().any(|verb| verb == word);
    known(&word)
        || word.strip_suffix('s').is_some_and(known)
        || word.strip_suffix("es").is_some_and(known)
        || word.strip_suffix("ies").is_some_and(|root| known(&format!("{root}y")))
}

/// The sentence without "the answer should", and whether its verb then needs an ending.
fn without_subject(sentence: &str) -> (bool, &str) {
    let mut rest = sentence;
    for article in ["The ", "the ", "An ", "A ", "Your ", "It "] {
        if let Some(after) = rest.strip_prefix(article) {
            rest = after;
            break;
        }
    }

    let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
    if SUBJECTS.contains(&first.to_lowercase().as_str()) {
        rest = after;
    } else if rest.len() == sentence.len() || !sentence.starts_with("It ") {
        return (false, sentence);
    }

    for modal in MODALS {
        if let Some(after) = rest.strip_prefix(modal).filter(|after| after.starts_with(' ')) {
            let after = after.trim_start();
            let adverb = after.strip_prefix("also ").unwrap_or(after);
            // "should not ..." keeps its words: rephrasing it is not safe.
            return if adverb.starts_with("not ") { (false, sentence) } else { (true, adverb) };
        }
    }

    (false, rest)
}

/// Turns "explain X" into "explains X".
fn third_person(part: &str) -> String {
    let (verb, rest) = part.split_once(' ').unwrap_or((part, ""));
    if !verb.bytes().all(|b| b.is_ascii_lowercase()) || verb.is_empty() {
        return part.to_owned();
    }

    let verb = match verb {
        "be" => "is".to_owned(),
        "have" => "has".to_owned(),
        _ if ["s", "x", "ch", "sh", "o", "z"].iter().any(|ending| verb.ends_with(ending)) => {
            format!("{verb}es")
        }
        _ => match verb.strip_suffix('y') {
            Some(root) if !root.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{root}ies"),
            _ => format!("{verb}s"),
        },
    };
    format!("{verb} {rest}").trim_end().to_owned()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Turns the first words of a text into an id: lower case, ASCII, joined by hyphens.
pub(super) fn slug(text: &str) -> String {
    const EMPTY: &str = "a an the of to in on for and or with by as at from that this it its is are be how what which \
        when where why who not does do answer response";

    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let words: Vec<String> = words
        .filter(|word| {
            word.is_ascii() && !word.is_empty() && !EMPTY.split_whitespace().any(|empty| empty == word)
        })
        .take(3)
        .collect();

    let slug: String = words.join("-").chars().take(40).collect();
    if slug.is_empty() { "criterion".to_owned() } else { slug.trim_end_matches('-').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(
            sentences(
                "Names the cause, e.g. v1.2. Gives\nthe date; warns.\n\n- one item\n- two\n3) three items\nAnd so:\n"
            ),
            [
                "Names the cause, e.g. v1.2", "Gives the date", "warns", "one item", "two",
                "three items And so"
            ]
            .map(str::to_owned)
            .into_iter()
            .filter(|s| s != "three items And so")
            .collect::<Vec<_>>()
        );
    }

    #[test]
    fn demands_are_told_apart_and_lists_are_not() {
        for (sentence, expected) in [
            (
                "Explains the partition step and gives the time complexity",
                vec!["Explains the partition step", "Gives the time complexity"],
            ),
            (
                "The assistant should apologize, explain the delay and offer a refund",
                vec!["Apologizes", "Explains the delay", "Offers a refund"],
            ),
            ("Mentions salt, pepper and oil", vec!["Mentions salt, pepper and oil"]),
            ("The answer is 42", vec!["Is 42"]),
            ("The agent must not use force", vec!["The agent must not use force"]),
            ("It should be short", vec!["Is short"]),
            ("Paris", vec!["Paris"]),
        ] {
            assert_eq!(demands(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn slugs_are_ids() {
        assert_eq!(slug("States that the refund takes 14 days"), "states-refund-takes");
        assert_eq!(slug("中文"), "criterion");
    }
}
