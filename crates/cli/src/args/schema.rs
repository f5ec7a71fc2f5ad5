//! `assize schema`.

use std::path::PathBuf;

/// Print the JSON Schema of a kind of file.
///
/// Without a name the kinds are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    assize schema\n  \
    assize schema suite > suite.schema.json\n  \
    assize schema --out .assize/schemas")]
pub(crate) struct SchemaArgs {
    /// Kind of file, such as `suite`.
    #[arg(value_name = "NAME", conflicts_with = "out")]
    pub(crate) name: Option<String>,
    /// Write all schemas to this folder, as `NAME.schema.json`.
    #[arg(long, short = 'o', value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long, conflicts_with_all = ["name", "out"])]
    pub(crate) json: bool,
}
