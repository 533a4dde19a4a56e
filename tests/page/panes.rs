//! The start page beside the command: everything that its panes show is compared with what commands of the same words print.

use std::collections::HashMap;
use std::f64::consts::TAU;

use serde_json::Value;

use crate::shown::{Shown, profdb};
use crate::support::markdown_rows;

/// What commands print, each asked once: the database of a test stays as it is.
#[derive(Default)]
pub(crate) struct Printed {
    known: HashMap<Vec<String>, Option<String>>,
}

/// What the page is asked, as words of commands.
struct Asked {
    /// Those of every report.
    words: Vec<String>,
    is_calls: bool,
    is_exclusive: bool,
    of_selection: bool,
}

impl Printed {
    /// What the command prints; `None` if it says that there is nothing.
    fn text(&mut self, shown: &Shown, words: &[String]) -> Option<String> {
        if let Some(known) = self.known.get(words) {
            return known.clone();
        }
        let all: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = profdb(&shown.folder, &all);
        let text = output
            .status
            .success()
            .then(|| String::from_utf8(output.stdout).expect("text"));
        self.known.insert(words.to_vec(), text.clone());
        text
    }

    /// Returns the rows of a report, cell by cell: those of Markdown, without the columns that the page does not show.
    fn rows(&mut self, shown: &Shown, words: &[String]) -> Option<Vec<Vec<String>>> {
        let text = self.text(
            shown,
            &[words, &["--format".into(), "markdown".into()]].concat(),
        )?;
        let mut rows = text.lines().skip_while(|line| !line.starts_with('|'));
        let titles = cells(rows.next().unwrap_or_default());
        let is_hidden =
            |title: &String| ["File", "First line", "Function id"].contains(&title.as_str());
        let shown = titles.iter().position(is_hidden).unwrap_or(titles.len());
        let cut = |row| cells(row).into_iter().take(shown).collect();
        Some(rows.skip(1).map(cut).collect())
    }

    /// The object of a report.
    fn object(&mut self, shown: &Shown, words: &[String]) -> Option<Value> {
        let text = self.text(
            shown,
            &[words, &["--format".into(), "json".into()]].concat(),
        )?;
        Some(serde_json::from_str(&text).expect("JSON"))
    }

    /// Compares everything that the start page shows, in each of its panes and above them, with what commands print.
    #[track_caller]
    pub(crate) fn are_shown(&mut self, shown: &mut Shown) {
        let asked = Asked::of(shown);
        let [functions, lines] = if asked.is_calls {
            ["calls", "call_lines"]
        } else {
            ["summary", "lines"]
        };
        self.included_is_shown(shown, &asked);
        for (pane, report, usual) in [("functions", functions, "pie"), ("lines", lines, "table")] {
            let display = shown.state(pane);
            if display.is_empty() && usual == "pie" || display == "pie" {
                self.pie_is_shown(shown, &asked, pane, report);
            } else {
                let words = asked.report(report, asked.is_exclusive);
                let expected = self.rows(shown, &words).expect("rows");
                let rows = shown.rows(&format!(".pane.{pane}"));
                assert_eq!(rows, expected, "{pane}: {words:?}");
            }
        }
        self.source_is_shown(shown, &asked, "function", "function");
        self.source_is_shown(shown, &asked, "line", "line-of");
    }

    /// How much is looked at, which is said beside the crumbs.
    #[track_caller]
    fn included_is_shown(&mut self, shown: &mut Shown, asked: &Asked) {
        let words = asked.report("summary", false);
        let object = self.object(shown, &words).expect("an answer");
        let total = object["total"].as_f64().expect("a total");
        let selected = object["selected"].as_f64().unwrap_or(total);
        let text = self.text(shown, &words).expect("an answer");
        // A title may be above it.
        let head = text.lines().find_map(|line| line.strip_prefix("Total "));
        let (_, cost) = head
            .and_then(|line| line.split(';').next())
            .and_then(|total| total.split_once(": "))
            .expect("a total");
        let expected = format!("{:.1} % of {cost} included", 100.0 * selected / total);
        assert_eq!(shown.text(".included"), expected, "{words:?}");
    }

