//! Tables and columns that statements refer to.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AssignmentTarget, Expr, GroupByExpr, Ident, ObjectName, OrderByKind, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, Statement, TableFactor, TableObject, Visit, Visitor,
};
use sqlparser::tokenizer::Span;

/// Stands for a database or table that is not named.
const UNNAMED: &str = "null";
/// All columns, as an allowlist writes it.
const ALL_COLUMNS: &str = "(.*)";

/// References of statements, each such as `select::null::users`: the action, the database or table, and the
/// name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    pub(super) tables: Vec<String>,
    /// Columns, each in all spellings that an allowlist may use.
    pub(super) columns: Vec<Vec<String>>,
    /// True if a query limits its rows with `TOP`, which the parser accepts in every dialect.
    pub(super) has_top: bool,
}

/// Returns the tables and columns that the statements refer to.
pub(super) fn find_references(statements: &[Statement]) -> References {
    let mut finder = ReferenceFinder::default();
    for statement in statements {
        // The visitor never breaks early.
        let _: ControlFlow<()> = statement.visit(&mut finder);
    }

    finder.found
}

/// Tables of a query or a statement, for resolving column names.
#[derive(Default)]
struct TableScope {
    /// Name or alias, and the name of the table; `None` for a table that is itself a query.
    tables: Vec<(String, Option<String>)>,
}

/// Names that the `WITH` of a query defines.
#[derive(Default)]
struct WithNames {
    names: Vec<String>,
    /// Number of names that are visible at the current position.
    visible: usize,
    /// Address of each query of the `WITH`, and the number of names visible in it.
    queries: Vec<(usize, usize)>,
}

#[derive(Default)]
struct ReferenceFinder {
    found: References,
    /// Actions at the current position, innermost last: `select` within a query, otherwise the first word of
    /// the statement, such as `delete`.
    actions: Vec<String>,
    scopes: Vec<TableScope>,
    withs: Vec<WithNames>,
    /// Positions of names that mean results, not columns.
    results: Vec<Span>,
}

fn name_of(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.clone()).unwrap_or_default()
}

fn address(query: &Query) -> usize {
    std::ptr::from_ref(query).addr()
}

/// Returns true if two names mean the same; letter case is ignored.
fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

impl ReferenceFinder {
    /// Returns true if a `WITH` defines this name.
    fn is_query(&self, name: &str) -> bool {
        self.withs.iter().any(|with| with.names.iter().take(with.visible).any(|known| same(known, name)))
    }

    fn add_column(&mut self, action: &str, ways: impl IntoIterator<Item = (String, String)>) {
        let ways: Vec<String> =
            ways.into_iter().map(|(table, column)| format!("{action}::{table}::{column}")).collect();
        if !ways.is_empty() && !self.found.columns.contains(&ways) {
            self.found.columns.push(ways);
        }
    }

    /// Adds a column without a table: it may belong to any table of its query, or to an unnamed one.
    fn add_unqualified(&mut self, action: &str, column: &str) {
        let tables = self.scopes.last().map(|scope| scope.tables.as_slice()).unwrap_or_default();
        if !tables.is_empty() && tables.iter().all(|(_, table)| table.is_none()) {
            // A column of a subquery, whose own columns are found inside it.
            return;
        }
        let mut ways = vec![(UNNAMED.to_owned(), column.to_owned())];
        ways.extend(tables.iter().filter_map(|(_, table)| Some((table.clone()?, column.to_owned()))));
        self.add_column(action, ways);
    }

    /// Adds a column with a table name or alias in front of it.
    fn add_qualified(&mut self, action: &str, table: &str, column: &str) {
        let known = self.scopes.iter().rev().find_map(|scope| {
            scope.tables.iter().find(|(name, _)| same(name, table)).map(|(_, table)| table.clone())
        });
        let table = match known {
            Some(Some(table)) => table,
            // A column of a subquery, whose own columns are found inside it.
            Some(None) => return,
            None => table.to_owned(),
        };
        self.add_column(action, [(table, column.to_owned())]);
    }

