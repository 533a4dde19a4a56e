//! Importers take plain records straight from the buffer of their input, and leave all others to a
//! library or a slower way. Both ways say the same: events, their places, and the error that ends
//! them. Inputs are those of the cases, as they are and mutated.

use std::cell::RefCell;

use crate::support::case_files::of_group;
use crate::support::mutate::mutate;
use crate::support::random::Random;
use profdb::base::error::{Position, Stop};
use profdb::events::recorder::Recorder;
use profdb::formats;
use profdb::formats::Options;
use profdb::input::{Input, Limits};

/// Formats that take records from the buffer.
const FORMATS: [&str; 3] = ["dyalog_csv", "dyalog_xml", "lispworks_tree"];

/// Mutated inputs per format.
const MUTATED: usize = 4000;

/// Events with the place of the record they come from, and the error.
type Outcome = (Vec<(Position, String)>, Option<String>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Usual,
    /// Nothing is at hand.
    Slow,
}

fn outcome(format: &str, bytes: &[u8], way: Way) -> Outcome {
    let format = formats::format_named(format).expect("a format");
    let events = RefCell::new(Vec::new());
    let read =
        Input::new(Box::new(bytes), Limits::default(), Stop::default()).and_then(|mut input| {
            if way == Way::Slow {
                input.hide_what_is_at_hand();
            }
            let mut recorder =
                Recorder::new(|position, event| events.borrow_mut().push((position, event)));
            format.read(&mut input, &Options::default(), &mut recorder)
        });
    (
        events.into_inner(),
        read.err().map(|error| error.to_string()),
    )
}

#[test]
fn both_ways_say_the_same() {
    for format in FORMATS {
        let inputs = of_group(format).into_iter().flat_map(|case| case.inputs());
        let seeds: Vec<Vec<u8>> = inputs.map(|(_, bytes)| bytes).collect();
        let mut random = Random(1);
        // Inputs of which more than the header was understood.
        let (mut refused, mut begun) = (0, 0);
        for number in 0..seeds.len() + MUTATED {
            let bytes = match seeds.get(number) {
                Some(seed) => seed.clone(),
                None => mutate(&seeds, &seeds[random.below(seeds.len())], &mut random),
            };
            let usual = outcome(format, &bytes, Way::Usual);
            let slow = outcome(format, &bytes, Way::Slow);
            refused += usize::from(usual.1.is_some());
            begun += usize::from(usual.0.iter().any(|(_, event)| event.starts_with("enter")));
            assert_eq!(
                usual,
                slow,
                "{format}, input {number}:\n{}",
                String::from_utf8_lossy(&bytes)
            );
        }
        assert!(
            refused > 500 && begun > 500,
            "{format}: {refused} refused, {begun} begun"
        );
    }
}
