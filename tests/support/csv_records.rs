//! Reads CSV text, to compare it with what was written.

use csv_core::{ReadRecordResult, Reader};

/// Returns the records of a CSV text whose last line ends, the titles included.
///
/// # Errors
///
/// If the records have different numbers of fields, or the last one does not end.
pub(crate) fn csv_records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut reader = Reader::new();
    let (mut fields, mut ends) = (vec![0; text.len()], vec![0; text.len()]);
    let mut rest = text.as_bytes();
    let mut records: Vec<Vec<String>> = Vec::new();
    loop {
        let (result, read, _, count) = reader.read_record(rest, &mut fields, &mut ends);
        rest = &rest[read..];
        match result {
            ReadRecordResult::Record => {}
            ReadRecordResult::End => return Ok(records),
            _ => return Err(format!("record {} does not end", records.len() + 1)),
        }
        let mut start = 0;
        let record = ends[..count].iter().map(|&end| {
            let field = &fields[std::mem::replace(&mut start, end)..end];
            String::from_utf8(field.to_vec()).map_err(|error| error.to_string())
        });
        let record: Vec<String> = record.collect::<Result<_, _>>()?;
        if records.first().is_some_and(|first| first.len() != count) {
            return Err(format!("record {} has {count} fields", records.len() + 1));
        }
        records.push(record);
    }
}
