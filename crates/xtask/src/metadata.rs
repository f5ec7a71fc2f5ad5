//! The crates of the workspace and their dependencies, as reported by `cargo metadata`.

use serde_json::Value;

use crate::shell;

/// A crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name in `Cargo.toml`.
    pub name: String,
    /// Its folder, relative to the root with `/`, such as `crates/evalfile`.
    pub folder: String,
    /// What it asks for.
    pub dependencies: Vec<Dependency>,
}

/// An entry under one of the `dependencies` headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The crate's name.
    pub name: String,
    /// The name it has in code, if another.
    pub rename: Option<String>,
    /// Under which heading it stands.
    pub kind: Kind,
}

/// The heading of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `[dependencies]`, including dependencies of a single platform.
    Normal,
    /// `[dev-dependencies]`.
    Dev,
    /// `[build-dependencies]`.
    Build,
}

/// Asks cargo for the crates of the workspace, in order of their names.
pub fn packages() -> Result<Vec<Package>, String> {
    let text = shell::output(&mut shell::cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    read(&value).ok_or_else(|| "cargo metadata has an unexpected shape".to_owned())
}

fn read(metadata: &Value) -> Option<Vec<Package>> {
    let root = metadata.get("workspace_root")?.as_str()?;
    let mut packages: Vec<Package> = metadata
        .get("packages")?
        .as_array()?
        .iter()
        .map(|package| {
            let manifest = package.get("manifest_path")?.as_str()?;
            let folder = manifest.strip_prefix(root)?.replace('\\', "/");
            let dependencies = package.get("dependencies")?.as_array()?;
            Some(Package {
                name: package.get("name")?.as_str()?.to_owned(),
                folder: folder.trim_start_matches('/').strip_suffix("/Cargo.toml")?.to_owned(),
                dependencies: dependencies.iter().map(dependency).collect::<Option<_>>()?,
            })
        })
        .collect::<Option<_>>()?;

    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Some(packages)
}

fn dependency(value: &Value) -> Option<Dependency> {
    Some(Dependency {
        name: value.get("name")?.as_str()?.to_owned(),
        rename: value.get("rename")?.as_str().map(str::to_owned),
        kind: match value.get("kind")?.as_str() {
            None => Kind::Normal,
            Some("dev") => Kind::Dev,
            Some("build") => Kind::Build,
            Some(_) => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read() {
        let value = serde_json::json!({
            "workspace_root": "/a/b",
            "packages": [{
                "name": "assize-x",
                "manifest_path": "/a/b/crates/x/Cargo.toml",
                "dependencies": [
                    { "name": "serde", "rename": null, "kind": null },
                    { "name": "tokio", "rename": "rt", "kind": "dev" },
                ],
            }],
        });
        let packages = read(&value).expect("read");
        assert_eq!(packages[0].folder, "crates/x");
        assert_eq!(packages[0].dependencies[0].kind, Kind::Normal);
        assert_eq!(packages[0].dependencies[1].kind, Kind::Dev);
        assert_eq!(packages[0].dependencies[1].rename.as_deref(), Some("rt"));
    }

    #[test]
    fn a_shape_that_is_not_known_is_no_empty_list() {
        assert_eq!(read(&serde_json::json!({ "workspace_root": "/a", "packages": [{}] })), None);
        assert_eq!(dependency(&serde_json::json!({ "name": "a", "rename": null, "kind": "new" })), None);
    }
}
