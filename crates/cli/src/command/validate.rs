//! `assize validate`.

use assize_diagnostic::render;
use assize_spec::codes;

use super::eval::load;
use crate::args::{FormatChoice, ValidateArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::output;

pub(crate) fn execute(args: &ValidateArgs, context: &Context) -> Result<Exit, String> {
    let loaded = load(&args.paths, &args.root, context)?;
    let (errors, warnings) = loaded.tally();
    let too_many_warnings = args.max_warnings.is_some_and(|most| warnings > most);
    let exit = if errors > 0 || too_many_warnings { Exit::Invalid } else { Exit::Passed };
    match if args.json { FormatChoice::Json } else { args.format } {
        FormatChoice::Text => {
            for file in &loaded.files {
                output::print(&output::draw(&file.diagnostics, &file.sources, context.stdout));
                if !file.diagnostics.is_empty() {
                    output::print("\n");
                }
            }
            let cases: usize = loaded.files.iter().map(|file| file.cases.len() + file.cases.left_out()).sum();
            output::print(&format!(
                "{} file{}, {cases} case{}: {}\n",
                loaded.files.len(),
                plural(loaded.files.len()),
                plural(cases),
                count(errors, warnings)
            ));
        }
        FormatChoice::Json => {
            let reports = loaded.files.iter().map(|file| {
                let report = render::json_report(&file.diagnostics, &file.sources);
                (report.diagnostics, file.path.display().to_string(), file.cases.len())
            });
            let mut diagnostics = Vec::new();
            let mut files = Vec::new();
            for (found, path, cases) in reports {
                files.push(serde_json::json!({ "path": path, "cases": cases, "problems": found.len() }));
                diagnostics.extend(found);
            }
            let diagnostics = serde_json::to_value(diagnostics).map_err(|error| error.to_string())?;
            output::print_json(&serde_json::json!({
                "files": files,
                "diagnostics": diagnostics,
                "errors": errors,
                "warnings": warnings,
            }));
        }
        FormatChoice::Github => {
            for file in &loaded.files {
                output::print(&render::to_github(&file.diagnostics, &file.sources));
            }
        }
        FormatChoice::Sarif => {
            let describe = |code| codes::ALL.iter().find(|page| page.code == code).map(|page| page.title);
            let tool = render::ToolInfo {
                name: "assize",
                version: env!("CARGO_PKG_VERSION"),
                information_uri: None,
                describe: &describe,
            };
            let parts: Vec<_> =
                loaded.files.iter().map(|file| (file.diagnostics.as_slice(), &file.sources)).collect();
            output::print(&render::to_sarif(&parts, tool));
        }
    }
    if too_many_warnings && errors == 0 {
        let found = format!("{warnings} warning{}, more than `--max-warnings` allows", plural(warnings));
        output::complain(&found, context);
    }
    Ok(exit)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn count(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "no problems".to_owned(),
        (errors, warnings) => {
            format!("{errors} error{}, {warnings} warning{}", plural(errors), plural(warnings))
        }
    }
}
