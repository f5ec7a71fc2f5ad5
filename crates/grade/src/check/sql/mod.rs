//! `is-sql` and `contains-sql`: the answer, or a code block in it, is SQL that uses only allowed tables and columns.

mod blocks;
mod references;

use assize_limits::SQL_TOKENS as MAX_TOKENS;
use assize_model::{SqlCheck, SqlDialect, compile_pattern};
use assize_rubric::GraderNote;
use sqlparser::ast::Statement;
use sqlparser::dialect::{
    AnsiDialect, BigQueryDialect, ClickHouseDialect, DatabricksDialect, Dialect, DuckDbDialect,
    GenericDialect, HiveDialect, MsSqlDialect, MySqlDialect, OracleDialect, PostgreSqlDialect,
    RedshiftSqlDialect, SQLiteDialect, SnowflakeDialect, SparkSqlDialect, TeradataDialect,
};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Tokenizer;

use super::result::{CheckResult, shorten};
use blocks::sql_blocks;
use references::{References, find_references};

/// Stack size for an expression of the greatest depth.
const STACK_BYTES: usize = 256 * 1024 * 1024;
/// Dialects with `SELECT TOP`.
const TOP_DIALECTS: [SqlDialect; 5] = [
    SqlDialect::TransactSql,
    SqlDialect::Snowflake,
    SqlDialect::Redshift,
    SqlDialect::Teradata,
    SqlDialect::Generic,
];
/// Most words of a `SHOW` that names a variable; a longer one is prose.
const MAX_SHOW_WORDS: usize = 3;

/// Scores 1 if the answer is SQL in the dialect and refers only to allowed tables and columns; with
/// [`SqlCheck::in_blocks`], a code block that meets this is enough.
pub(super) fn check_sql(check: &SqlCheck, answer: &str) -> Result<CheckResult, String> {
    std::thread::scope(|scope| {
        let checking = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || check_candidates(check, answer))
            .map_err(|error| format!("no thread for the SQL parser: {error}"))?;
        checking.join().unwrap_or_else(|_| Err("the SQL parser broke".to_owned()))
    })
}

fn check_candidates(check: &SqlCheck, answer: &str) -> Result<CheckResult, String> {
    let blocks = if check.in_blocks { sql_blocks(answer) } else { Vec::new() };
    let candidates: Vec<&str> =
        if blocks.is_empty() { vec![answer] } else { blocks.iter().map(String::as_str).collect() };

    let mut failed = None;
    for candidate in candidates {
        let notes = check_text(check, candidate)?;
        let result = CheckResult::all_or_nothing(notes);
        if result.findings.iter().all(|note| note.passed != Some(false)) {
            return Ok(result);
        }
        failed = Some(result);
    }

    Ok(failed.unwrap_or_default())
}

/// Checks one text. The error says why it can't be checked.
fn check_text(check: &SqlCheck, text: &str) -> Result<Vec<GraderNote>, String> {
    let dialect = check.dialect.name();
    let is_sql = format!("is SQL of {dialect}");
    let statements = match parse(check.dialect, text)? {
        Ok(statements) => statements,
        Err(problem) => return Ok(vec![GraderNote::new(false, is_sql, shorten(&problem))]),
    };

    let References { tables, columns, has_top } = find_references(&statements);
    if has_top && !TOP_DIALECTS.contains(&check.dialect) {
        return Ok(vec![GraderNote::new(false, is_sql, format!("{dialect} has no `TOP`"))]);
    }

    let mut notes = vec![GraderNote::new(true, is_sql, "it is")];
    if !check.allowed_tables.is_empty() {
        let tables: Vec<Vec<String>> = tables.into_iter().map(|table| vec![table]).collect();
        notes.push(note_allowed("uses allowed tables only", &check.allowed_tables, &tables)?);
    }
    if !check.allowed_columns.is_empty() {
        notes.push(note_allowed("uses allowed columns only", &check.allowed_columns, &columns)?);
    }

    Ok(notes)
}

