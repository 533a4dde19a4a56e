//! The page as a document: its policy, its style, the blocks of its runs and its script.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::PAD;
use serde_json::json;

use super::about::Command;
use super::column;
use super::error::PageError;
use super::run::{Outline, Part, Source, outline, part};
use super::scripts::{DIGESTS, SCRIPT, STYLE};
use super::sqlite::{self, Blocks, Sql};
use super::statements::columns;
use super::told::{SHOWN, Told, UnionBlocks, UnionTree};
use crate::report::render;
use crate::store::{Database, RunInfo};
use crate::text::plain::plain;

/// Bytes that a page has at most unless more are asked for (limit: size of the page).
pub const MOST_BYTES: u64 = 8 << 20;

/// Bytes of a block between two tags: browsers cut longer texts into pieces anyway.
const PIECE: usize = 3 << 16;

/// What a page shall be.
#[derive(Clone, Debug)]
pub struct Request {
    /// How its questions are asked on the command line.
    pub command: Command,
    /// Bytes that it may have.
    pub max_size: u64,
    /// Whether stored source is in it.
    pub source: Source,
    /// Whether it can be asked in SQL.
    pub sql: Sql,
}

/// What a page is about: runs, or answers of commands about several.
#[derive(Clone, Debug, Default)]
pub struct Content<'c> {
    /// What the window is called.
    pub title: String,
    /// Runs with the databases that they are in, the first of which is shown first.
    pub runs: Vec<(&'c Database, &'c RunInfo)>,
    /// Answers, the first of which is shown first.
    pub told: Vec<Told>,
    /// The trees of two sides as one.
    pub union: Option<UnionTree<'c>>,
    /// The path of functions whose calls are shown first, as `--fn` takes it.
    pub path: Option<String>,
}

/// Bytes of a share of the room that are not given to blocks.
const OF_SHARE: usize = 4096;

/// Writes a page, and says what does not fit.
///
/// # Errors
/// When the database or the output fails, and when the runs do not fit.
pub fn write(
    content: &Content<'_>,
    request: &Request,
    out: &mut dyn Write,
) -> Result<Vec<String>, PageError> {
    let fixed = STYLE.len() + SCRIPT.len() + 8192;
    // Three bytes are four letters, and each block has a tag.
    let room = usize::try_from(request.max_size).unwrap_or(usize::MAX);
    let room = room.saturating_sub(fixed) / 4 * 3;
    let mut told = Vec::new();
    for (at, one) in content.told.iter().enumerate() {
        let blocks = one.blocks();
        told.extend(blocks.map(|(format, bytes)| (format!("told/{at}/{format}"), format, bytes)));
    }
    let size = |told: &[(String, &str, Vec<u8>)]| told.iter().map(|(.., bytes)| bytes.len()).sum();
    let mut needed: usize = size(&told);
    // The page shows rows; other formats of them are offered where they leave half of the room to trees.
    if needed > room / 2 {
        told.retain(|(_, format, _)| *format == SHOWN);
        needed = size(&told);
    }
    if needed > room {
        return Err(PageError::TooLarge(format!(
            "the page needs at least {} bytes; --first limits the rows, and --max-size limits the size",
            fixed + (needed + OF_SHARE).div_ceil(3) * 4
        )));
    }
    let shares = (content.runs.len() + usize::from(content.union.is_some())).max(1);
    let mut outlines = Vec::new();
    for (database, run) in &content.runs {
        let room = (room - needed) / shares;
        outlines.push(outline(database, run, request.source, request.sql, room)?);
    }
    let of_sql = outlines.iter().map(Outline::bytes_of_sql).sum();
    let mut sql = sql_of(content, request, of_sql, room - needed)?;
    let taken = |sql: &Option<Blocks>| column::size(sql.iter().flatten());
    let share = |taken: usize| ((room - needed - taken) / shares).saturating_sub(OF_SHARE);
    // What has to be there comes first.
    let has_room =
        |outline: &Outline| outline.least() + outline.bytes_of_sql() <= share(taken(&sql));
    if !outlines.iter().all(has_room) {
        sql = None;
    }
    let taken = taken(&sql);
    let room = share(taken);
    let union = content.union.as_ref().map(|union| union.blocks(room));
    let mut parts = Vec::new();
    for ((database, run), outline) in content.runs.iter().zip(outlines) {
        parts.push(part(database, run, outline, sql.is_some(), room)?);
    }
    let largest = parts.iter().max_by_key(|part| part.bytes);
    if let Some(part) = largest.filter(|part| part.bytes > room) {
        // Each run has the same share of the room.
        let least = needed + taken + (part.bytes + OF_SHARE) * shares;
        return Err(PageError::TooLarge(format!(
            "the page needs at least {} bytes, even without lines and with almost no trees; raise --max-size",
            fixed + least.div_ceil(3) * 4
        )));
    }
    let about = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "title": content.title,
        "fn": content.path,
        "command": request.command.json(),
        "runs": parts.iter().map(|part| &part.about).collect::<Vec<_>>(),
        "told": content.told.iter().map(Told::about).collect::<Vec<_>>(),
        "union": union.as_ref().map(|union| &union.about),
        "sql": sql.is_some(),
        "questions": sql.is_some().then(sqlite::questions),
        "sql_is_left": sql.is_none() && request.sql == Sql::Inside,
    });
    let head = head(&content.title, sql.is_some());
    out.write_all(head.as_bytes())?;
    let mut letters = Letters::new();
    let mut block = |name: &str, bytes: &[u8]| letters.write(name, bytes, out);
    block("about", &column::text(&about.to_string()))?;
    if !content.runs.is_empty() {
        block("columns", &column::text(&columns().to_string()))?;
    }
    for (name, _, bytes) in &told {
        block(name, bytes)?;
    }
    for (name, bytes) in union.iter().flat_map(|union| &union.blocks) {
        block(&format!("union/{name}"), bytes)?;
    }
    for (name, bytes) in sql.iter().flatten() {
        block(name, bytes)?;
    }
    for ((_, run), part) in content.runs.iter().zip(&parts) {
        for (name, bytes) in &part.blocks {
            block(&format!("{}/{name}", run.run_id), bytes)?;
        }
    }
    writeln!(out, "<script>{SCRIPT}</script>\n</body>\n</html>")?;
    Ok(left_out(
        content,
        request,
        &parts,
        union.as_ref(),
        sql.is_some(),
    ))
}

