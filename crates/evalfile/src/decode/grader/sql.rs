//! Decoder of `is-sql` and `contains-sql`.

use assize_diagnostic::{Diagnostic, did_you_mean};
use assize_document::{MapReader, TreeNode, codes, string};
use assize_model::{AnswerCheck, GraderKind, SqlCheck, SqlDialect};

use crate::decode::DecodeContext;

/// Decodes the keys of `type: is-sql` and, with `in_blocks`, of `type: contains-sql`.
pub(super) fn decode_sql(
    cx: &mut DecodeContext,
    object: &mut MapReader<'_>,
    in_blocks: bool,
) -> Option<GraderKind> {
    let errors = cx.problems.error_count();
    let dialect = object.value("database_type").and_then(|node| decode_dialect(cx, node));
    let allowed_tables = decode_patterns(cx, object, "allowed_tables");
    let allowed_columns = decode_patterns(cx, object, "allowed_columns");

    (cx.problems.error_count() == errors).then_some(GraderKind::Check(AnswerCheck::Sql(SqlCheck {
        in_blocks,
        dialect: dialect.unwrap_or_default(),
        allowed_tables,
        allowed_columns,
    })))
}

fn decode_dialect(cx: &mut DecodeContext, node: &TreeNode) -> Option<SqlDialect> {
    let found = string(node, "database_type", &mut cx.problems)?;
    let known = || SqlDialect::NAMED.into_iter().chain(SqlDialect::OTHER_NAMES);
    if let Some((_, dialect)) = known().find(|(name, _)| name.eq_ignore_ascii_case(found.value.trim())) {
        return Some(dialect);
    }

    let diagnostic =
        Diagnostic::error(codes::UNKNOWN_CHOICE, format!("unknown SQL dialect `{}`", found.value))
            .at(found.span, "unknown dialect");
    cx.problems.reject(match did_you_mean(&found.value, known().map(|(name, _)| name)) {
        Some(near) => diagnostic
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("use this dialect", found.span, near),
        None => diagnostic.with_help(format!("use one of {}", SqlDialect::NAMES.join(", "))),
    })
}

/// Decodes a list of patterns for allowed tables or columns.
fn decode_patterns(cx: &mut DecodeContext, object: &mut MapReader<'_>, key: &'static str) -> Vec<String> {
    let mut patterns = Vec::new();
    for pattern in object.strings(key, &mut cx.problems) {
        match cx.check_pattern(&pattern.value, "i") {
            Ok(()) => patterns.push(pattern.value),
            Err(error) => {
                Diagnostic::error(codes::BAD_PATTERN, format!("this pattern of `{key}` can't be used"))
                    .at(pattern.span, error)
                    .with_help("write it like `select::null::users`; parts may be patterns, such as `(.*)`")
                    .add_to(&mut cx.problems);
            }
        }
    }

    patterns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snippets::{codes, one};

    #[test]
    fn dialects_and_lists_are_read() {
        let grader = one(
            "- {type: is-sql, database_type: PostgresQL, allowed_tables: ['(select|update)::null::users'], allowed_columns: ['select::users::(.*)']}\n",
        );
        let GraderKind::Check(AnswerCheck::Sql(check)) = &grader.kind else { panic!("SQL") };
        assert_eq!((check.in_blocks, check.dialect), (false, SqlDialect::PostgreSql));
        assert_eq!((check.allowed_tables.len(), check.allowed_columns.len()), (1, 1));
        let GraderKind::Check(AnswerCheck::Sql(check)) = &one("- {type: contains-sql}\n").kind else {
            panic!("SQL")
        };
        assert_eq!((check.in_blocks, check.dialect), (true, SqlDialect::MySql));

        for (text, code) in [
            ("is-sql, database_type: dBase", "E0307"),
            ("is-sql, database_type: 3", "E0105"),
            ("is-sql, allowed_tables: ['(']", "E0309"),
            ("is-sql, allowed_tables: {a: b}", "E0105"),
            ("is-sql, tables: [a]", "E0103"),
        ] {
            assert_eq!(codes(&format!("- {{type: {text}}}\n")), [code], "{text}");
        }
    }
}
