//! The values.

use std::time::Duration;

use crate::words::{count, megabytes, size, time};

/// Defines the constants, and how the page shows each.
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $value:expr, $words:ident;)+) => {
        $($(#[doc = $doc])+ pub const $name: $kind = $value;)+

        /// The names of all limits.
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),+];

        /// A limit as the page shows it.
        pub(crate) fn shown(name: &str) -> Option<String> {
            match name {
                $(stringify!($name) => Some($words($name)),)+
                _ => None,
            }
        }
    };
}

limits! {
    /// Bytes of a YAML or JSON file, and of tables.
    FILE_BYTES: u64 = 64 << 20, size;
    /// Bytes of a line of a JSONL file, and of a row of a table.
    JSONL_LINE_BYTES: u64 = 16 << 20, size;
    /// Bytes of a file of settings.
    SETTINGS_FILE_BYTES: u64 = 4 << 20, size;
    /// Files of tests inside of each other.
    TEST_FILES_DEPTH: usize = 3, count;
    /// Bytes of an attached text.
    ATTACHMENT_BYTES: u64 = 16 << 20, size;
    /// Bytes of a file to convert, of records of another tool, and of a part of an archive.
    RECORD_BYTES: u64 = 256 << 20, size;
    /// Parts of an archive.
    ARCHIVE_PARTS: usize = 1_000_000, count;
    /// Bytes of all parts of an archive.
    ARCHIVE_BYTES: u64 = 16 << 30, size;
    /// Bytes of the values in the parts of an archive, however small it is. Larger ones have [`EXPANSION_FACTOR`] times their
    /// size.
    ARCHIVE_VALUE_BYTES: u64 = 96 << 20, size;
    /// How many times its size a compressed file may become.
    EXPANSION_FACTOR: u64 = 50, count;
    /// Allowed size of a decompressed file, even if the compressed one is tiny.
    EXPANDED_BYTES: u64 = 16 << 20, size;
    /// Bytes of the texts of a table that is compressed.
    TABLE_TEXT_BYTES: usize = 512 << 20, size;
    /// Cells of a table that is compressed.
    TABLE_CELLS: usize = 10_000_000, count;
    /// Cells of a Parquet file for each of its bytes.
    TABLE_CELLS_PER_BYTE: usize = 4, count;
    /// Cells of a Parquet file, however small it is.
    TABLE_CELLS_OF_SMALL_FILES: usize = 1_000_000, count;
    /// Columns of a table, with the members of columns in a Parquet file.
    TABLE_COLUMNS: usize = 10_000, count;
    /// Bytes of the description of a Parquet file at its end.
    PARQUET_FOOTER_BYTES: usize = 4 << 20, size;
    /// People and judges whose labels are read. They are compared pair by pair.
    REVIEWERS: usize = 1_000, count;
    /// Bytes of a decision of a review page.
    REVIEW_DECISION_BYTES: usize = 64 << 10, size;
    /// Characters of a cell of an exported table.
    REVIEW_CELL_CHARACTERS: usize = 32_767, count;
    /// Files that a pattern matches.
    PATTERN_MATCHES: usize = 10_000, count;
    /// Folders inside of each other that a pattern searches.
    PATTERN_DEPTH: usize = 32, count;
    /// Files and folders that a pattern searches.
    PATTERN_ENTRIES: usize = 100_000, count;
    /// Levels of lists and maps.
    NESTING: usize = 96, count;
    /// Keys of a map.
    MAP_KEYS: usize = 10_000, count;
    /// Values of a tree: of a case, or of a file that is read as a whole.
    TREE_VALUES: usize = 1_000_000, count;
    /// Values that aliases may add.
    ALIAS_COPIES: usize = 100_000, count;
    /// Bytes of a text that count as one more value.
    WEIGHED_TEXT_BYTES: usize = 256, size;
    /// Cases of a file of prompts and tests.
    MATRIX_CASES: usize = 100_000, count;
    /// Bytes of all texts of such cases.
    MATRIX_BYTES: usize = 64 << 20, size;
    /// Cases of such a file, times its providers.
    MATRIX_ANSWERS: usize = 1_000_000, count;
    /// Bytes of all values of such cases, and of their tests.
    MATRIX_VALUE_BYTES: usize = 96 << 20, size;
    /// Bytes of all values of such cases, however large the files are.
    MATRIX_VALUE_BYTES_OF_LARGE_FILES: usize = 128 << 20, size;
    /// Bytes of memory that a value of a file or a request counts as.
    VALUE_BYTES: usize = 120, size;
    /// Further bytes for a member of a map.
    MEMBER_BYTES: usize = 240, count;
    /// Bytes that files take which a file names again, each time.
    REPEATED_FILE_BYTES: usize = 128 << 20, size;
    /// Steps and bytes of all templates that are rendered while a file is read.
    TEMPLATE_STEPS: usize = 100_000_000, count;
    /// Time to compile the patterns of a file.
    PATTERN_TIME: Duration = Duration::from_secs(4), time;
    /// Assertions of a test.
    TEST_ASSERTIONS: usize = 10_000, count;
    /// Assertions of a file.
    FILE_ASSERTIONS: usize = 500_000, count;
    /// Bytes of a template.
    TEMPLATE_BYTES: usize = 16 << 20, size;
    /// Bytes of a template inside of tags and braces.
    TEMPLATE_TAG_BYTES: usize = 1 << 20, size;
    /// Tags and operators of a template inside of each other.
    TEMPLATE_DEPTH: usize = 200, count;
    /// Bytes that a template renders.
    RENDERED_BYTES: usize = 16 << 20, size;
    /// Bytes of values that are inserted into the texts of a case.
    INSERTED_BYTES: usize = 16 << 20, size;
    /// Targets of a file. Resolving `use_target` takes more than linear time.
    FILE_TARGETS: usize = 1_000, count;
    /// Trials of a case.
    TRIALS: u32 = 1_000, count;
    /// Graders of a list.
    LIST_GRADERS: usize = 1_000, count;
    /// Errors of a file that are listed, and warnings.
    FILE_PROBLEMS: usize = 200, count;
    /// Time of a check that may take long.
    CHECK_TIME: Duration = Duration::from_secs(10), time;
    /// Checks that may run on after their time.
    GIVEN_UP_CHECKS: usize = 4, count;
    /// Tokens of SQL that is checked.
    SQL_TOKENS: usize = 10_000, count;
    /// Statements that a context grader decides on.
    CONTEXT_STATEMENTS: usize = 200, count;
    /// Bytes of memory of a script.
    SCRIPT_MEMORY: usize = 64 << 20, size;
    /// Steps of a script.
    SCRIPT_STEPS: u32 = 50_000, count;
    /// Time of a script, and of all scripts that run while a file is read.
    SCRIPT_TIME: Duration = Duration::from_secs(10), time;
    /// Bytes of a script.
    SCRIPT_BYTES: usize = 1 << 20, size;
    /// Bytes of a reply of a model.
    REPLY_BYTES: usize = 4 << 20, size;
    /// Bytes of a judgement.
    JUDGEMENT_BYTES: usize = 256 << 10, size;
    /// Bytes of what a program returns that writes a part of a file: all its tests may come from one call.
    FILE_PROGRAM_BYTES: usize = 64 << 20, size;
    /// Bytes of an image in a prompt. Models accept less.
    IMAGE_BYTES: u64 = 16 << 20, size;
    /// Bytes of the output of a grading program.
    PROGRAM_OUTPUT_BYTES: usize = 4 << 20, size;
    /// Files of a workspace.
    WORKSPACE_FILES: usize = 500_000, count;
    /// Bytes of a message from an agent.
    AGENT_MESSAGE_BYTES: usize = 16 << 20, size;
    /// Samples of a call of `grade`, for agents.
    AGENT_SAMPLES: usize = 1_000, count;
    /// Runs in progress of one server for agents.
    AGENT_RUNS: usize = 4, count;
    /// Shards of a plan.
    SHARDS: u32 = 100_000, count;
    /// Bytes of a line of a file of imported replies.
    IMPORTED_LINE_BYTES: usize = 8 << 20, size;
    /// Bytes of the body of a request.
    BODY_BYTES: usize = 16 << 20, size;
    /// Bytes of all bodies that are worked on.
    BODIES_BYTES: usize = 1 << 30, size;
    /// Levels of a body.
    BODY_NESTING: usize = 64, count;
    /// Samples of a request.
    REQUEST_SAMPLES: usize = 4_096, count;
    /// Bytes of a rubric or scorecard in a request, and of its criteria with their values.
    REQUEST_RUBRIC_BYTES: usize = 1 << 20, size;
    /// Criteria of a rubric in a request.
    REQUEST_CRITERIA: usize = 256, count;
    /// Judge calls of a sample by a rubric in a request.
    REQUEST_CALLS_PER_SAMPLE: usize = 1_024, count;
    /// Bytes of an id, a group or an idempotency key.
    REQUEST_NAME_BYTES: usize = 256, size;
    /// Problems of a request that are listed.
    REQUEST_PROBLEMS: usize = 100, count;
    /// Samples that a server has accepted at once.
    QUEUED_SAMPLES: usize = 10_000, count;
    /// Connections of a server.
    CONNECTIONS: usize = 4_096, count;
    /// Time for the headers of a request, and for the first request of a connection.
    HEADER_TIME: Duration = Duration::from_secs(30), time;
    /// Time of an HTTP/2 connection without a request.
    IDLE_HTTP2_TIME: Duration = Duration::from_mins(5), time;
    /// Time to receive a body.
    BODY_TIME: Duration = Duration::from_mins(1), time;
    /// Time in which a client takes something of its reply.
    STALL_TIME: Duration = Duration::from_mins(1), time;
    /// Bytes of a rubric with variables, times the samples.
    REPEATED_RUBRIC_BYTES: usize = 64 << 20, size;
    /// Time for which replies are remembered for their idempotency keys.
    REPLAY_TIME: Duration = Duration::from_hours(1), time;
    /// Requests that are remembered.
    REPLAYED_REQUESTS: usize = 16_384, count;
    /// Samples and decisions of these requests.
    REPLAYED_RESULTS: usize = 131_072, count;
    /// Bytes of a formula.
    FORMULA_BYTES: usize = 4 << 10, size;
    /// Levels of a formula.
    FORMULA_DEPTH: usize = 64, count;
    /// Largest number of the range of a `score_model` grader, without its sign.
    GRADER_SCORE: u32 = 1_000_000_000, count;
    /// References in a text of an OpenAI grader.
    GRADER_REFERENCES: usize = 1_000, count;
    /// Bytes of such a text with its values.
    GRADER_TEXT_BYTES: usize = 4 << 20, size;
    /// Bytes of all such texts of a request.
    GRADER_TEXTS_BYTES: usize = 32 << 20, size;
    /// Requests of a batch.
    BATCH_REQUESTS: usize = 50_000, count;
    /// Requests of a batch of Anthropic.
    ANTHROPIC_BATCH_REQUESTS: usize = 100_000, count;
    /// Bytes of a batch in the format of OpenAI, and of Bedrock.
    BATCH_BYTES: usize = 199 << 20, size;
    /// Bytes of a batch of Anthropic.
    ANTHROPIC_BATCH_BYTES: usize = 255 << 20, size;
    /// Bytes of a batch of Gemini.
    GEMINI_BATCH_BYTES: usize = 19_000_000, megabytes;
    /// Fewest requests of a batch of Bedrock.
    BEDROCK_BATCH_FEWEST: usize = 100, count;
    /// Bytes of the results of a batch.
    BATCH_RESULT_BYTES: usize = 1 << 30, size;
    /// Bytes of the cases that an HTML page has in full.
    PAGE_BYTES: usize = 6_000_000, megabytes;
    /// Further cases that it has with a line each.
    PAGE_ROWS: usize = 2_000, count;
    /// Characters of a text in an HTML page.
    PAGE_TEXT_CHARACTERS: usize = 20_000, count;
    /// Characters of a comment in Markdown.
    MARKDOWN_CHARACTERS: usize = 65_536, count;
    /// Annotations of a kind.
    ANNOTATIONS: usize = 10, count;
}