/// Returns the statements of a text, or its syntax error. The outer error means that it can't be checked.
fn parse(dialect: SqlDialect, text: &str) -> Result<Result<Vec<Statement>, String>, String> {
    let dialect = parser_dialect(dialect);
    let tokens = match Tokenizer::new(&*dialect, text).tokenize_with_location() {
        Ok(tokens) => tokens,
        Err(error) => return Ok(Err(error.to_string())),
    };
    if tokens.len() > MAX_TOKENS {
        return Err(format!(
            "the text has {} tokens, and SQL of at most {MAX_TOKENS} is checked",
            tokens.len()
        ));
    }

    Ok(match Parser::new(&*dialect).with_tokens_with_locations(tokens).parse_statements() {
        Ok(statements) if statements.is_empty() => Err("there is no statement".to_owned()),
        Ok(statements) if statements.iter().any(is_prose) => Err("`SHOW` is followed by prose".to_owned()),
        Ok(statements) => Ok(statements),
        Err(ParserError::TokenizerError(message) | ParserError::ParserError(message)) => Err(message),
        Err(ParserError::RecursionLimitExceeded) => return Err("the SQL is nested too deeply".to_owned()),
    })
}

/// Returns true for prose that the parser takes for a variable with a name of many words: "Show me all users".
fn is_prose(statement: &Statement) -> bool {
    matches!(statement, Statement::ShowVariable { variable } if variable.len() > MAX_SHOW_WORDS)
}

/// Returns a note on whether each reference is allowed. Of several spellings of a reference, one allowed
/// spelling is enough.
fn note_allowed(what: &str, allowed: &[String], references: &[Vec<String>]) -> Result<GraderNote, String> {
    let patterns = allowed.iter().map(|pattern| {
        compile_pattern(&format!("^(?:{pattern})$"), "i")
            .map_err(|error| format!("`{pattern}` is not a valid pattern: {error}"))
    });
    let patterns: Vec<_> = patterns.collect::<Result<_, _>>()?;
    let is_allowed = |written: &String| patterns.iter().any(|pattern| pattern.is_match(written));
    let denied: Vec<&str> = references
        .iter()
        .filter(|ways| !ways.iter().any(is_allowed))
        .filter_map(|ways| ways.first().map(String::as_str))
        .collect();

    Ok(if denied.is_empty() {
        GraderNote::new(true, what, "it does")
    } else {
        GraderNote::new(false, what, shorten(&format!("not allowed: {}", denied.join(", "))))
    })
}