    fn add_wildcard(&mut self, item: &SelectItem) {
        match item {
            SelectItem::Wildcard(_) => {
                self.add_unqualified("select", ALL_COLUMNS);
            }
            SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                self.add_qualified("select", &name_of(name), ALL_COLUMNS);
            }
            _ => {}
        }
    }

    fn add_factor(&self, scope: &mut TableScope, factor: &TableFactor) {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let table = name_of(name);
                let is_query = name.0.len() == 1 && self.is_query(&table);
                let known = alias.as_ref().map_or_else(|| table.clone(), |alias| alias.name.value.clone());
                scope.tables.push((known, (!is_query).then_some(table)));
            }
            TableFactor::Derived { alias: Some(alias), .. } => {
                scope.tables.push((alias.name.value.clone(), None));
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                self.add_factor(scope, &table_with_joins.relation);
                for join in &table_with_joins.joins {
                    self.add_factor(scope, &join.relation);
                }
            }
            _ => {}
        }
    }

    fn scope_of(&self, select: &Select) -> TableScope {
        let mut scope = TableScope::default();
        for table in &select.from {
            self.add_factor(&mut scope, &table.relation);
            for join in &table.joins {
                self.add_factor(&mut scope, &join.relation);
            }
        }

        scope
    }

    /// Records the names in `ORDER BY` and `GROUP BY` that mean results.
    fn note_results<'a>(&mut self, select: &Select, sorted: impl Iterator<Item = &'a Expr>) {
        let is_result = |ident: &Ident| {
            select.projection.iter().any(|item| {
                matches!(item, SelectItem::ExprWithAlias { alias, .. } if same(&alias.value, &ident.value))
            })
        };
        for expr in sorted {
            if let Expr::Identifier(ident) = expr
                && is_result(ident)
            {
                self.results.push(ident.span);
            }
        }
    }

    /// Adds the columns that a statement sets or inserts.
    fn add_changes(&mut self, statement: &Statement) {
        let mut scope = TableScope::default();
        match statement {
            Statement::Insert(insert) => {
                let TableObject::TableName(table) = &insert.table else { return };
                let table = name_of(table);
                for column in &insert.columns {
                    self.add_column("insert", [(table.clone(), name_of(column))]);
                }
                if insert.columns.is_empty() {
                    self.add_column("insert", [(table.clone(), ALL_COLUMNS.to_owned())]);
                }
                scope.tables.push((table.clone(), Some(table)));
            }
            Statement::Update(update) => {
                self.add_factor(&mut scope, &update.table.relation);
                for join in &update.table.joins {
                    self.add_factor(&mut scope, &join.relation);
                }
                self.scopes.push(std::mem::take(&mut scope));
                for assignment in &update.assignments {
                    let targets = match &assignment.target {
                        AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
                        AssignmentTarget::Tuple(names) => names.as_slice(),
                    };
                    for target in targets {
                        self.add_target(target);
                    }
                }
                return;
            }
            Statement::Delete(delete) => {
                let (sqlparser::ast::FromTable::WithFromKeyword(from)
                | sqlparser::ast::FromTable::WithoutKeyword(from)) = &delete.from;
                for table in from {
                    self.add_factor(&mut scope, &table.relation);
                }
                for (_, table) in scope.tables.iter().filter(|(_, table)| table.is_some()) {
                    let table = table.clone().unwrap_or_default();
                    self.add_column("delete", [(table, ALL_COLUMNS.to_owned())]);
                }
            }
            _ => {}
        }
        self.scopes.push(scope);
    }

    /// Adds a statement that changes no rows. The visitor does not reach the tables of many such statements,
    /// so they get a reference that no allowlist contains.
    fn add_other(&mut self, statement: &Statement, word: &str) {
        match statement {
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Explain { .. } => return,
            Statement::Drop { names, .. } => {
                for name in names {
                    self.add_table(word, name);
                }
            }
            Statement::CreateTable(_)
            | Statement::CreateIndex(_)
            | Statement::AlterTable(_)
            | Statement::Truncate(_) => {}
            _ => self.found.tables.push(format!("{word}::{UNNAMED}::?")),
        }
        self.add_column(word, [(UNNAMED.to_owned(), ALL_COLUMNS.to_owned())]);
    }

    fn add_table(&mut self, action: &str, relation: &ObjectName) {
        let parts: Vec<&str> =
            relation.0.iter().filter_map(|part| part.as_ident()).map(|ident| ident.value.as_str()).collect();
        let (database, table) = match parts.as_slice() {
            [.., database, table] => (*database, *table),
            [table] if !self.is_query(table) => (UNNAMED, *table),
            _ => return,
        };
        let found = format!("{action}::{database}::{table}");
        if !self.found.tables.contains(&found) {
            self.found.tables.push(found);
        }
    }

    fn add_target(&mut self, target: &ObjectName) {
        let parts: Vec<&Ident> = target.0.iter().filter_map(|part| part.as_ident()).collect();
        match parts.as_slice() {
            [.., table, column] => self.add_qualified("update", &table.value, &column.value),
            [column] => self.add_unqualified("update", &column.value),
            [] => {}
        }
    }
}

