//! `assize schema`.

use std::path::PathBuf;

/// Print the JSON Schema of a kind of file, for editors and other programs.
///
/// Without a name the kinds are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize schema\n  \
    assize schema suite > suite.schema.json\n  \
    assize schema --out .assize/schemas")]
pub(crate) struct SchemaArgs {
    /// The kind of file, such as `suite`.
    #[arg(value_name = "NAME", conflicts_with = "out")]
    pub(crate) name: Option<String>,
    /// Write all of them into this folder, as `NAME.schema.json`.
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// List the kinds as JSON.
    #[arg(long, conflicts_with_all = ["name", "out"])]
    pub(crate) json: bool,
}
