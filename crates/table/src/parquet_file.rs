//! Reads Parquet files.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use assize_files::{MAX_FILE_BYTES, read_bytes};
use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::record::Field;
use parquet::record::reader::TreeBuilder;
use parquet::schema::types::ColumnDescriptor;

use crate::parquet_error::{DAMAGED, damaged, too_large};
use crate::parquet_footer::check_footer;
use crate::parquet_pages::{PageLimits, RowGroup};
use crate::parquet_value::{TimeColumn, field_text};
use crate::size_limits::SizeLimits;
use crate::{Sheet, SheetPath, SheetRow, TableError, TableKind};

/// Maximum number of columns and values that a message names. Any others are only counted.
const MAX_NAMED: usize = 20;
/// Number of values for which the library makes room, in all columns together.
const BUFFERED_VALUES: usize = 1 << 16;

/// Reads a Parquet file: its columns, and its rows, numbered from 1.
pub(crate) fn read_parquet(path: &SheetPath) -> Result<Sheet, TableError> {
    let bytes = read_bytes(&path.file, MAX_FILE_BYTES)?;
    if !bytes.starts_with(b"PAR1") {
        let is_text = !bytes.is_empty() && std::str::from_utf8(&bytes[..bytes.len().min(512)]).is_ok();
        return Err(if bytes.starts_with(b"PARE") {
            TableError::refused("it is encrypted", "write it without encryption")
        } else if is_text {
            TableError::refused("it is text, not a Parquet file", "if it is a table, give it the ending .csv")
        } else {
            TableError::refused("it is not a Parquet file", DAMAGED)
        });
    }

    // In some places the library asserts properties that a damaged file may not have.
    catch_unwind(AssertUnwindSafe(|| read_rows(bytes.into())))
        .unwrap_or_else(|_| Err(damaged(&"a page or its description contradicts itself")))
}

fn read_rows(file: Bytes) -> Result<Sheet, TableError> {
    check_footer(&file)?;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).map_err(|error| damaged(&error))?;
    check_columns(&metadata)?;
    let schema = metadata.file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let times: Vec<TimeColumn> = fields
        .iter()
        .map(|field| {
            if field.is_primitive() {
                time_of(field.get_basic_info().logical_type_ref())
            } else {
                TimeColumn::default()
            }
        })
        .collect();
    let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();

    let (mut rows, mut bytes, mut problems) = (Vec::new(), 0, Vec::new());
    let max = SizeLimits::of_file(file.len());
    let limits = Arc::new(PageLimits::new(max));
    let shared = Arc::new(file);
    for group in metadata.row_groups() {
        check_places(group, shared.len())?;
        let wanted = usize::try_from(group.num_rows()).map_err(|error| damaged(&error))?;
        if (rows.len().saturating_add(wanted)).saturating_mul(names.len().max(1)) > max.cells {
            return Err(too_large(&max.more_cells("it")));
        }

        let reader = RowGroup { file: Arc::clone(&shared), metadata: group, limits: Arc::clone(&limits) };
        let failed = |error: &ParquetError| match limits.exceeded() {
            Some(what) => too_large(&what),
            None => damaged(error),
        };
        let start = rows.len();
        let rows_at_once = (BUFFERED_VALUES / group.num_columns().max(1)).clamp(1, wanted.max(1));
        let read =
            TreeBuilder::new().with_batch_size(rows_at_once).as_iter(group.schema_descr_ptr(), &reader);
        for row in read.map_err(|error| failed(&error))? {
            let row = row.map_err(|error| failed(&error))?;
            let number = rows.len() + 1;
            let mut cells = Vec::with_capacity(names.len());
            let mut nulls = Vec::new();
            for ((name, field), times) in row.get_column_iter().zip(&times) {
                if matches!(field, Field::Null) {
                    nulls.push(cells.len());
                }
                match field_text(field, *times) {
                    Ok(text) => {
                        bytes += text.len();
                        cells.push(text);
                    }
                    Err(what) => problems.push(format!("row {number}, column `{name}`: {what}")),
                }
            }
            if bytes > max.bytes {
                return Err(too_large(&max.larger("its texts")));
            }
            rows.push(SheetRow { number, cells, nulls });
        }
        if rows.len() - start != wanted {
            return Err(damaged(&format!("{} rows instead of {wanted}", rows.len() - start)));
        }
    }
    if !problems.is_empty() {
        return Err(TableError::refused(
            listed(&problems),
            "leave these columns out, or write texts instead",
        ));
    }

    Ok(Sheet {
        kind: TableKind::Parquet,
        faults: Vec::new(),
        name: String::new(),
        others: Vec::new(),
        columns: (1..).take(names.len()).collect(),
        header: Some(SheetRow { number: 0, cells: names, nulls: Vec::new() })
            .filter(|header| !header.cells.is_empty()),
        rows,
    })
}

