//! The crates of the workspace: what each one owns, which others it may use, and what it must never do.
//!
//! `cargo xtask layers` enforces the table, and `cargo xtask generate` writes it into ARCHITECTURE.md.

/// A crate of the workspace, by its folder below `crates/`.
pub struct CrateRule {
    /// The folder; the package is `assize-FOLDER`, but for `cli` (`assize`) and `xtask`.
    pub folder: &'static str,
    /// Its subject, in a few words.
    pub owns: &'static str,
    /// The crates of this workspace it may use, by folder, with spaces between.
    pub may_use: &'static str,
    /// What would make it another crate.
    pub never: &'static str,
}

/// A crate from a registry that only some crates may use, in tests too.
pub struct RestrictedDep {
    /// Its name.
    pub name: &'static str,
    /// The folders of the crates that may use it.
    pub only: &'static [&'static str],
}

/// The crate for tests: everyone may use it there, nobody elsewhere.
pub(crate) const TESTKIT: &str = "testkit";

/// Crates that nothing may use.
pub(crate) const TOOLS: &[&str] = &["xtask"];

/// Every crate, each above those it may use; tools at the end.
pub const CRATES: &[CrateRule] = &[
    CrateRule {
        folder: "cli",
        owns: "flags, printing, progress, exit codes: the binary `assize`",
        may_use: "cluster serve view mcp engine report run analysis author audit review convert lsp lint grade targets \
                  workspace schema load scorecard evalfile document model llm store trace process records table rubric stats \
                  diagnostic files listen",
        never: "hold logic worth a unit test",
    },
    CrateRule {
        folder: "cluster",
        owns: "one run over many machines: units of work, leases, results, limits of all; the seam and NATS behind it",
        may_use: "engine run llm store rubric",
        never: "judge, know a provider's key, let anything of NATS through its seam",
    },
    CrateRule {
        folder: "serve",
        owns: "grading as a service: requests, keys and quotas, the queue, replies, adapters to trainers",
        may_use: "engine report schema scorecard evalfile document model llm store rubric stats diagnostic files listen limits",
        never: "compute a score, open a path or run a command of a request",
    },
    CrateRule {
        folder: "view",
        owns: "stored runs as pages in a browser: the server, its access rules, an index of rows, templates, scripts",
        may_use: "review engine report run analysis store rubric stats listen limits",
        never: "compute a metric, write anything but labels of people, fetch anything",
    },
    CrateRule {
        folder: "mcp",
        owns: "the tools and resources of `assize mcp`: arguments, what they may reach, results as data",
        may_use: "engine report lint document llm store rubric diagnostic limits",
        never: "compute a metric, take a command or a path outside its root from a client, print",
    },
    CrateRule {
        folder: "python",
        owns: "the extension module of the Python library: objects, jobs, tables, judges that are functions",
        may_use: "engine grade evalfile document llm store rubric diagnostic files",
        never: "compute a score, print, hold the GIL while it waits",
    },
    CrateRule {
        folder: "review",
        owns: "people as judges: items from a run, what a reviewer is shown, keys, order, the file of labels",
        may_use: "engine report run analysis load model store table rubric stats files limits",
        never: "find runs, decide what labels come to, measure agreement",
    },
    CrateRule {
        folder: "engine",
        owns: "making and living a run: options, wiring, plan, resuming, events, typed errors with exit codes",
        may_use: "run analysis author audit lint grade targets workspace schema load scorecard evalfile document template \
                  model llm store trace process script rubric stats diagnostic files limits",
        never: "print, parse flags",
    },
    CrateRule {
        folder: "report",
        owns: "stored runs as text, as pages, and in the formats of other tools",
        may_use: "analysis audit store rubric stats diagnostic limits",
        never: "call a model",
    },
    CrateRule {
        folder: "audit",
        owns: "probing a judge: cases judged unchanged and changed, and what that changed",
        may_use: "run analysis targets model store rubric stats",
        never: "ask a model, print",
    },
    CrateRule {
        folder: "run",
        owns: "the engine: work items, order, limits, cancelling, scoring again; emits events",
        may_use: "grade targets workspace scorecard evalfile model llm store process rubric stats diagnostic files limits",
        never: "know SQL, HTTP or a terminal",
    },
    CrateRule {
        folder: "analysis",
        owns: "what stored runs and labels say: intervals, comparisons, calibration",
        may_use: "store table rubric stats diagnostic files",
        never: "ask a model, print",
    },
    CrateRule {
        folder: "author",
        owns: "drafting rubrics and reviewing their wording with a model",
        may_use: "lint grade evalfile document model llm rubric diagnostic",
        never: "write a file, take a model's silence for a clean rubric, print",
    },
    CrateRule {
        folder: "convert",
        owns: "files of other formats and tools as eval files and scorecards",
        may_use: "load promptfoo scorecard evalfile document model records table rubric diagnostic files limits",
        never: "drop anything silently, write a file",
    },
    CrateRule {
        folder: "lsp",
        owns: "the language server: the loader and the linter over texts that are not saved",
        may_use: "lint schema load scorecard evalfile document model rubric diagnostic files",
        never: "ask a model, write a file",
    },
    CrateRule {
        folder: "lint",
        owns: "findings about rubrics that load and are still bad: rules, `allow:` comments, fixes",
        may_use: "load scorecard evalfile document model rubric diagnostic files",
        never: "write a file, ask a model",
    },
    CrateRule {
        folder: "grade",
        owns: "judging the answer: criterion by criterion, by checks, by programs",
        may_use: "model llm process script rubric stats diagnostic limits",
        never: "turn decisions into verdicts",
    },
    CrateRule {
        folder: "targets",
        owns: "getting the answer: given output, model, command, agent, recording",
        may_use: "llm trace process rubric stats diagnostic files",
        never: "score anything",
    },
    CrateRule {
        folder: "workspace",
        owns: "the folder an agent works in, and what it changed there",
        may_use: "model process rubric stats diagnostic limits",
        never: "judge",
    },
    CrateRule {
        folder: "schema",
        owns: "JSON Schemas of all file formats, for editors and other programs",
        may_use: "load promptfoo scorecard evalfile document model diagnostic",
        never: "read a file",
    },
    CrateRule {
        folder: "load",
        owns: "an eval file from its path, by the reader that its keys ask for; the search for such files in folders",
        may_use: "promptfoo scorecard evalfile document model rubric diagnostic files",
        never: "decode a key",
    },
    CrateRule {
        folder: "promptfoo",
        owns: "files of prompts, providers and tests, as promptfoo and AgentV write them, in; suites and cases out",
        may_use: "evalfile document template model records table script rubric diagnostic limits",
        never: "use network, clock or its own environment",
    },
    CrateRule {
        folder: "scorecard",
        owns: "scorecards, folders or single files, in; checked models out",
        may_use: "evalfile document model rubric diagnostic files",
        never: "compute a score",
    },
    CrateRule {
        folder: "evalfile",
        owns: "eval files in the native formats, rubrics, answers, targets and configuration in; checked models out",
        may_use: "document model records table script rubric diagnostic files limits",
        never: "use network, clock or its own environment, know how another tool spells a suite",
    },
    CrateRule {
        folder: "document",
        owns: "YAML and JSON as trees with places, the reading of their maps, codes of diagnostics, edits that keep the rest",
        may_use: "model rubric diagnostic limits",
        never: "know what a key means",
    },
    CrateRule {
        folder: "template",
        owns: "templates of prompts and requests: the part of nunjucks that is rendered, its limits",
        may_use: "model limits",
        never: "read a variable of the environment, report diagnostics",
    },
    CrateRule {
        folder: "model",
        owns: "checked suites, cases, graders, targets, scorecards and settings, and what identifies them in stored runs",
        may_use: "script rubric",
        never: "read a file, know how a value is written",
    },
    CrateRule {
        folder: "llm",
        owns: "asking a model: request, reply, wire formats, retries, prices, budgets",
        may_use: "rubric stats diagnostic files limits",
        never: "know what a verdict is",
    },
    CrateRule {
        folder: "store",
        owns: "run folders, the reply cache",
        may_use: "rubric stats diagnostic files",
        never: "hold business rules",
    },
    CrateRule {
        folder: "trace",
        owns: "what agents did, from their logs: one model, one reader per format",
        may_use: "rubric stats diagnostic",
        never: "open files, judge",
    },
    CrateRule {
        folder: "process",
        owns: "running a command: group kill, time and output limits",
        may_use: "rubric stats diagnostic",
        never: "interpret output",
    },
    CrateRule {
        folder: "records",
        owns: "records of other tools as cases with answers: one reader per format, archives, their limits",
        may_use: "files limits",
        never: "judge, take a record without an answer for an empty one",
    },
    CrateRule {
        folder: "table",
        owns: "the one reader of tables, as rows of texts: CSV, TSV, spreadsheets, Parquet, encodings, limits; numbers and yes/no in cells",
        may_use: "diagnostic files limits",
        never: "know what a column means",
    },
    CrateRule {
        folder: "script",
        owns: "JavaScript of eval files: an engine without access to anything, its limits",
        may_use: "limits",
        never: "know what an answer is, give a script files, network, clock or a second call",
    },
    CrateRule {
        folder: "rubric",
        owns: "the words and the arithmetic: criteria, outcomes, gates, scores, verdicts",
        may_use: "limits",
        never: "do I/O, be async, read a clock",
    },
    CrateRule {
        folder: "stats",
        owns: "intervals and other statistics",
        may_use: "",
        never: "read a store, print",
    },
    CrateRule {
        folder: "diagnostic",
        owns: "source text, spans, diagnostics and how they are drawn",
        may_use: "",
        never: "know what an eval is",
    },
    CrateRule {
        folder: "listen",
        owns: "rules of servers: the hosts they answer for, how secrets are compared",
        may_use: "",
        never: "open a socket",
    },
    CrateRule {
        folder: "files",
        owns: "opening files that users name: regular ones only, no larger than a limit",
        may_use: "limits",
        never: "know a format, report diagnostics",
    },
    CrateRule {
        folder: "limits",
        owns: "the limits of what others may make Assize do: their values, and how the page of limits words them",
        may_use: "",
        never: "check anything",
    },
    CrateRule {
        folder: TESTKIT,
        owns: "mock model server, fixture for the command line, runner for golden files",
        may_use: "",
        never: "ship",
    },
    CrateRule {
        folder: "xtask",
        owns: "chores: checks of the repository, generated files",
        may_use: "lint load promptfoo evalfile document rubric diagnostic limits",
        never: "ship",
    },
];

