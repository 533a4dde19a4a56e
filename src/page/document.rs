//! The page as a document: its policy, its style, the blocks of its runs and its script.

use std::io::Write;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::about::Command;
use super::column;
use super::error::PageError;
use super::run::{Source, part};
use super::scripts::{STYLE, script};
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
}

/// Writes a page about some runs, the first of which it shows first.
///
/// # Errors
/// When the database or the output fails, and when the runs do not fit.
pub fn write(
    database: &Database,
    runs: &[RunInfo],
    request: &Request,
    out: &mut dyn Write,
) -> Result<(), PageError> {
    let script = script();
    let title = runs.first().map_or("profdb", |run| run.name.as_str());
    let head = head(title, &script);
    let fixed = head.len() + script.len() + 4096;
    // Three bytes are four letters, and each block has a tag.
    let room = usize::try_from(request.max_size).unwrap_or(usize::MAX);
    let room = room.saturating_sub(fixed) / 4 * 3 / runs.len().max(1);
    let mut parts = Vec::new();
    for run in runs {
        parts.push(part(
            database,
            run,
            request.source,
            room.saturating_sub(4096),
        )?);
    }
    let about = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "command": request.command.json(),
        "runs": parts.iter().map(|part| &part.about).collect::<Vec<_>>(),
    });
    out.write_all(head.as_bytes())?;
    block("about", &column::text(&about.to_string()), out)?;
    for (run, part) in runs.iter().zip(&parts) {
        for (name, bytes) in &part.blocks {
            block(&format!("{}/{name}", run.run_id), bytes, out)?;
        }
    }
    writeln!(out, "<script>{script}</script>\n</body>\n</html>")?;
    Ok(())
}

/// All up to the blocks.
fn head(title: &str, script: &str) -> String {
    let title = plain(title)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let [script, style] = [script, STYLE].map(|text| {
        let hash = BASE64_STANDARD.encode(Sha256::digest(text));
        format!("'sha256-{hash}'")
    });
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {script}; \
         style-src {style}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript>This page answers questions by scripts, which are off here.</noscript>\n<div id=\"page\"></div>\n"
    )
}

/// Writes a block in pieces.
fn block(name: &str, bytes: &[u8], out: &mut dyn Write) -> Result<(), PageError> {
    for piece in bytes.chunks(PIECE) {
        writeln!(
            out,
            "<script type=\"application/octet-stream\" data-block=\"{name}\">{}</script>",
            BASE64_STANDARD.encode(piece)
        )?;
    }
    Ok(())
}
