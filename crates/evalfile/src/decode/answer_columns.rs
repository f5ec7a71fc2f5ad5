//! Fields of an answer, and the keys or columns of files that they are read from.

use std::collections::{BTreeMap, BTreeSet};

use assize_diagnostic::{Diagnostic, NamePairError, Span, did_you_mean, parse_name_pairs};
use assize_document::codes;
use assize_rubric::composed_name;

/// Keys of the id.
pub(super) const ID: &[&str] = &["id"];
/// Keys of the question.
pub(super) const QUESTION: &[&str] = &["question", "input", "prompt", "query"];
/// Keys of the answer.
pub(super) const ANSWER: &[&str] =
    &["answer", "output", "response", "completion", "prediction", "model_output"];
/// Keys of the reference answer.
pub(super) const REFERENCE: &[&str] = &["reference", "expected_output", "reference_answer"];
/// Keys of the expected outcome.
pub(super) const EXPECTED_OUTCOME: &[&str] = &["expected_outcome", "criteria"];
/// Keys that are stored as metadata and also used by the run: they name the cluster of the answer.
pub(super) const CLUSTERS: [&str; 2] = ["cluster", "conversation_id"];
/// Key of all other data about the answer.
pub(super) const METADATA: &str = "metadata";

/// All fields, each with its keys. The first key is the name of the field.
const FIELDS: [&[&str]; 10] = [
    ID,
    QUESTION,
    ANSWER,
    REFERENCE,
    EXPECTED_OUTCOME,
    &["tags"],
    &["file_changes"],
    &["cluster"],
    &["conversation_id"],
    &[METADATA],
];
/// Fields that most tables have, with words that the name of their column may contain.
const FIELD_HINTS: [(&str, &[&str]); 3] = [
    ("answer", &["answer", "reply", "response", "output", "completion"]),
    ("question", &["question", "message", "prompt", "query", "input"]),
    ("id", &["id"]),
];
/// Selects all columns that are not named otherwise.
const ALL_OTHERS: &str = "*";

/// Columns of a file of answers, as the user named them (`answer=response,metadata=model`). A field without a
/// named column is read from its usual keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnswerColumns {
    /// Fields by column.
    given: BTreeMap<String, &'static str>,
    /// Columns that are metadata.
    metadata: BTreeSet<String>,
    /// True if all columns that are not fields are metadata.
    others_are_metadata: bool,
}

/// How a column is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnUse {
    /// Read under this key.
    Field(&'static str),
    /// Kept as metadata.
    Metadata,
    /// Ignored: free for the author's own use.
    Ignored,
    /// Not a field of an answer.
    Unknown,
}

impl AnswerColumns {
    /// Parses `question=prompt,answer=response,metadata=model`. `metadata` may be named several times;
    /// `metadata=*` means all other columns.
    pub fn parse(text: &str) -> Result<Self, NamePairError> {
        let names = FIELDS.iter().map(|keys| keys[0]);
        let mut columns = Self::default();
        for (name, column) in parse_name_pairs(text)? {
            let field = names.clone().find(|field| *field == name);
            let field = field.ok_or_else(|| NamePairError::unknown(&name, names.clone()))?;

            if field == METADATA && column == ALL_OTHERS {
                columns.others_are_metadata = true;
                continue;
            }

            columns.insert(field, column)?;
        }

        Ok(columns)
    }

    /// Combines several lists as if they had been written as one.
    ///
    /// # Errors
    /// If a field or a column is used twice.
    pub fn merge(lists: impl IntoIterator<Item = Self>) -> Result<Self, NamePairError> {
        let mut all = Self::default();
        for Self { given, metadata, others_are_metadata } in lists {
            all.others_are_metadata |= others_are_metadata;
            for (column, field) in given {
                all.insert(field, column)?;
            }
            for column in metadata {
                all.insert(METADATA, column)?;
            }
        }

        Ok(all)
    }

    /// Assigns a column to a field. Only `metadata` may have several columns.
    fn insert(&mut self, field: &'static str, column: String) -> Result<(), NamePairError> {
        let column = composed_name(column);
        let of_field = self.given.iter().find(|(taken, given)| **given == field || **taken == column);
        let of_metadata = self.metadata.get(&column).map(|taken| (METADATA, taken.as_str()));
        let taken = of_field.map(|(taken, given)| (*given, taken.as_str())).or(of_metadata);
        if let Some(first) = taken {
            return Err(NamePairError::conflict(first, (field, &column)));
        }

        if field == METADATA {
            self.metadata.insert(column);
        } else {
            self.given.insert(column, field);
        }

        Ok(())
    }