/// Crates from registries that stay in one place each.
pub const RESTRICTED_DEPS: &[RestrictedDep] = &[
    RestrictedDep { name: "annotate-snippets", only: &["diagnostic"] },
    RestrictedDep { name: "arrow-array", only: &["python"] },
    RestrictedDep { name: "arrow-schema", only: &["python"] },
    RestrictedDep { name: "askama", only: &["report", "view"] },
    RestrictedDep { name: "async-nats", only: &["cluster"] },
    RestrictedDep { name: "aws-credential-types", only: &["llm"] },
    RestrictedDep { name: "aws-sigv4", only: &["llm"] },
    RestrictedDep { name: "axum", only: &["serve", "view", TESTKIT] },
    RestrictedDep { name: "calamine", only: &["table"] },
    RestrictedDep { name: "cap-fs-ext", only: &["workspace"] },
    RestrictedDep { name: "cap-std", only: &["workspace"] },
    RestrictedDep { name: "chardetng", only: &["table"] },
    RestrictedDep { name: "clap", only: &["cli"] },
    RestrictedDep { name: "clap_complete", only: &["cli"] },
    RestrictedDep { name: "clap_mangen", only: &["cli"] },
    RestrictedDep { name: "console", only: &["cli"] },
    RestrictedDep { name: "crossterm", only: &["cli"] },
    RestrictedDep { name: "encoding_rs", only: &["table"] },
    RestrictedDep { name: "hyper", only: &["llm", "serve"] },
    RestrictedDep { name: "indicatif", only: &["cli"] },
    RestrictedDep { name: "lsp-server", only: &["lsp"] },
    RestrictedDep { name: "lsp-types", only: &["lsp"] },
    RestrictedDep { name: "minijinja", only: &["promptfoo", "template"] },
    RestrictedDep { name: "nix", only: &["process"] },
    RestrictedDep { name: "object_store", only: &["cluster"] },
    RestrictedDep { name: "parquet", only: &["table"] },
    RestrictedDep { name: "process-wrap", only: &["process"] },
    RestrictedDep { name: "pyo3", only: &["python"] },
    RestrictedDep { name: "reqwest", only: &["llm"] },
    RestrictedDep { name: "rmcp", only: &["mcp"] },
    RestrictedDep { name: "rquickjs", only: &["script"] },
    RestrictedDep { name: "rusqlite", only: &["store"] },
    RestrictedDep { name: "rust_xlsxwriter", only: &["table", TESTKIT] },
    RestrictedDep { name: "rustls", only: &["llm"] },
    RestrictedDep { name: "rusty-s3", only: &["llm"] },
    RestrictedDep { name: "saphyr-parser", only: &["document"] },
    RestrictedDep { name: "sqlparser", only: &["grade"] },
    RestrictedDep { name: "tokio-rustls", only: &["serve", "view"] },
];

/// Crates from registries that only tests and benchmarks may use.
pub(crate) const TEST_ONLY: &[&str] = &["proptest"];

impl CrateRule {
    /// The folders of the crates it may use.
    pub fn uses(&self) -> impl Iterator<Item = &'static str> {
        self.may_use.split_whitespace()
    }
}