impl Visitor for ReferenceFinder {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        let text = statement.to_string();
        let word = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        self.add_other(statement, &word);
        self.actions.push(word);
        let scopes = self.scopes.len();
        self.add_changes(statement);
        if self.scopes.len() == scopes {
            self.scopes.push(TableScope::default());
        }

        ControlFlow::Continue(())
    }

    fn post_visit_statement(&mut self, _: &Statement) -> ControlFlow<()> {
        self.actions.pop();
        self.scopes.pop();

        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        // A query in a `WITH` sees the names before its own, and its own if the `WITH` is recursive.
        if let Some(above) = self.withs.last_mut()
            && let Some((_, visible)) = above.queries.iter().find(|(at, _)| *at == address(query))
        {
            above.visible = *visible;
        }

        let mut names = WithNames::default();
        if let Some(with) = &query.with {
            names.names = with.cte_tables.iter().map(|table| table.alias.name.value.clone()).collect();
            let all = names.names.len();
            let queries = with.cte_tables.iter().enumerate();
            names.queries = queries
                .map(|(before, table)| (address(&table.query), if with.recursive { all } else { before }))
                .collect();
            names.visible = all;
        }
        self.withs.push(names);
        self.actions.push("select".to_owned());

        // `ORDER BY` comes after the select and sees its tables.
        let select = if let SetExpr::Select(select) = &*query.body { Some(select) } else { None };
        self.scopes.push(select.map_or_else(TableScope::default, |select| self.scope_of(select)));
        if let (Some(select), Some(order)) = (select, &query.order_by)
            && let OrderByKind::Expressions(sorted) = &order.kind
        {
            self.note_results(select, sorted.iter().map(|sorted| &sorted.expr));
        }

        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.withs.pop();
        self.actions.pop();
        self.scopes.pop();
        if let Some(above) = self.withs.last_mut()
            && above.queries.iter().any(|(at, _)| *at == address(query))
        {
            above.visible = above.names.len();
        }

        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.scopes.push(self.scope_of(select));
        self.found.has_top |= select.top.is_some();
        for item in &select.projection {
            self.add_wildcard(item);
        }
        if let GroupByExpr::Expressions(grouped, _) = &select.group_by {
            self.note_results(select, grouped.iter());
        }

        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.scopes.pop();

        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let action = self.actions.last().map_or_else(|| "select".to_owned(), String::clone);
        self.add_table(&action, relation);

        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(ident) if !self.results.contains(&ident.span) => {
                self.add_unqualified("select", &ident.value);
            }
            Expr::CompoundIdentifier(parts) => {
                if let [.., table, column] = parts.as_slice() {
                    self.add_qualified("select", &table.value, &column.value);
                }
            }
            _ => {}
        }

        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::PostgreSqlDialect;
    use sqlparser::parser::Parser;

    use super::*;

    fn found(sql: &str) -> (String, String) {
        let statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).expect("SQL");
        let References { tables, columns, .. } = find_references(&statements);
        let columns: Vec<String> = columns.iter().map(|ways| ways.join("|")).collect();
        (tables.join(" "), columns.join(" "))
    }

    #[test]
    fn each_table_has_what_is_done_with_it() {
        for (sql, tables) in [
            (
                "SELECT a FROM users u JOIN db.orders o ON u.id = o.id",
                "select::null::users select::db::orders",
            ),
            ("INSERT INTO t (a) SELECT a FROM s", "insert::null::t select::null::s"),
            ("DELETE FROM t WHERE a IN (SELECT a FROM s)", "delete::null::t select::null::s"),
            ("UPDATE t SET a = 1; DROP TABLE u", "update::null::t drop::null::u"),
            ("EXPLAIN SELECT a FROM t", "select::null::t"),
            ("TRUNCATE TABLE t; ALTER TABLE u ADD COLUMN a INT", "truncate::null::t alter::null::u"),
            ("CREATE INDEX i ON t (a)", "create::null::t"),
            ("GRANT SELECT ON secrets TO ann", "grant::null::?"),
            ("CREATE TABLE t AS SELECT a FROM s", "create::null::t select::null::s"),
            ("WITH d AS (DELETE FROM t RETURNING a) SELECT a FROM d", "delete::null::t"),
        ] {
            assert_eq!(found(sql).0, tables, "{sql}");
        }
    }

    #[test]
    fn a_query_with_a_name_hides_no_table_of_that_name() {
        for (sql, tables) in [
            ("WITH x AS (SELECT a FROM users) SELECT a FROM x", "select::null::users"),
            ("WITH users AS (SELECT a FROM users) SELECT a FROM users", "select::null::users"),
            ("WITH RECURSIVE x AS (SELECT 1 UNION SELECT n FROM x) SELECT n FROM x", ""),
            ("SELECT 1 FROM (WITH s AS (SELECT 1) SELECT * FROM s) q, s", "select::null::s"),
        ] {
            assert_eq!(found(sql).0, tables, "{sql}");
        }
    }

    #[test]
    fn columns_belong_to_the_tables_of_their_query() {
        for (sql, columns) in [
            ("SELECT u.a FROM users u", "select::users::a"),
            ("SELECT a FROM users", "select::null::a|select::users::a"),
            ("SELECT 1 AS n FROM t ORDER BY n", ""),
            ("SELECT a FROM t ORDER BY b", "select::null::a|select::t::a select::null::b|select::t::b"),
            ("SELECT 1 AS n FROM t WHERE n = 1", "select::null::n|select::t::n"),
            ("SELECT q.a FROM (SELECT a FROM t) q", "select::null::a|select::t::a"),
            ("SELECT * FROM t", "select::null::(.*)|select::t::(.*)"),
            ("SELECT count(*) FROM t", ""),
            ("WITH x AS (SELECT a FROM t) SELECT a FROM x", "select::null::a|select::t::a"),
            ("DROP TABLE t", "drop::null::(.*)"),
            ("UPDATE t SET a = b", "update::null::a|update::t::a select::null::b|select::t::b"),
            ("INSERT INTO t (a) VALUES (1)", "insert::t::a"),
            ("DELETE FROM t WHERE a = 1", "delete::t::(.*) select::null::a|select::t::a"),
        ] {
            assert_eq!(found(sql).1, columns, "{sql}");
        }
    }
}
