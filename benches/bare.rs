//! The bare loop over the events of quick-xml: what reading an XML file costs somebody who does
//! nothing with it.
//!
//! ```text
//! cargo bench --bench bare -- FILE
//! ```
//!
//! Prints the number of events. Without FILE it does nothing, so that a plain `cargo bench` ends
//! well.

#![expect(
    clippy::print_stdout,
    reason = "a program of its own, which has a screen"
)]

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use quick_xml::Reader;
use quick_xml::events::Event;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench` to whatever the user says.
    let Some(path) = std::env::args()
        .skip(1)
        .find(|argument| argument != "--bench")
    else {
        return Ok(());
    };
    let mut reader = Reader::from_reader(BufReader::new(File::open(path)?));
    let mut buffer = Vec::new();
    let mut events = 0_u64;
    while reader.read_event_into(&mut buffer)? != Event::Eof {
        events += 1;
        buffer.clear();
    }
    println!("{events} events");
    Ok(())
}
