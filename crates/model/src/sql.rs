//! Model of checks of SQL.

/// A check that the answer is SQL, and optionally that it only uses allowed tables and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlCheck {
    /// True if it suffices that a code block in the answer is SQL.
    pub in_blocks: bool,
    /// Dialect.
    pub dialect: SqlDialect,
    /// Patterns of allowed tables, such as `select::null::users`. Empty if all are allowed.
    pub allowed_tables: Vec<String>,
    /// Patterns of allowed columns, such as `select::users::id`. Empty if all are allowed.
    pub allowed_columns: Vec<String>,
}

/// Dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SqlDialect {
    /// MySQL and MariaDB.
    #[default]
    MySql,
    /// PostgreSQL.
    PostgreSql,
    /// SQLite.
    Sqlite,
    /// Microsoft's Transact-SQL.
    TransactSql,
    /// BigQuery.
    BigQuery,
    /// Snowflake.
    Snowflake,
    /// Redshift.
    Redshift,
    /// Hive.
    Hive,
    /// Spark SQL.
    Spark,
    /// Databricks.
    Databricks,
    /// ClickHouse.
    ClickHouse,
    /// DuckDB.
    DuckDb,
    /// Oracle.
    Oracle,
    /// Teradata.
    Teradata,
    /// Standard SQL.
    Ansi,
    /// Any dialect: accepts a statement that at least one of several dialects accepts.
    Generic,
}

assize_rubric::named_variants!(SqlDialect {
    MySql = "MySQL", PostgreSql = "PostgreSQL", Sqlite = "SQLite", TransactSql = "TransactSQL", BigQuery = "BigQuery",
    Snowflake = "Snowflake", Redshift = "Redshift", Hive = "Hive", Spark = "Spark", Databricks = "Databricks",
    ClickHouse = "ClickHouse", DuckDb = "DuckDB", Oracle = "Oracle", Teradata = "Teradata", Ansi = "ANSI",
    Generic = "generic",
});

impl SqlDialect {
    /// Other names, including promptfoo's. A dialect without its own grammar is read as [`SqlDialect::Generic`].
    pub const OTHER_NAMES: [(&str, Self); 10] = [
        ("Athena", Self::Generic),
        ("DB2", Self::Generic),
        ("FlinkSQL", Self::Generic),
        ("MariaDB", Self::MySql),
        ("MSSQL", Self::TransactSql),
        ("Noql", Self::Generic),
        ("Postgres", Self::PostgreSql),
        ("PostgresQL", Self::PostgreSql),
        ("Trino", Self::Generic),
        ("Snowflake(alpha)", Self::Snowflake),
    ];
}