fn parser_dialect(dialect: SqlDialect) -> Box<dyn Dialect> {
    match dialect {
        SqlDialect::MySql => Box::new(MySqlDialect {}),
        SqlDialect::PostgreSql => Box::new(PostgreSqlDialect {}),
        SqlDialect::Sqlite => Box::new(SQLiteDialect {}),
        SqlDialect::TransactSql => Box::new(MsSqlDialect {}),
        SqlDialect::BigQuery => Box::new(BigQueryDialect),
        SqlDialect::Snowflake => Box::new(SnowflakeDialect),
        SqlDialect::Redshift => Box::new(RedshiftSqlDialect {}),
        SqlDialect::Hive => Box::new(HiveDialect {}),
        SqlDialect::Spark => Box::new(SparkSqlDialect {}),
        SqlDialect::Databricks => Box::new(DatabricksDialect {}),
        SqlDialect::ClickHouse => Box::new(ClickHouseDialect {}),
        SqlDialect::DuckDb => Box::new(DuckDbDialect {}),
        SqlDialect::Oracle => Box::new(OracleDialect {}),
        SqlDialect::Teradata => Box::new(TeradataDialect {}),
        SqlDialect::Ansi => Box::new(AnsiDialect {}),
        SqlDialect::Generic => Box::new(GenericDialect {}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: SqlDialect, tables: &[&str], columns: &[&str]) -> SqlCheck {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        SqlCheck { in_blocks: false, dialect, allowed_tables: texts(tables), allowed_columns: texts(columns) }
    }

    fn passes(check: &SqlCheck, answer: &str) -> bool {
        check_sql(check, answer).expect("can be checked").score.is_some_and(|score| score.get() == 1.0)
    }

    #[test]
    fn sql_is_told_from_prose_and_from_other_dialects() {
        let mysql = check(SqlDialect::MySql, &[], &[]);
        for text in [
            "SELECT name FROM users WHERE age > 30;",
            "SELECT name n FROM users",
            " UPDATE `users` SET a = 1; DELETE FROM users WHERE a = 2 ",
            "SHOW TABLES",
        ] {
            assert!(passes(&mysql, text), "{text}");
        }
        for text in [
            "", "  ", ";", "SELECT name FROM", "SELECT `name FROM users", "Sorry, I am unable to do that.",
            "Show me the names of all users", "```sql\nSELECT 1\n```", "SELECT a FROM users and here is why",
            "SELECT TOP 5 name FROM users",
        ] {
            assert!(!passes(&mysql, text), "{text}");
        }

        let quoted = "SELECT TOP 5 [name] FROM [users]";
        assert!(passes(&check(SqlDialect::TransactSql, &[], &[]), quoted) && !passes(&mysql, quoted));
        let cast = "SELECT a::int FROM t WHERE b ILIKE 'x%'";
        assert!(passes(&check(SqlDialect::PostgreSql, &[], &[]), cast));
    }

    #[test]
    fn a_code_block_is_enough_for_contains() {
        let contains = SqlCheck { in_blocks: true, ..check(SqlDialect::MySql, &["select::null::a"], &[]) };
        assert!(passes(&contains, "Here:\n```sql\nSELECT x FROM b\n```\nor\n```\nSELECT x FROM a\n```\n"));
        assert!(!passes(&contains, "Here:\n```sql\nSELECT x FROM b\n```\n"));
        assert!(!passes(&contains, "Here:\n```python\nSELECT x FROM a\n```\n"));
        assert!(passes(&contains, "SELECT x FROM a"));
        assert!(!passes(&contains, "Use SELECT x FROM a"));
    }

    #[test]
    fn tables_and_columns_are_compared_with_patterns() {
        let tables = check(SqlDialect::MySql, &["(select|update)::null::users"], &[]);
        assert!(passes(&tables, "UPDATE Users SET a = 1 WHERE id IN (SELECT id FROM users)"));
        assert!(!passes(&tables, "DELETE FROM users"));
        assert!(!passes(&tables, "DROP TABLE users") && !passes(&tables, "SHOW COLUMNS FROM users"));
        assert!(!passes(&tables, "SELECT a FROM users JOIN orders ON users.id = orders.id"));
        assert!(!passes(&tables, "SELECT a FROM users WHERE a = (SELECT b FROM secrets)"));
        assert!(!passes(&tables, "SELECT a FROM other.users"));

        let columns = check(SqlDialect::MySql, &[], &["select::users::name", "select::null::id"]);
        assert!(passes(&columns, "SELECT u.name, id AS n FROM users u ORDER BY n"));
        assert!(!passes(&columns, "SELECT secret FROM users"));
        assert!(!passes(&columns, "SELECT * FROM users"));
        assert!(!passes(&columns, "SELECT count(*) FROM users WHERE secret = 1"));
        let bad = check(SqlDialect::MySql, &["("], &[]);
        assert!(check_sql(&bad, "SELECT 1 FROM t").is_err());
    }

    #[test]
    fn long_and_deep_texts_are_not_checked_and_break_nothing() {
        let mysql = check(SqlDialect::MySql, &["select::null::t"], &[]);
        let sum = |terms: usize| format!("SELECT {} FROM t", vec!["1"; terms].join("+"));
        assert!(passes(&mysql, &sum(4_000)));
        assert!(check_sql(&mysql, &sum(6_000)).unwrap_err().contains("tokens"));
        let deep = format!("SELECT {}1{} FROM t", "(".repeat(2_000), ")".repeat(2_000));
        assert!(check_sql(&mysql, &deep).unwrap_err().contains("too deeply"));
    }
}
