//! Linker options for an extension module, whose symbols come from the interpreter that loads it.

#[expect(
    clippy::disallowed_methods,
    reason = "cargo says in the environment of a build script what is built"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "macos") {
        println!("cargo::rustc-cdylib-link-arg=-undefined");
        println!("cargo::rustc-cdylib-link-arg=dynamic_lookup");
    }
}
