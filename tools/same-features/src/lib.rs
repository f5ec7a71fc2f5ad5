//! Empty: `Cargo.toml` describes the purpose of this package.