/// Refuses all columns whose compression or type is not supported, in a single error.
fn check_columns(metadata: &ParquetMetaData) -> Result<(), TableError> {
    let mut problems: Vec<String> = Vec::new();
    for column in metadata.file_metadata().schema_descr().columns() {
        if let Some(what) = unread_type(column) {
            problems.push(format!("column `{}`: {what}", column.path().string()));
        }
    }
    let mut named = HashSet::new();
    for column in metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
        let compression = column.compression();
        let is_read = matches!(
            compression,
            Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) | Compression::ZSTD(_)
        );
        let problem = || format!("column `{}`: {compression} compression", column.column_path().string());
        if !is_read && named.insert(problem()) {
            problems.push(problem());
        }
    }
    if problems.is_empty() {
        return Ok(());
    }

    Err(TableError::refused(
        format!("it has columns that can't be read: {}", listed(&problems)),
        "leave these columns out, or write them as texts, with Snappy, zstd or gzip compression",
    ))
}

/// Returns the type of a column if its values are not supported. For such values, the library would panic or
/// return bare integers.
fn unread_type(column: &ColumnDescriptor) -> Option<&'static str> {
    use ConvertedType as Kind;

    let times = time_of(column.logical_type_ref());
    if (times.is_time || times.is_timestamp) && column.path().parts().len() > 1 {
        return Some("times in nanoseconds inside lists or structs");
    }

    let is_read = match column.physical_type() {
        PhysicalType::BOOLEAN | PhysicalType::FLOAT | PhysicalType::DOUBLE | PhysicalType::INT96 => true,
        PhysicalType::INT32 => matches!(
            column.converted_type(),
            Kind::INT_8
                | Kind::INT_16
                | Kind::INT_32
                | Kind::NONE
                | Kind::UINT_8
                | Kind::UINT_16
                | Kind::UINT_32
                | Kind::DATE
                | Kind::TIME_MILLIS
                | Kind::DECIMAL
        ),
        PhysicalType::INT64 => matches!(
            column.converted_type(),
            Kind::INT_64
                | Kind::NONE
                | Kind::UINT_64
                | Kind::TIME_MICROS
                | Kind::TIMESTAMP_MILLIS
                | Kind::TIMESTAMP_MICROS
                | Kind::DECIMAL
        ),
        PhysicalType::BYTE_ARRAY => matches!(
            column.converted_type(),
            Kind::UTF8 | Kind::ENUM | Kind::JSON | Kind::NONE | Kind::DECIMAL
        ),
        PhysicalType::FIXED_LEN_BYTE_ARRAY => matches!(column.converted_type(), Kind::NONE | Kind::DECIMAL),
    };
    (!is_read).then_some("a type that is not read")
}

fn time_of(kind: Option<&LogicalType>) -> TimeColumn {
    match kind {
        Some(LogicalType::Timestamp(kind)) => TimeColumn {
            is_timestamp: kind.unit == TimeUnit::NANOS,
            is_utc: kind.is_adjusted_to_u_t_c,
            ..TimeColumn::default()
        },
        Some(LogicalType::Time(kind)) => {
            TimeColumn { is_time: kind.unit == TimeUnit::NANOS, ..TimeColumn::default() }
        }
        _ => TimeColumn::default(),
    }
}

/// Checks that the pages of a row group are inside the file. The library asserts that their offsets are not
/// negative.
fn check_places(group: &RowGroupMetaData, size: usize) -> Result<(), TableError> {
    for column in group.columns() {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let end = start.checked_add(column.compressed_size());
        let is_inside = start >= 0
            && column.data_page_offset() >= 0
            && column.compressed_size() >= 0
            && end.and_then(|end| usize::try_from(end).ok()).is_some_and(|end| end <= size);
        if !is_inside {
            return Err(damaged(&format!("column `{}` is not in the file", column.column_path().string())));
        }
    }

    Ok(())
}

fn listed(problems: &[String]) -> String {
    let named = problems.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join("; ");
    match problems.len().saturating_sub(MAX_NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}
