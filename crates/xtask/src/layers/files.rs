//! Circles of files: files of one crate that name each other's items in a loop.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

/// Allowed circles, because the data itself is recursive: the folder, and the files that a circle may contain. Graders
/// hold graders in files, in the model and where they run; assertions hold assertions; a test that code wrote is
/// expanded like any other; a case knows the cases that it is compared with.
const CIRCLES_OF_DATA: [(&str, &str); 6] = [
    (
        "evalfile/src/decode/grader",
        "composite.rs foreign_types.rs grader_type.rs include.rs list.rs object.rs resolve_type.rs",
    ),
    ("model/src", "benchmark_grader.rs grader.rs"),
    (
        "run/src/grading",
        "behaviour.rs benchmark.rs benchmark_checks.rs composite.rs context_rubric.rs mod.rs transform.rs",
    ),
    ("promptfoo/src", "assertion_grader.rs assertions.rs"),
    ("promptfoo/src", "authored.rs expand.rs"),
    ("run/src", "finished_case.rs item.rs rivals.rs"),
];

/// A module of a crate: where it stands, the modules in it, and the names that its `use` lines bring in.
#[derive(Default)]
struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    imports: BTreeMap<String, Vec<String>>,
}

/// Path of a module from the root of its crate.
type ModulePath = Vec<String>;

/// The modules of one crate, and the paths that the code of each file names.
#[derive(Default)]
struct CrateModules {
    modules: BTreeMap<ModulePath, Module>,
    named: Vec<(PathBuf, ModulePath, Vec<String>)>,
}

/// Returns a sentence for each circle of files below `folder/src` that is not in [`CIRCLES_OF_DATA`].
pub(crate) fn circles(folder: &Path) -> Result<Vec<String>, String> {
    let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
    let mut found = Vec::new();
    for root in roots.iter().filter(|root| root.is_file()) {
        let mut crate_modules = CrateModules::default();
        crate_modules.read_file(root, root.parent().unwrap_or(folder), Vec::new())?;
        found.extend(crate_modules.circles());
    }

    Ok(found)
}

impl CrateModules {
    /// Reads a file as the module `path`, whose own modules are files below `children_folder`.
    fn read_file(&mut self, file: &Path, children_folder: &Path, path: ModulePath) -> Result<(), String> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        self.read_items(&parsed.items, file, children_folder, path)
    }

    fn read_items(
        &mut self,
        items: &[Item],
        file: &Path,
        children_folder: &Path,
        path: ModulePath,
    ) -> Result<(), String> {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        let mut names = NamedPaths::default();
        for item in items {
            match item {
                Item::Mod(inner) if !is_for_tests(&inner.attrs) => {
                    let name = inner.ident.to_string();
                    module.children.insert(name.clone());
                    self.read_module(inner, file, children_folder, [path.as_slice(), &[name]].concat())?;
                }
                Item::Mod(_) => {}
                Item::Use(import) if !is_for_tests(&import.attrs) => {
                    let mut imported = Vec::new();
                    add_imports(&import.tree, &mut Vec::new(), &mut imported);
                    // A re-export is not an arrow: the files that use the name from there have one.
                    if matches!(import.vis, Visibility::Inherited) {
                        names.paths.extend(imported.iter().map(|(_, path)| path.clone()));
                    }
                    module.imports.extend(imported);
                }
                other => names.visit_item(other),
            }
        }
        self.named.extend(names.paths.into_iter().map(|named| (file.to_owned(), path.clone(), named)));
        self.modules.insert(path, module);

        Ok(())
    }

    fn read_module(
        &mut self,
        module: &ItemMod,
        file: &Path,
        children_folder: &Path,
        path: ModulePath,
    ) -> Result<(), String> {
        let name = module.ident.to_string();
        let own_folder = children_folder.join(&name);
        if let Some((_, items)) = &module.content {
            return self.read_items(items, file, &own_folder, path);
        }
        let beside = children_folder.join(format!("{name}.rs"));
        let inside = own_folder.join("mod.rs");
        self.read_file(if beside.is_file() { &beside } else { &inside }, &own_folder, path)
    }

    /// The file that defines what `named` means in the module `from`; `None` if another crate does.
    fn defining_file(&self, from: &[String], named: &[String], depth: usize) -> Option<&Path> {
        let (mut at, mut rest) = (from.to_vec(), named);
        match named.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &named[1..]),
            "self" => rest = &named[1..],
            "super" => {
                at.pop()?;
                return self.defining_file(&at, &[&["self".to_owned()], &named[1..]].concat(), depth);
            }
            first => {
                let module = self.modules.get(from)?;
                if !module.children.contains(first) && !module.imports.contains_key(first) {
                    return None;
                }
            }
        }
        loop {
            let module = self.modules.get(&at)?;
            let Some(name) = rest.first() else { return Some(&module.file) };
            if name == "super" {
                at.pop()?;
            } else if module.children.contains(name) {
                at.push(name.clone());
            } else if let Some(imported) = module.imports.get(name)
                && depth < 16
            {
                return self.defining_file(&at, &[imported, &rest[1..]].concat(), depth + 1);
            } else {
                return Some(&module.file);
            }
            rest = &rest[1..];
        }
    }

    fn circles(&self) -> Vec<String> {
        let mut arrows: BTreeMap<&Path, BTreeMap<&Path, BTreeSet<&str>>> = BTreeMap::new();
        for (file, module, named) in &self.named {
            if let Some(target) = self.defining_file(module, named, 0)
                && target != file
            {
                let name = named.last().map_or("", String::as_str);
                arrows.entry(file).or_default().entry(target).or_default().insert(name);
            }
        }

        let reached: BTreeMap<&Path, BTreeSet<&Path>> =
            arrows.keys().map(|file| (*file, reachable(&arrows, file))).collect();
        let mut reported: BTreeSet<&Path> = BTreeSet::new();
        let mut circles = Vec::new();
        for (file, others) in &reached {
            if !others.contains(file) || reported.contains(file) {
                continue;
            }
            let comes_back =
                |other: &&&Path| reached.get(**other).is_some_and(|reached| reached.contains(file));
            let members: BTreeSet<&Path> = others.iter().filter(comes_back).copied().collect();
            reported.extend(&members);
            if !is_of_data(&members) {
                circles.push(describe(&members, &arrows));
            }
        }

        circles
    }
}

