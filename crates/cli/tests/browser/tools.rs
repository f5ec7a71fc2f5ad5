//! Chromium, Node and two Node packages; missing ones are installed if possible.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variable that names a folder with `node_modules`, instead of the folder below `target/`.
const MODULES: &str = "ASSIZE_BROWSER_MODULES";
/// Packages with their versions.
const MANIFEST: &str = include_str!("package.json");
/// Names of Chromium and its derivatives.
const BROWSERS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"];

/// Programs and packages of a browser test.
pub(crate) struct BrowserTools {
    pub(crate) node: PathBuf,
    pub(crate) chromium: PathBuf,
    /// Folder that holds `node_modules`.
    pub(crate) modules: PathBuf,
}

impl BrowserTools {
    /// Finds the programs and packages, and installs missing ones. The error names any that can't be installed.
    pub(crate) fn find() -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser-modules");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // Tests in other processes may be installing the same packages.
        let lock = File::create(folder.join("lock")).map_err(|error| error.to_string())?;
        lock.lock().map_err(|error| error.to_string())?;

        let chromium = find_or_install(&BROWSERS, &["chromium"])?;
        let node = find_or_install(&["node", "nodejs"], &["nodejs", "npm"])?;
        let modules = match variable(MODULES) {
            Some(named) => PathBuf::from(named),
            None => install_modules(folder)?,
        };

        Ok(Self { node, chromium, modules })
    }

    /// A script of this folder, run with the browser.
    pub(crate) fn script(&self, name: &str) -> Command {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
        let mut command = Command::new(&self.node);
        command.arg(folder.join(name)).env(MODULES, &self.modules).env("CHROMIUM", &self.chromium);
        command
    }
}

#[expect(clippy::disallowed_methods, reason = "the test asks for what is installed beside it")]
fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let path = variable("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

/// Finds a program by one of its names. If it is missing and this is root on Debian, installs its packages
/// first.
fn find_or_install(names: &[&str], packages: &[&str]) -> Result<PathBuf, String> {
    if let Some(found) = find(names) {
        return Ok(found);
    }

    let missing = format!("there is no `{}`", names[0]);
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root || find(&["apt-get"]).is_none() {
        return Err(format!("{missing} (as root, the test installs it with apt-get)"));
    }

    // Package lists may be missing or outdated.
    let install = || apt(&[&["install", "-y", "--no-install-recommends"], packages].concat());
    let is_installed = install() || (apt(&["update"]) && install());
    if !is_installed {
        return Err(format!("{missing}, and apt-get can't install {}", packages.join(" ")));
    }
    find(names).ok_or(missing)
}

fn apt(arguments: &[&str]) -> bool {
    let mut command = Command::new("apt-get");
    command.args(["-q", "-o", "Acquire::Retries=1"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Installs the packages into a folder, unless these versions are installed.
fn install_modules(folder: PathBuf) -> Result<PathBuf, String> {
    let installed = folder.join("installed.json");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == MANIFEST) {
        return Ok(folder);
    }

    let npm = find(&["npm"]).ok_or("there is no `npm`")?;
    let written = std::fs::write(folder.join("package.json"), MANIFEST);
    written.map_err(|error| format!("{}: {error}", folder.display()))?;
    let output = Command::new(npm)
        .args([
            "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock", "--loglevel=error",
        ])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("npm can't be started: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().find(|line| line.contains("error")).unwrap_or_default();
        return Err(format!("npm can't install playwright-core and axe-core: {line}"));
    }

    std::fs::write(&installed, MANIFEST).map_err(|error| error.to_string())?;
    Ok(folder)
}
