//! The command that continues a run: the command that started it, with `--resume`.

/// Options that would stop the run again; true if the next word is their value.
const STOPPING: &[(&str, bool)] = &[("--stop-when", true), ("--against", true), ("--bail", false)];

/// The words of a command line, changed to continue the run that it started. Logins in addresses are removed, because
/// the command may be logged.
pub(crate) fn resume_command(command_line: &[String], retries_incomplete: bool) -> String {
    let mut words: Vec<&str> = Vec::with_capacity(command_line.len() + 2);
    let mut given = command_line.iter().map(String::as_str);
    while let Some(word) = given.next() {
        match STOPPING.iter().find(|(option, _)| word.split('=').next() == Some(*option)) {
            None => words.push(word),
            Some((_, takes_word)) if *takes_word && !word.contains('=') => {
                given.next();
            }
            Some(_) => {}
        }
    }

    // Everything after `--` is a path.
    let mut end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    for (option, is_wanted) in [("--resume", true), ("--retry-incomplete", retries_incomplete)] {
        let is_given = words[..end].iter().any(|word| word.split('=').next() == Some(option));
        if is_wanted && !is_given {
            words.insert(end, option);
            end += 1;
        }
    }

    let words: Vec<String> = words.into_iter().map(|word| shell_word(&without_logins(word))).collect();
    format!("assize {}", words.join(" "))
}

/// A word with `LOGIN` in place of user and password of each address in it.
fn without_logins(word: &str) -> String {
    let mut parts = word.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['/', ',']).unwrap_or(part.len());
        let (authority, rest) = part.split_at(end);
        let host = authority
            .rsplit_once('@')
            .map_or_else(|| authority.to_owned(), |(_, host)| format!("LOGIN@{host}"));
        shown = format!("{shown}://{host}{rest}");
    }

    shown
}

/// A text as one word of a shell command, quoted if necessary.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./~:@+".contains(c);
    if !text.is_empty() && !text.starts_with('~') && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        assize_process::quote(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_continued_by_its_own_command() {
        let with = |line: &str, retries| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            resume_command(&words, retries)
        };
        for (line, retries, wanted) in [
            (
                "eval a.yaml --budget-calls 1 --filter a*",
                false,
                "eval a.yaml --budget-calls 1 --filter 'a*' --resume",
            ),
            ("eval --resume a -q -- -x.yaml", true, "eval --resume a -q --retry-incomplete -- -x.yaml"),
            ("eval a --stop-when decided --against=0.9 -j 8", false, "eval a -j 8 --resume"),
            ("eval --bail a --bail=3", false, "eval a --resume"),
            (
                "eval a --cluster nats://me:secret@one:4222,tls://token@two --results s3://bucket/a@b",
                false,
                "eval a --cluster 'nats://LOGIN@one:4222,tls://LOGIN@two' --results s3://bucket/a@b --resume",
            ),
        ] {
            assert_eq!(with(line, retries), format!("assize {wanted}"), "{line}");
        }
    }
}
