//! `cargo xtask package-files`: writes the completion scripts and man pages of a release.

use std::path::Path;

use super::commands::printed;
use xtask::shell;

/// Shells, with the file name under which each looks for a completion script.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "assize.bash"),
    ("elvish", "assize.elv"),
    ("fish", "assize.fish"),
    ("powershell", "_assize.ps1"),
    ("zsh", "_assize"),
];

/// Output folder, relative to the root of the checkout.
const FOLDER: &str = "target/package-files";

/// Writes `completions/` and `man/` anew.
pub(super) fn run(program: &Path) -> Result<(), String> {
    let folder = shell::root().join(FOLDER);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("can't empty {FOLDER}: {error}"));
        }
        _ => {}
    }

    write_completions(program, &folder.join("completions"))?;
    let man = folder.join("man");
    let man = man.to_str().ok_or("the checkout has a path that is not Unicode")?;
    printed(program, &["man", "--out", man])?;
    println!("wrote completions and man pages into {FOLDER}");

    Ok(())
}

fn write_completions(program: &Path, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;

    for (shell, name) in SHELLS {
        let script = printed(program, &["completions", shell])?;
        std::fs::write(folder.join(name), script).map_err(|error| format!("{name}: {error}"))?;
    }

    Ok(())
}
