//! Drawing diagnostics: one file per output form.
