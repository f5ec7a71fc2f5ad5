//! `assize schema`: the JSON Schemas of what is read and stored.

use std::path::{Component, Path};

use assize_engine::Exit;
use assize_evalfile::SchemaFile;
use serde_json::json;

use crate::args::SchemaArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::output;

/// Where a project keeps its copies, below its folder.
pub(crate) const FOLDER: &str = ".assize/schemas";

pub(crate) fn execute(args: &SchemaArgs) -> Result<Exit, Failure> {
    let all = all();
    if let Some(folder) = &args.out {
        for file in &all {
            write(folder, file)?;
        }
        output::say(&format!("wrote {} schemas into {}\n", all.len(), folder.display()));
        return Ok(Exit::Passed);
    }
    let Some(name) = &args.name else {
        list(&all, args.json);
        return Ok(Exit::Passed);
    };
    let Some(file) = all.iter().find(|file| file.name == name) else {
        let names: Vec<&str> = all.iter().map(|file| file.name).collect();
        return Err(format!("there is no schema `{name}`; there are: {}", names.join(", ")).into());
    };
    output::print_json(&file.schema);
    Ok(Exit::Passed)
}

/// All schemas: of what is read, and of what a run leaves behind.
pub(crate) fn all() -> Vec<SchemaFile> {
    let titles = [
        ("run", "run.json of a run"),
        ("result", "A line of results.jsonl of a run"),
        ("judgement", "A line of judgements.jsonl of a run"),
        ("review", "A line of review.jsonl of a run"),
        ("label", "A line of a labels file"),
    ];
    let mut all = assize_evalfile::schemas();
    for (name, schema) in assize_store::schemas() {
        let title = titles.iter().find(|(known, _)| *known == name).map_or(name, |(_, title)| title);
        all.push(SchemaFile { name, title, schema });
    }
    all
}

/// The name of a schema's file.
pub(crate) fn file_name(name: &str) -> String {
    format!("{name}.schema.json")
}

/// A schema as it stands in its file.
pub(crate) fn text(file: &SchemaFile) -> String {
    format!("{:#}\n", file.schema)
}

/// The line that tells an editor which schema a YAML file is held to. `depth` is how many folders the file lies below
/// the project's.
pub(crate) fn editor_line(name: &str, depth: usize) -> String {
    format!("# yaml-language-server: $schema={}{FOLDER}/{}\n", "../".repeat(depth), file_name(name))
}

/// The line for a new YAML file of the working folder, if that has the schema; a name that leads nowhere would make an
/// editor complain.
pub(crate) fn line_for(file: &Path, name: &str, context: &Context) -> Option<String> {
    let is_yaml = file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let inside = file.strip_prefix(&context.process.working_folder).unwrap_or(file);
    let mut steps = inside.components().filter(|step| *step != Component::CurDir);
    let is_there = context.process.working_folder.join(FOLDER).join(file_name(name)).is_file();
    let depth = steps.clone().count().checked_sub(1)?;
    let plain = steps.all(|step| matches!(step, Component::Normal(_)));
    (is_yaml && plain && is_there).then(|| editor_line(name, depth))
}

fn write(folder: &Path, file: &SchemaFile) -> Result<(), String> {
    let path = folder.join(file_name(file.name));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, text(file)))
        .map_err(|error| format!("can't write `{}`: {error}", path.display()))
}

fn list(all: &[SchemaFile], as_json: bool) {
    if as_json {
        let list: Vec<_> = all.iter().map(|file| json!({ "name": file.name, "title": file.title })).collect();
        output::print_json(&json!({ "schemas": list }));
        return;
    }
    let width = all.iter().map(|file| file.name.len()).max().unwrap_or(0);
    for file in all {
        output::print(&format!("{:width$}  {}\n", file.name, file.title));
    }
}
