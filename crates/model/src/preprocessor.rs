//! Converters for files that answers contain.

use super::{FilePosition, GraderCommand};

/// Program that converts a file in an answer to text (`preprocessors`). It reads a JSON object with `path`,
/// `original_path` and `media_type` from its standard input and prints the text.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePreprocessor {
    /// Type of the files, as a media type in lower case.
    pub media_type: String,
    /// Command to run, in the folder of the eval file.
    pub command: GraderCommand,
    /// Position in the file.
    pub place: FilePosition,
}

/// Short names of media types.
const SHORT_NAMES: [(&str, &str); 16] = [
    ("csv", "text/csv"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("json", "application/json"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("sql", "application/sql"),
    ("txt", "text/plain"),
    ("xhtml", "application/xhtml+xml"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];

impl FilePreprocessor {
    /// Returns the media type for a short name such as `xlsx`. Any other name is taken to be a media type.
    pub fn media_type(name: &str) -> String {
        let name = name.trim().to_lowercase();
        let known = SHORT_NAMES.iter().find(|(short, _)| *short == name);
        known.map_or(name, |(_, media_type)| (*media_type).to_owned())
    }
}