    /// Returns how a column is used. `key` is its name in the spelling of keys, which a table may spell
    /// differently.
    pub(super) fn use_of(&self, column: &str, key: &str) -> ColumnUse {
        if let Some(field) = self.given.get(column) {
            return ColumnUse::Field(field);
        }
        if self.metadata.contains(column) {
            return ColumnUse::Metadata;
        }

        let field = FIELDS.iter().find_map(|keys| Some((keys[0], *keys.iter().find(|name| **name == key)?)));
        match field {
            // If the user named another column for this field, this column has another meaning.
            Some((name, spelled)) if !self.given.values().any(|given| *given == name) => {
                ColumnUse::Field(spelled)
            }
            _ if key.starts_with("x-") => ColumnUse::Ignored,
            _ if self.others_are_metadata => ColumnUse::Metadata,
            _ => ColumnUse::Unknown,
        }
    }

    /// Iterates over the columns that were named for a field, each with its field.
    pub(super) fn given(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.given.iter().map(|(column, field)| (column.as_str(), *field))
    }

    /// Iterates over all columns that were named.
    pub(super) fn all_named(&self) -> impl Iterator<Item = &str> {
        self.given.keys().chain(&self.metadata).map(String::as_str)
    }
}

/// Returns the key of a field that the name of a column resembles.
pub(super) fn similar_key(column: &str) -> Option<&'static str> {
    did_you_mean(column, FIELDS.iter().flat_map(|keys| keys.iter().copied()))
}

/// Returns the diagnostic for a key or column that is not read. `given` are the columns that the user named, and `unique`
/// is a column that could be the id.
pub(super) fn unknown_column(
    name: &str,
    kind: &str,
    span: Span,
    given: &AnswerColumns,
    unique: Option<&str>,
) -> Diagnostic {
    let title = format!("unknown {kind} `{name}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_KEY, title).at(span, "not a field of an answer");
    let word = shell_word(name);
    let diagnostic = match unique {
        Some(_) => diagnostic.with_help(format!(
            "it is different in each row; to use it as the id of the case, write `--columns id={word}`"
        )),
        None => diagnostic,
    };
    let metadata = format!(
        "to keep it from the judge, store it as metadata: `--columns metadata={word}`, or `metadata=*` for all such {kind}s"
    );

    let taken = field_of(name).and_then(|field| given.given().find(|(_, taken)| *taken == field));
    if let Some((column, field)) = taken {
        return diagnostic
            .with_help(format!(
                "`--columns {field}={}` reads another {kind} as the {field}, so that this one is no longer it",
                shell_word(column)
            ))
            .with_help(metadata);
    }

    if let Some(near) = similar_key(name) {
        let field = field_of(near).unwrap_or(near);
        return diagnostic
            .with_help(format!(
                "did you mean `{near}`? Rename it, or name it with `--columns {field}={word}`"
            ))
            .with_suggestion(format!("rename the {kind}"), span, near)
            .with_help(metadata);
    }

    let names: Vec<String> = FIELDS.iter().map(|keys| format!("`{}`", keys[0])).collect();
    // If a table has no answers, that is reported elsewhere. A key of JSON may well be the answer under another
    // name.
    let field = if kind == "key" { ANSWER[0] } else { "FIELD" };
    diagnostic
        .with_help(metadata)
        .with_help(format!("to read it as a field instead, use for example `--columns {field}={word}`"))
        .with_help(format!("fields of an answer: {}", names.join(", ")))
}

/// Returns the diagnostic for columns of a table that are not read, with an example of `--columns` that uses
/// all of them. `is_there` returns true if the table has a column for a field, and `unique` is a column that could be
/// the id.
pub(super) fn unknown_columns(
    columns: &[(&str, Span)],
    first: Span,
    is_there: impl Fn(&str) -> bool,
    unique: Option<&str>,
) -> Diagnostic {
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("`{name}`")).collect();
    let unknown = if names.len() == 1 { "column" } else { "columns" };
    let (code, title) = if is_there(ANSWER[0]) {
        (codes::UNKNOWN_KEY, format!("unknown {unknown} {}", names.join(", ")))
    } else {
        let list = names.join(", ");
        (codes::NO_ANSWER, format!("no column is known to hold the answers; unknown {unknown}: {list}"))
    };

    // These pairs are guesses, to be corrected by the user.
    let mut pairs = Vec::new();
    let mut is_used = vec![false; columns.len()];
    for (field, hints) in FIELD_HINTS {
        if is_there(field) {
            continue;
        }

        let is_misspelt = |name: &str| similar_key(name).and_then(field_of) == Some(field);
        let is_hinted = |name: &str| hints.iter().any(|hint| name.to_lowercase().contains(hint));
        let first =
            |fits: &dyn Fn(&str) -> bool| (0..columns.len()).find(|at| !is_used[*at] && fits(columns[*at].0));
        let is_unique = |name: &str| field == ID[0] && unique == Some(name);
        let near = first(&is_misspelt).or_else(|| first(&is_hinted)).or_else(|| first(&is_unique));
        match near {
            Some(at) => {
                is_used[at] = true;
                pairs.push(format!("{field}={}", columns[at].0));
            }
            None if field == ANSWER[0] => pairs.push(format!("{field}=COLUMN")),
            None => {}
        }
    }
    if is_used.contains(&false) {
        pairs.push(format!("{METADATA}={ALL_OTHERS}"));
    }

    let fields: Vec<String> = FIELDS.iter().map(|keys| format!("`{}`", keys[0])).collect();
    Diagnostic::error(code, title)
        .at(first, "not a field of an answer")
        .with_help(format!("say what they are, for example `--columns {}`", shell_word(&pairs.join(","))))
        .with_help(format!("`{METADATA}={ALL_OTHERS}` keeps all other columns from the judge"))
        .with_help(format!("fields of an answer: {}", fields.join(", ")))
}

