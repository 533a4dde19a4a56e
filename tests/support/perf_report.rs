//! What `perf report --stdio -g none -n` prints.

/// A report: one table per event.
pub(crate) struct Report {
    pub events: Vec<Event>,
}

pub(crate) struct Event {
    pub name: String,
    pub samples: f64,
    /// Sum of the periods.
    pub total: f64,
    pub rows: Vec<Row>,
}

#[derive(Debug)]
pub(crate) struct Row {
    /// In percent; `None` in a report without the column.
    pub children: Option<f64>,
    /// In percent.
    pub own: f64,
    pub samples: f64,
    /// Thread and command, or command and binary.
    pub place: Vec<String>,
    pub symbol: String,
}

impl Report {
    pub(crate) fn read(text: &str) -> Self {
        let mut events: Vec<Event> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(rest) = line.strip_prefix("# Samples: ") {
                let (samples, event) = rest.split_once("of event").expect("an event");
                let name = event.trim().trim_matches('\'').to_owned();
                events.push(Event {
                    name,
                    samples: number(samples),
                    total: 0.0,
                    rows: Vec::new(),
                });
            } else if let Some(rest) = line.strip_prefix("# Event count (approx.): ") {
                events.last_mut().expect("an event").total = number(rest);
            } else if !line.starts_with('#') {
                events
                    .last_mut()
                    .expect("an event")
                    .rows
                    .push(Row::read(line));
            }
        }
        assert!(
            events
                .iter()
                .all(|event| event.total > 0.0 && !event.rows.is_empty()),
            "every event has a table"
        );
        Self { events }
    }
}

impl Row {
    fn read(line: &str) -> Self {
        // `[k]` or `[.]` stands before the symbol.
        let mark = ["[.] ", "[k] "]
            .iter()
            .filter_map(|mark| line.find(mark))
            .min()
            .expect("a mark");
        let (front, symbol) = (&line[..mark], line[mark + 4..].trim());
        // Columns are told apart by what is in them: only percentages end with a percent sign.
        let (percentages, others): (Vec<&str>, Vec<&str>) = front
            .split_whitespace()
            .partition(|word| word.ends_with('%'));
        let percentages: Vec<f64> = percentages
            .iter()
            .map(|word| number(word.trim_end_matches('%')))
            .collect();
        let (children, own) = match percentages.as_slice() {
            [own] => (None, *own),
            [children, own] => (Some(*children), *own),
            _ => panic!("one percentage or two: {line}"),
        };
        let (samples, place) = others.split_first().expect("a number of samples");
        let place = place.iter().map(|&word| word.to_owned()).collect();
        Self {
            children,
            own,
            samples: number(samples),
            place,
            symbol: symbol.to_owned(),
        }
    }
}

fn number(text: &str) -> f64 {
    text.trim()
        .parse()
        .unwrap_or_else(|_| panic!("{text} is no number"))
}
