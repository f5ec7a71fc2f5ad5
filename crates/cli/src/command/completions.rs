//! `assize completions` and `assize man`: completion scripts for shells, and man pages.

use std::path::Path;

use assize_engine::ExitStatus;
use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::failure::CommandFailure;
use crate::output;

pub(crate) fn completions(args: &CompletionsArgs) -> ExitStatus {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "assize", &mut script);
    output::print(&String::from_utf8_lossy(&script));
    ExitStatus::Passed
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitStatus, CommandFailure> {
    let mut root = Args::command();
    root.build();

    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("can't create the folder `{}`: {error}", folder.display()))?;
        write_all(&root, folder)?;
        return Ok(ExitStatus::Passed);
    }

    let mut command = &root;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            format!("`{}` has no command `{name}`; it has: {}", command.get_name(), known.join(", "))
        })?;
    }

    output::print(&page(command)?);
    Ok(ExitStatus::Passed)
}

/// The man page of a command, in roff.
fn page(command: &clap::Command) -> Result<String, CommandFailure> {
    let mut roff = Vec::new();
    clap_mangen::Man::new(command.clone())
        .source(concat!("assize ", env!("CARGO_PKG_VERSION")))
        .manual("Assize")
        .render(&mut roff)
        .map_err(|error| format!("can't render the page of `{}`: {error}", command.get_name()))?;

    let text = String::from_utf8_lossy(&roff);
    // Examples are lines of a shell: a manual must not fill them like prose.
    Ok(match text.split_once(".SH EXTRA\n") {
        Some((head, extra)) => {
            let extra = extra.replacen(".SH VERSION", ".fi\n.SH VERSION", 1);
            format!("{head}.SH NOTES\n.nf\n{extra}")
        }
        None => text.into_owned(),
    })
}

/// Writes the pages of a command and of all its subcommands.
fn write_all(command: &clap::Command, folder: &Path) -> Result<(), CommandFailure> {
    // `assize cache stats` has the page `assize-cache-stats.1`.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = folder.join(format!("{name}.1"));
    std::fs::write(&path, page(command)?)
        .map_err(|error| format!("can't write `{}`: {error}", path.display()))?;

    command.get_subcommands().try_for_each(|inner| write_all(inner, folder))
}