/// Quotes a value of an option if a shell would split or expand it.
fn shell_word(text: &str) -> String {
    if text.chars().any(|c| c.is_whitespace() || "'\"$`\\;&|<>()".contains(c)) {
        format!("'{}'", text.replace('\'', "'\\''"))
    } else {
        text.to_owned()
    }
}

/// Returns the diagnostic for a field that is given twice.
pub(super) fn two_columns(first: (&str, Span), second: (&str, Span), field: &str) -> Diagnostic {
    let field = field.replace('_', " ");
    let (title, help) = if first.0 == second.0 {
        // `--columns` could not distinguish them.
        (format!("two columns are called `{}`", first.0), "rename or remove one of them".to_owned())
    } else {
        (
            format!("`{}` and `{}` both hold the {field}", first.0, second.0),
            format!("remove one of them, or use it as something else: `--columns metadata={}`", second.0),
        )
    };

    Diagnostic::error(codes::TWO_SPELLINGS, title)
        .at(second.1, "this one is extra")
        .with_secondary(first.1, "already given here")
        .with_help(help)
}

/// Returns the name of the field that is read from a key.
pub(super) fn field_of(key: &str) -> Option<&'static str> {
    FIELDS.iter().find(|keys| keys.contains(&key)).map(|keys| keys[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_name_are_to_be_renamed() {
        let mut sources = assize_diagnostic::SourceMap::new();
        let file = sources.add("a.csv", "answer,answer");
        let (first, second) = (Span::new(file, 0, 6), Span::new(file, 7, 13));
        let found = two_columns(("answer", first), ("answer", second), "answer");
        assert_eq!(found.title, "two columns are called `answer`");
        assert!(found.help.iter().all(|help| !help.contains("--columns")), "{:?}", found.help);
    }

    #[test]
    fn columns_are_fields_metadata_or_unknown() {
        let columns = AnswerColumns::parse("answer=text, metadata=model,metadata=ms").expect("valid");
        let uses = ["text", "answer", "prompt", "model", "x-mine", "other"];
        assert_eq!(
            uses.map(|name| columns.use_of(name, name)),
            [
                ColumnUse::Field("answer"),
                ColumnUse::Unknown,
                ColumnUse::Field("prompt"),
                ColumnUse::Metadata,
                ColumnUse::Ignored,
                ColumnUse::Unknown
            ]
        );
        let all = AnswerColumns::parse("metadata=*").expect("valid");
        assert_eq!(all.use_of("other", "other"), ColumnUse::Metadata);
    }

    #[test]
    fn lists_add_to_each_other() {
        let parse = |text| AnswerColumns::parse(text).expect("valid");
        let merged = AnswerColumns::merge([parse("answer=a,metadata=m"), parse("question=q,metadata=*")]);
        assert_eq!(merged, Ok(parse("answer=a,question=q,metadata=m,metadata=*")));

        let conflict =
            AnswerColumns::merge([parse("answer=a"), parse("question=a")]).expect_err("one column");
        let says = "the column `a` is used for two fields, `answer` and `question`";
        assert!(conflict.to_string().contains(says), "{conflict}");
    }

    #[test]
    fn lists_that_contradict_themselves_are_refused() {
        for wrong in
            ["answer", "answer=a,answer=b", "answer=a,question=a", "answr=a", "metadata=m,metadata=m"]
        {
            assert!(AnswerColumns::parse(wrong).is_err(), "{wrong}");
        }
        let message = AnswerColumns::parse("answer=a,answer=b").expect_err("a conflict").to_string();
        assert!(message.contains("the field `answer` has two columns, `a` and `b`"), "{message}");

        let hint = AnswerColumns::parse("qestion=a").expect_err("unknown").to_string();
        assert!(hint.contains("did you mean `question`?"), "{hint}");
    }
}
