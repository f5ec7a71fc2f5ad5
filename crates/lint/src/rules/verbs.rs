//! Converts a verb to the form that begins a criterion.

/// Returns the third person of a verb in its plain form: "mentions" for "mention". `None` if the word may not
/// be such a verb.
pub(super) fn third_person(verb: &str) -> Option<String> {
    if verb.len() < 2 || !verb.chars().all(|c| c.is_ascii_lowercase()) {
        return None;
    }
    Some(match verb {
        "be" => "is".to_owned(),
        "have" => "has".to_owned(),
        "do" => "does".to_owned(),
        "go" => "goes".to_owned(),
        // These may be inflected already, or may not be verbs.
        "not" | "never" | "the" | "a" | "an" | "its" | "all" | "any" | "only" | "also" | "both" => {
            return None;
        }
        _ if verb.ends_with("ly") => {
            return if verb == "apply" || verb == "reply" { Some(inflect_final_y(verb)) } else { None };
        }
        _ if ["ss", "sh", "ch", "x", "zz"].iter().any(|ending| verb.ends_with(ending)) => format!("{verb}es"),
        _ if verb.ends_with('s') => return None,
        _ if verb.ends_with('y') && !verb.ends_with(['a', 'e', 'i', 'o', 'u']) => inflect_final_y(verb),
        _ => format!("{verb}s"),
    })
}

fn inflect_final_y(verb: &str) -> String {
    let before = verb.chars().rev().nth(1);
    if before.is_some_and(|c| "aeiou".contains(c)) {
        format!("{verb}s")
    } else {
        format!("{}ies", &verb[..verb.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::third_person;

    #[test]
    fn verbs_are_inflected_or_left_alone() {
        for (verb, third) in [
            ("mention", "mentions"),
            ("identify", "identifies"),
            ("say", "says"),
            ("address", "addresses"),
            ("have", "has"),
            ("be", "is"),
            ("fix", "fixes"),
            ("apply", "applies"),
        ] {
            assert_eq!(third_person(verb).as_deref(), Some(third));
        }
        for other in ["clearly", "the", "mentions", "über", ""] {
            assert_eq!(third_person(other), None, "{other}");
        }
    }
}