    /// A pie: names and shares of its pieces, in its legend, in tips and for those who do not see it, and how large each is. What
    /// is less than a hundredth of it is one piece.
    #[track_caller]
    fn pie_is_shown(&mut self, shown: &mut Shown, asked: &Asked, pane: &str, report: &str) {
        let words = asked.report(report, true);
        let names = self.rows(shown, &words).expect("rows");
        let object = self.object(shown, &words).expect("an answer");
        let cost_of = |row: &Value| row["exclusive"].as_f64().expect("a cost");
        let costs: Vec<f64> = object["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .map(cost_of)
            .filter(|cost| *cost > 0.0)
            .collect();
        let sum: f64 = costs.iter().sum();
        let base = if asked.of_selection && !object["selected"].is_null() {
            &object["selected"]
        } else {
            &object["total"]
        };
        let base = base.as_f64().expect("a cost");
        let large = costs
            .iter()
            .take(12)
            .filter(|cost| **cost >= 0.01 * sum)
            .count();
        let (single, others) = costs.split_at(if costs.len() == large + 1 {
            large + 1
        } else {
            large
        });
        let mut expected: Vec<String> = names[..single.len()]
            .iter()
            .map(|row| format!("{} {} %", row[0], row[2]))
            .collect();
        let mut ends: Vec<f64> = Vec::new();
        for cost in single {
            ends.push(ends.last().unwrap_or(&0.0) + TAU * cost / sum);
        }
        if !others.is_empty() {
            let share = tenths(100.0 * others.iter().sum::<f64>() / base);
            expected.push(format!("{} others {share} %", others.len()));
            ends.push(TAU);
        }
        let of = format!(".pane.{pane}");
        assert_eq!(shown.labels(&of), expected, "{words:?}");
        let script = format!(
            "[...document.querySelectorAll('{of} .slice')].map((piece) => [piece.getAttribute('aria-label'), piece.querySelector('title').textContent, piece.getAttribute('d')])"
        );
        let pieces: Vec<[String; 3]> =
            serde_json::from_value(shown.browser.value(&script)).expect("pieces");
        assert_eq!(pieces.len(), expected.len(), "{words:?}");
        for (([said, tip, outline], expected), end) in pieces.iter().zip(&expected).zip(&ends) {
            assert_eq!([said, tip], [expected, expected], "{words:?}");
            // The last point of its arc.
            let numbers: Vec<f64> = outline
                .split(' ')
                .filter_map(|word| word.parse().ok())
                .collect();
            let [.., x, y] = numbers[..] else {
                panic!("{outline}")
            };
            let angle = x.atan2(-y).rem_euclid(TAU);
            let off = (angle - end).rem_euclid(TAU);
            assert!(off.min(TAU - off) < 0.001, "{expected}: {angle} {end}");
        }
    }

    /// A function line by line: its lines, with figures, source and callees.
    #[track_caller]
    fn source_is_shown(&mut self, shown: &mut Shown, asked: &Asked, pane: &str, key: &str) {
        let name = shown.state(key);
        let of = format!(".pane.{pane}-details");
        if name.is_empty() {
            return;
        }
        assert_eq!(shown.text(&format!("{of} h2")), name);
        let words = |fn_: &str| -> Vec<String> {
            let path = format!("--fn={fn_}");
            let report = asked.report("function", false).into_iter();
            report
                .filter(|word| !word.starts_with("--fn="))
                .chain([path, "--all-lines".into()])
                .collect()
        };
        // Within what is selected, if it was called there, and else wherever it was called.
        let path = shown.state("fn");
        let alone = format!("\"{name}\"");
        let is_last = path == name || path.ends_with(&format!(",{name}"));
        let within = match path.as_str() {
            _ if asked.is_calls => alone.clone(),
            "" => alone.clone(),
            _ if is_last => path.clone(),
            _ => format!("{path},{alone}"),
        };
        let words = [within, alone]
            .iter()
            .map(|fn_| words(fn_))
            .find(|words| self.text(shown, words).is_some())
            .expect("an answer");
        let rows = self.rows(shown, &words).expect("rows");
        let object = self.object(shown, &words).expect("an answer");
        let heads = self.heads(shown, &words);
        let all = object["rows"].as_array().expect("rows");
        let has = |column: &str| all.iter().any(|row| !row[column].is_null());
        let cost = if !asked.is_exclusive && has("cumulative") {
            "(inc)"
        } else {
            "(exc)"
        };
        let at = |ending: &str| heads.iter().position(|head| head.ends_with(ending));
        let total = &object[if asked.of_selection {
            "selected"
        } else {
            "total"
        }];
        let is_hidden = |shown: &mut Shown, key: &str| shown.state(key) == "hidden";
        let [no_blank, no_uncalled] = ["blank", "uncalled"].map(|key| is_hidden(shown, key));
        let mut expected = Vec::new();
        for (row, cells) in all.iter().zip(rows) {
            let code = row["code"].as_str().map(str::trim);
            let is_blank = code.is_some_and(|code| code.is_empty() || code.starts_with('⍝'));
            let calls = row["calls"].as_f64();
            let is_called = calls.map_or_else(
                || {
                    ["exclusive", "cumulative", "callees"]
                        .iter()
                        .any(|column| !row[column].is_null())
                },
                |calls| calls > 0.0,
            );
            if no_blank && is_blank || no_uncalled && !is_called {
                continue;
            }
            let cell = |ending: &str| {
                let text = at(ending).map_or("", |at| cells[at].as_str());
                if text == "-" { "" } else { text }.trim().to_owned()
            };
            let value = &row[if cost == "(inc)" {
                "cumulative"
            } else {
                "exclusive"
            }];
            let share = value.as_f64().map_or_else(String::new, |value| {
                tenths(100.0 * value / total.as_f64().expect("a cost"))
            });
            let col = row["col"]
                .as_u64()
                .map_or_else(String::new, |col| format!(":{col}"));
            let mut cells = vec![format!("{}{col}", row["line"])];
            if has("calls") {
                let calls = row["calls"].as_u64();
                cells.push(match calls {
                    Some(calls) if is_called => calls.to_string(),
                    None if is_called => "-".to_owned(),
                    _ => String::new(),
                });
            }
            cells.extend([cell(cost), share]);
            cells.extend(has("code").then(|| cell("Code")));
            cells.extend(has("callees").then(|| cell("Callees")));
            expected.push(cells);
        }
        assert_eq!(shown.rows(&of), expected, "{words:?}");
        if pane == "line" {
            let line = shown.state("line");
            let marked = shown.texts(&format!("{of} tr[aria-selected=true] td:first-child"));
            let expected: Vec<&str> = expected
                .iter()
                .map(|cells| cells[0].as_str())
                .filter(|cell| cell.split(':').next() == Some(&line))
                .collect();
            assert_eq!(marked, expected, "{words:?}");
        }
    }

    /// The titles of a report's columns.
    fn heads(&mut self, shown: &Shown, words: &[String]) -> Vec<String> {
        let words = [words, &["--format".into(), "markdown".into()]].concat();
        let text = self.text(shown, &words).expect("an answer");
        let head = text.lines().find(|line| line.starts_with('|'));
        cells(head.expect("a table"))
    }
}

impl Asked {
    /// What the address of the page asks.
    fn of(shown: &mut Shown) -> Self {
        let mut words = vec!["--db".to_owned(), "x.db".to_owned()];
        for flag in ["run", "metric", "fn"] {
            let value = shown.state(flag);
            if !value.is_empty() {
                words.push(format!("--{flag}={value}"));
            }
        }
        let of_selection = shown.state("percent-of") == "selection";
        if of_selection {
            words.extend(["--percent-of".to_owned(), "selection".to_owned()]);
        }
        Self {
            words,
            is_calls: shown.state("report") == "calls",
            is_exclusive: !shown.state("exclusive").is_empty(),
            of_selection,
        }
    }

    /// The command of a report.
    fn report(&self, report: &str, is_exclusive: bool) -> Vec<String> {
        let mut words = vec!["report".to_owned(), report.to_owned()];
        words.extend(self.words.iter().cloned());
        words.extend(is_exclusive.then(|| "--exclusive".to_owned()));
        words
    }
}

/// A share, in percent; what rounds to nothing is not less than nothing.
fn tenths(share: f64) -> String {
    let text = format!("{share:.1}");
    if text == "-0.0" {
        "0.0".to_owned()
    } else {
        text
    }
}

/// Returns the cells of a row of Markdown without blanks around them.
fn cells(row: &str) -> Vec<String> {
    let cells = markdown_rows::cells(row).into_iter();
    cells.map(|cell| cell.trim().to_owned()).collect()
}
