//! `assize schema`: JSON Schemas of input files and stored files.

use std::path::{Component, Path};

use assize_engine::{ExitStatus, all_schemas, stored_schemas};
use assize_report::{ListingRow, render_listing};
use assize_schema::{SchemaFile, schema_file_name, schema_folder};
use serde_json::json;

use crate::args::SchemaArgs;
use crate::context::CliContext;
use crate::failure::CommandFailure;
use crate::output;

/// Folder of a project's copies, relative to the project.
pub(crate) const FOLDER: &str = ".assize/schemas";

pub(crate) fn execute(args: &SchemaArgs, context: &CliContext) -> Result<ExitStatus, CommandFailure> {
    if let Some(folder) = &args.out {
        let files = files();
        for (name, text) in &files {
            write(folder, name, text)?;
        }

        output::print_message(&format!("wrote {} schemas to {}\n", files.len(), folder.display()));
        return Ok(ExitStatus::Passed);
    }

    let all = all_schemas();
    let Some(name) = &args.name else {
        list(&all, args.json, context);
        return Ok(ExitStatus::Passed);
    };
    let Some(file) = all.iter().find(|file| file.name == name) else {
        let names: Vec<&str> = all.iter().map(|file| file.name).collect();
        return Err(format!("there is no schema `{name}`; there are: {}", names.join(", ")).into());
    };
    output::print_json(&file.schema);

    Ok(ExitStatus::Passed)
}

/// Names and texts of the files of a schema folder. Schemas of input files share one file of definitions.
pub(crate) fn files() -> Vec<(String, String)> {
    let mut files = schema_folder();
    files.extend(stored_schemas().map(|file| (schema_file_name(file.name), file.schema)));
    files.into_iter().map(|(name, schema)| (name, format!("{schema:#}\n"))).collect()
}

/// The line that tells editors the schema of a YAML file. `depth` is the number of folders between the project
/// and the file.
pub(crate) fn editor_line(name: &str, depth: usize) -> String {
    format!("# yaml-language-server: $schema={}{FOLDER}/{}\n", "../".repeat(depth), schema_file_name(name))
}

/// That line for a new YAML file in the working folder, if the folder has the schema; editors complain about a
/// path that does not exist.
pub(crate) fn line_for(file: &Path, name: &str, context: &CliContext) -> Option<String> {
    let is_yaml = file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let inside = file.strip_prefix(&context.process.working_folder).unwrap_or(file);
    let mut steps = inside.components().filter(|step| *step != Component::CurDir);
    let is_there = context.process.working_folder.join(FOLDER).join(schema_file_name(name)).is_file();
    let depth = steps.clone().count().checked_sub(1)?;
    let plain = steps.all(|step| matches!(step, Component::Normal(_)));

    (is_yaml && plain && is_there).then(|| editor_line(name, depth))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), CommandFailure> {
    let path = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| format!("can't write `{}`: {error}", path.display()))?;

    Ok(())
}

fn list(all: &[SchemaFile], as_json: bool, context: &CliContext) {
    if as_json {
        let list: Vec<_> = all.iter().map(|file| json!({ "name": file.name, "title": file.title })).collect();
        output::print_json(&json!({ "schemas": list }));
        return;
    }

    let rows: Vec<ListingRow> = all.iter().map(|file| ListingRow::new(file.name, file.title)).collect();
    output::print(&render_listing(&rows, context.stdout));
}