/// Every file that an arrow or several lead to.
fn reachable<'a>(
    arrows: &BTreeMap<&'a Path, BTreeMap<&'a Path, BTreeSet<&str>>>,
    from: &Path,
) -> BTreeSet<&'a Path> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Path> = arrows.get(from).into_iter().flat_map(BTreeMap::keys).copied().collect();
    while let Some(file) = open.pop() {
        if let Some((file, targets)) = arrows.get_key_value(file)
            && seen.insert(*file)
        {
            open.extend(targets.keys().copied());
        }
    }

    seen
}

fn is_of_data(members: &BTreeSet<&Path>) -> bool {
    CIRCLES_OF_DATA.iter().any(|(folder, files)| {
        let is_of = |member: &&Path| {
            files.split(' ').any(|file| member.ends_with(Path::new("crates").join(folder).join(file)))
        };
        members.iter().all(is_of)
    })
}

fn describe(members: &BTreeSet<&Path>, arrows: &BTreeMap<&Path, BTreeMap<&Path, BTreeSet<&str>>>) -> String {
    let mut text = format!("{} files name each other in a circle:", members.len());
    for (from, targets) in arrows.iter().filter(|(from, _)| members.contains(*from)) {
        for (to, names) in targets.iter().filter(|(to, _)| members.contains(*to)) {
            let names = names.iter().copied().collect::<Vec<_>>().join(", ");
            let _ = write!(text, "\n    {} takes {names} from {}", from.display(), to.display());
        }
    }

    text
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// Adds each name that a `use` brings in, with its path.
fn add_imports(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            add_imports(&step.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            found.extend(path.last().map(|last| (last.clone(), path.clone())));
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            found.push((name.clone(), [path.as_slice(), &[name]].concat()));
        }
        UseTree::Rename(rename) => {
            let full = [path.as_slice(), &[rename.ident.to_string()]].concat();
            found.push((rename.rename.to_string(), full));
        }
        UseTree::Group(group) => group.items.iter().for_each(|item| add_imports(item, path, found)),
        UseTree::Glob(_) => {}
    }
}

/// Collects the paths of several names in code, outside of tests.
#[derive(Default)]
struct NamedPaths {
    paths: Vec<Vec<String>>,
}

impl Visit<'_> for NamedPaths {
    fn visit_path(&mut self, path: &syn::Path) {
        if path.segments.len() > 1 {
            self.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &Visibility) {}

    fn visit_item_mod(&mut self, module: &ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, import: &ItemUse) {
        let mut imported = Vec::new();
        add_imports(&import.tree, &mut Vec::new(), &mut imported);
        self.paths.extend(imported.into_iter().map(|(_, path)| path));
    }
}
