//! Records of a log of Business Rules!: a type in one byte, then numbers, the highest byte first,
//! and names.

use std::io::{self, Read};

use byteorder::{BE, ReadBytesExt};

/// A line of a program, by the numbers of the log.
#[derive(Clone, Copy)]
pub(super) struct ClauseLine {
    pub(super) module: u16,
    pub(super) line: u32,
    pub(super) clause: u8,
}

/// A record; names are in a buffer beside it.
#[derive(Clone, Copy)]
pub(super) enum Record {
    /// The number of a file.
    Mapping(u16),
    Line(ClauseLine),
    Time(u64),
    Trace(ClauseLine),
    End,
    Function,
    Gosub,
    Main,
}

/// What comes next in a log.
pub(super) enum Next {
    Record(Record),
    /// The type is unknown, and so is the length.
    Unknown(u8),
    /// The log ends inside the record.
    Cut,
    End,
}

/// Reads the next record; its name, if it has one, takes the place of what `name` holds.
pub(super) fn next(source: &mut impl Read, name: &mut Vec<u8>) -> io::Result<Next> {
    let mut kind = [0];
    // A log ends here or nowhere: within a record, `read_exact` fails, and the record is cut.
    if source.read(&mut kind)? == 0 {
        return Ok(Next::End);
    }
    let [kind] = kind;
    match body(kind, source, name) {
        Ok(Some(record)) => Ok(Next::Record(record)),
        Ok(None) => Ok(Next::Unknown(kind)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Next::Cut),
        Err(error) => Err(error),
    }
}

fn body(kind: u8, source: &mut impl Read, name: &mut Vec<u8>) -> io::Result<Option<Record>> {
    Ok(Some(match kind {
        1 => {
            let module = source.read_u16::<BE>()?;
            let length = source.read_u16::<BE>()?;
            text(source, length, name)?;
            Record::Mapping(module)
        }
        3 => Record::Line(clause_line(source)?),
        4 => Record::Time(source.read_u64::<BE>()?),
        5 => Record::Trace(clause_line(source)?),
        6 => Record::End,
        7 => {
            let length = source.read_u8()?;
            text(source, u16::from(length), name)?;
            Record::Function
        }
        8 => Record::Gosub,
        9 => Record::Main,
        _ => return Ok(None),
    }))
}

fn clause_line(source: &mut impl Read) -> io::Result<ClauseLine> {
    let module = source.read_u16::<BE>()?;
    let line = source.read_u32::<BE>()?;
    let clause = source.read_u8()?;
    Ok(ClauseLine {
        module,
        line,
        clause,
    })
}

fn text(source: &mut impl Read, length: u16, name: &mut Vec<u8>) -> io::Result<()> {
    name.clear();
    // The length may be believed before the bytes are there: it is at most 65,535.
    name.resize(usize::from(length), 0);
    source.read_exact(name)
}