/// What does not fit, in sentences.
fn left_out(
    content: &Content<'_>,
    request: &Request,
    parts: &[Part],
    union: Option<&UnionBlocks>,
    has_sql: bool,
) -> Vec<String> {
    let size = render::bytes(request.max_size);
    let mut said = Vec::new();
    for ((_, run), part) in content.runs.iter().zip(parts) {
        if !part.left.is_empty() {
            let left = part.left.join("; ");
            said.push(format!(
                "{}: left out of the page, which is limited to {size}: {left}",
                run.said()
            ));
        }
    }
    if let Some(left) = union
        .map(|union| &union.about["left"])
        .filter(|left| left.is_object())
    {
        let (kept, of) = (&left["kept"], &left["of"]);
        said.push(format!(
            "left out of the page, which is limited to {size}: all but the {kept} most expensive of {of} nodes of both trees"
        ));
    }
    if !has_sql && request.sql == Sql::Inside && !content.runs.is_empty() {
        said.push(format!("no SQL in the page, which is limited to {size}"));
    }
    said
}

/// What the page has for SQL besides what its runs have for that, which is so many bytes: nothing where it is not wanted, has
/// no runs, or no room.
fn sql_of(
    content: &Content<'_>,
    request: &Request,
    of_runs: usize,
    room: usize,
) -> Result<Option<Blocks>, PageError> {
    match content.runs.first() {
        Some((database, _)) if request.sql == Sql::Inside => {
            let runs: Vec<&RunInfo> = content.runs.iter().map(|(_, run)| *run).collect();
            let with_source = request.source == Source::Stored;
            sqlite::blocks(database, &runs, with_source, of_runs, room)
        }
        _ => Ok(None),
    }
}

/// All up to the blocks.
fn head(title: &str, has_sql: bool) -> String {
    let title = plain(title)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let [script_hash, style_hash] = DIGESTS.map(|digest| format!("'sha256-{digest}'"));
    // SQLite is a program for browsers, and runs in a thread that is made of bytes of the page.
    let (programs, workers, types) = if has_sql {
        (" 'wasm-unsafe-eval'", "worker-src blob:; ", "profdb-worker")
    } else {
        ("", "", "'none'")
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {script_hash}{programs}; \
         {workers}style-src {style_hash}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
         trusted-types {types}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta \
         name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light \
         dark\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<noscript>This page needs \
         JavaScript.</noscript>\n<div id=\"page\"></div>\n"
    )
}

/// Writes bytes as letters, of which some are made at once where processors can.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
type Encoder = base64::engine::Simd;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
type Encoder = base64::engine::GeneralPurpose;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn encoder() -> Encoder {
    Encoder::standard(PAD)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn encoder() -> Encoder {
    Encoder::new(&base64::alphabet::STANDARD, PAD)
}

/// Blocks as letters. Their room is used again: new memory for each block would have to be cleared by the system.
struct Letters {
    encoder: Encoder,
    room: Vec<u8>,
}

impl Letters {
    fn new() -> Self {
        Self {
            encoder: encoder(),
            room: Vec::new(),
        }
    }

    /// Writes a block in pieces.
    fn write(&mut self, name: &str, bytes: &[u8], out: &mut dyn Write) -> Result<(), PageError> {
        for piece in bytes.chunks(PIECE) {
            write!(
                out,
                "<script type=\"application/octet-stream\" data-block=\"{name}\">"
            )?;
            let room = piece.len().div_ceil(3) * 4;
            if self.room.len() < room {
                self.room.resize(room, 0);
            }
            let written = self.encoder.encode_slice(piece, &mut self.room);
            let written = written.map_err(io::Error::other)?;
            out.write_all(&self.room[..written])?;
            out.write_all(b"</script>\n")?;
        }
        Ok(())
    }
}
