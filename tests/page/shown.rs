//! A page in a browser, and the command line that it is compared with.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use serde_json::{Value, json};

use crate::support::browser::{Browser, Click};
use crate::support::case_files::repository_path;
use crate::support::program;

/// The window.
pub(crate) const WINDOW: [f64; 2] = [1280.0, 800.0];

/// How often a page is asked whether it shows what it shall.
const LOOKS: usize = 5_000;

/// A page in a browser.
pub(crate) struct Shown {
    pub(crate) browser: Browser,
    pub(crate) folder: PathBuf,
    pub(crate) html: PathBuf,
    /// Where the database is served, if it is.
    pub(crate) server: Option<Served>,
    way: Way,
    /// True for a page of runs, false for a page of a comparison.
    is_of_runs: bool,
}

/// Where a page is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A file, without a network.
    File,
    /// The server of this machine.
    Server,
}

/// A server. It ends when this is dropped.
pub(crate) struct Served {
    child: Child,
    /// The address of the page.
    pub(crate) url: String,
}

impl Served {
    /// Serves a database of a folder.
    pub(crate) fn start(folder: &Path, words: &[&str]) -> Self {
        let mut child = program::command()
            .args(["serve", "x.db", "--no-open"])
            .args(words)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let mut url = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut url).expect("a line");
        url.truncate(url.trim_end().len());
        assert!(url.starts_with("http://127.0.0.1:"), "{url:?}");
        Self { child, url }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a view offers of its rows.
#[derive(Debug)]
pub(crate) struct Offered {
    pub(crate) command: String,
    pub(crate) sql: String,
    pub(crate) json: Value,
}

/// Runs the program in a folder.
pub(crate) fn profdb(folder: &Path, words: &[&str]) -> Output {
    program::command()
        .args(words)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

/// What the program writes, which has to succeed.
#[track_caller]
pub(crate) fn said(folder: &Path, words: &[&str]) -> String {
    let output = profdb(folder, words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// An empty folder for a test.
pub(crate) fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("page")
        .join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A file of the repository.
pub(crate) fn repository(name: &str) -> PathBuf {
    repository_path(name)
}

/// Returns a browser and a folder for a test that opens pages as files.
pub(crate) fn browser(test: &str) -> Shown {
    browser_for(test, Way::File)
}

/// Returns a page and a folder for a test that opens pages in the given way. Skips the test without Chromium.
pub(crate) fn browser_for(test: &str, way: Way) -> Shown {
    let mut browser = Browser::start();
    let folder = match way {
        Way::File => folder(test),
        Way::Server => folder(&format!("served-{test}")),
    };
    let [width, height] = WINDOW;
    browser.resize(width, height);
    // Nothing may be fetched, and nothing can be.
    let offline =
        json!({"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0});
    if way == Way::File {
        browser.ask("Network.emulateNetworkConditions", &offline);
    }
    let html = folder.join("page.html");
    Shown {
        browser,
        folder,
        html,
        server: None,
        way,
        is_of_runs: false,
    }
}

impl Shown {
    /// Whether pages come from a server.
    pub(crate) fn is_served(&self) -> bool {
        self.way == Way::Server
    }

    /// Imports a file into the database of the test.
    #[track_caller]
    pub(crate) fn import(&self, file: &Path, words: &[&str]) {
        let name = file.display().to_string();
        let import = ["import", "--db", "x.db", &name];
        said(&self.folder, &[&import[..], words].concat());
    }

    /// Writes the page of the run that was imported last, or serves it.
    #[track_caller]
    pub(crate) fn write(&mut self, words: &[&str]) {
        self.is_of_runs = true;
        if self.way == Way::Server {
            // A server has all runs, and leaves nothing out.
            assert!(matches!(words, [] | ["--runs", _]), "{words:?}");
            self.server = Some(Served::start(&self.folder, &[]));
            return;
        }
        let report = ["report", "--db", "x.db", "--html", "page.html"];
        said(&self.folder, &[&report[..], words].concat());
    }

    /// Opens the page in a state; if the state has no view, in that of the panes of lines.
    #[track_caller]
    pub(crate) fn open(&mut self, state: &[(&str, &str)]) {
        let fragment = self.fragment(state);
        self.open_address(&fragment);
    }

    /// Opens the page in a state as it is, so that the page chooses the view.
    #[track_caller]
    pub(crate) fn open_first(&mut self, state: &[(&str, &str)]) {
        self.open_address(&fragment(state));
    }

    #[track_caller]
    fn open_address(&mut self, fragment: &str) {
        self.browser.open(Path::new("/dev/null"));
        match &self.server {
            Some(server) => {
                let url = format!("{}{fragment}", server.url);
                self.browser.open_url(&url);
            }
            None => self.browser.open_at(&self.html, fragment),
        }
        self.settle();
    }

    /// Returns the address of a state with a view.
    fn fragment(&self, state: &[(&str, &str)]) -> String {
        if !self.is_of_runs || state.iter().any(|(key, _)| *key == "view") {
            return fragment(state);
        }
        fragment(&[&[("view", "panes")], state].concat())
    }

    /// Goes to another state of the page that is open.
    #[track_caller]
    pub(crate) fn go(&mut self, state: &[(&str, &str)]) {
        let to = json!(self.fragment(state));
        self.browser.value(&format!("location.hash = {to}"));
        self.settle();
    }

    /// Waits until the page shows what its address says.
    #[track_caller]
    pub(crate) fn settle(&mut self) {
        let is_shown = "document.getElementById('page')?.dataset.shown === location.hash";
        self.wait(is_shown);
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait(&mut self, expression: &str) {
        for _ in 0..LOOKS {
            if self.browser.value(expression) == true {
                return;
            }
            assert_eq!(self.browser.fault, None, "{expression}");
            self.wait_a_moment();
        }
        panic!("{expression} has not become true: {}", self.text("body"));
    }

    /// Lets the page do what it has to do.
    fn wait_a_moment(&mut self) {
        let turn = json!({"expression": "new Promise((done) => setTimeout(done, 1))", "awaitPromise": true});
        self.browser.ask("Runtime.evaluate", &turn);
    }

    /// What the address says after `#`: names and values.
    pub(crate) fn state(&mut self, key: &str) -> String {
        let script = format!(
            "new URLSearchParams(location.hash.slice(1)).get({}) ?? ''",
            json!(key)
        );
        self.browser
            .value(&script)
            .as_str()
            .expect("text")
            .to_owned()
    }

    /// The text of the first element that a selector of CSS finds.
    #[track_caller]
    pub(crate) fn text(&mut self, selector: &str) -> String {
        let script = format!("document.querySelector({})?.innerText", json!(selector));
        let text = self.browser.value(&script);
        text.as_str()
            .unwrap_or_else(|| panic!("there is no {selector}"))
            .to_owned()
    }

    /// The texts of all elements that a selector finds.
    pub(crate) fn texts(&mut self, selector: &str) -> Vec<String> {
        let script = format!(
            "[...document.querySelectorAll({})].map((element) => element.innerText.trim())",
            json!(selector)
        );
        let texts = self.browser.value(&script);
        let texts = texts.as_array().expect("a list").iter();
        texts
            .map(|text| text.as_str().expect("text").to_owned())
            .collect()
    }

    /// What the pieces of a pie are called in its legend.
    pub(crate) fn labels(&mut self, pane: &str) -> Vec<String> {
        let script = format!(
            "[...document.querySelectorAll({})].map((label) => label.textContent)",
            json!(format!("{pane} .legend li"))
        );
        serde_json::from_value(self.browser.value(&script)).expect("texts")
    }

    /// The cells of the rows of a table.
    pub(crate) fn rows(&mut self, selector: &str) -> Vec<Vec<String>> {
        let script = format!(
            "[...document.querySelectorAll({})].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))",
            json!(format!("{selector} tbody tr[data-row]"))
        );
        let rows = self.browser.value(&script);
        serde_json::from_value(rows).expect("rows")
    }

    /// The middle of the first element that a selector finds and whose text, or name for those who do not see, begins so.
    #[track_caller]
    pub(crate) fn place(&mut self, selector: &str, text: &str) -> [f64; 2] {
        let script = format!(
            "(() => {{
                const said = (element) => element.getAttribute('aria-label') ?? element.innerText.trim();
                const element = [...document.querySelectorAll({})].find((element) => said(element).startsWith({}));
                if (!element) return null;
                element.scrollIntoView({{block: 'nearest'}});
                const place = element.getBoundingClientRect();
                // The middle of what surrounds a slice need not be in it.
                const middle = element.getPointAtLength?.(0);
                if (middle === undefined) return [place.left + place.width / 2, place.top + place.height / 2];
                const slice = element.getTotalLength();
                const at = element.getPointAtLength(slice / 2).matrixTransform(element.getScreenCTM());
                const start = new DOMPoint(0, 0).matrixTransform(element.getScreenCTM());
                return [(at.x + start.x) / 2, (at.y + start.y) / 2];
            }})()",
            json!(selector),
            json!(text)
        );
        let place = self.browser.value(&script);
        assert!(
            !place.is_null(),
            "there is no {selector} that begins with {text:?}"
        );
        [0, 1].map(|at| place[at].as_f64().expect("a number"))
    }

    /// Clicks something.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str, text: &str, click: Click) {
        let [x, y] = self.place(selector, text);
        self.browser.click_as(x, y, click);
        self.settle();
    }

    /// Clicks something with the right button, and an entry of the menu.
    #[track_caller]
    pub(crate) fn choose(&mut self, selector: &str, text: &str, entry: &str) {
        self.click(selector, text, RIGHT);
        self.click(".menu button", entry, Click::default());
    }

    /// Chooses from a drop-down.
    #[track_caller]
    pub(crate) fn select(&mut self, selector: &str, value: &str) {
        let script = format!(
            "(() => {{
                const select = document.querySelector({});
                select.value = {};
                select.dispatchEvent(new Event('change', {{bubbles: true}}));
                return select.value;
            }})()",
            json!(selector),
            json!(value)
        );
        assert_eq!(self.browser.value(&script), value, "{selector}");
        self.settle();
    }

    /// What a view, or a part of it, offers.
    #[track_caller]
    pub(crate) fn offered(&mut self, within: &str) -> Offered {
        let [command, sql, json] =
            ["Command", "SQL", "JSON"].map(|what| self.offered_as(within, what));
        Offered {
            command: command.trim_end().to_owned(),
            sql,
            json: serde_json::from_str(&json).expect("JSON"),
        }
    }

    /// One of the texts that are offered.
    #[track_caller]
    pub(crate) fn offered_as(&mut self, within: &str, what: &str) -> String {
        self.show_offered(within, what);
        let text = self
            .browser
            .value("document.querySelector('dialog[open] textarea').value");
        self.close_dialog();
        text.as_str().expect("text").to_owned()
    }

    /// Opens one of the texts that are offered.
    #[track_caller]
    fn show_offered(&mut self, within: &str, what: &str) {
        let selector = json!(format!("{within} .offers"));
        self.wait(&format!(
            "document.querySelector({selector})?.disabled === false"
        ));
        self.browser
            .value(&format!("document.querySelector({selector}).click()"));
        let entry = format!(
            "[...document.querySelectorAll('.menu button')].find((entry) => entry.innerText === {}).click()",
            json!(what)
        );
        self.browser.value(&entry);
        self.wait("Boolean(document.querySelector('dialog[open] textarea')?.value)");
    }

    /// Closes the window in front of the page.
    #[track_caller]
    fn close_dialog(&mut self) {
        self.browser
            .value("document.querySelector('dialog[open]').close()");
        self.wait("document.querySelector('dialog') === null");
    }

    /// Compares what is offered with what the command that is offered says, and gives the latter.
    #[track_caller]
    pub(crate) fn is_as_said(&mut self, within: &str) -> Value {
        let Offered { command, sql, json } = self.offered(within);
        let words = shlex::split(&command).expect("words of a shell");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(words[0], "profdb");
        let answer = said(&self.folder, &[&words[1..], &["--format", "json"]].concat());
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        are_equal(&json, &answer, &command);
        let shown = said(&self.folder, &[&words[1..], &["--show-sql"]].concat());
        assert_eq!(sql, shown, "{command}");
        self.texts_are_as_said(within, &words[1..]);
        answer
    }

    /// Compares CSV and Markdown, byte by byte, with what the command of these words writes.
    #[track_caller]
    pub(crate) fn texts_are_as_said(&mut self, within: &str, words: &[&str]) {
        for (what, format) in [("CSV", "csv"), ("Markdown", "markdown")] {
            let found = self.offered_as(within, what);
            let expected = said(&self.folder, &[words, &["--format", format]].concat());
            assert!(
                found == expected,
                "{words:?}: {what}: {}",
                first_difference(&found, &expected)
            );
        }
    }

    /// Keeps one of the texts that are offered, by the button for that: the name of the file, and what is in it.
    #[track_caller]
    pub(crate) fn saved(&mut self, within: &str, what: &str) -> (String, String) {
        let folder = self.folder.join("saved");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("a folder");
        self.browser.save_into(&folder);
        self.show_offered(within, what);
        self.click("dialog .buttons button", "Save", Click::default());
        self.close_dialog();
        // It has another name until it is complete.
        for _ in 0..LOOKS {
            let file = fs::read_dir(&folder).expect("a folder").next();
            let name = file.map(|file| file.expect("a file").file_name());
            let name = name.map(|name| name.into_string().expect("text"));
            if let Some(name) = name.filter(|name| !name.ends_with(".crdownload")) {
                let text = fs::read_to_string(folder.join(&name)).expect("text");
                return (name, text);
            }
            self.wait_a_moment();
        }
        panic!("{what} was not kept");
    }

    /// Nothing was complained of, and nothing but the file was loaded.
    #[track_caller]
    pub(crate) fn was_quiet(&self) {
        assert_eq!(self.browser.fault, None);
        assert_eq!(self.browser.complaints, Vec::<String>::new());
        for request in &self.browser.requests {
            // Of the servers of a test only the last is still there.
            let is_served = self.server.is_some() && request.starts_with("http://127.0.0.1:");
            let is_ours = is_served
                || request.starts_with("file://")
                // SQLite runs in a thread that is made of bytes of the page.
                || request.starts_with("blob:null/")
                || ["about:blank", "data:,"].contains(&request.as_str());
            assert!(is_ours, "{request:.200}");
        }
    }
}

/// The first line that two texts do not share.
pub(crate) fn first_difference(one: &str, other: &str) -> String {
    let lines = |text: &str| -> Vec<String> {
        let lines = text
            .split('\n')
            .map(|line| line.chars().take(400).collect());
        lines.chain([String::new()]).collect()
    };
    let (one, other) = (lines(one), lines(other));
    let at = one.iter().zip(&other).position(|(one, other)| one != other);
    at.map_or_else(
        || format!("{} and {} lines", one.len(), other.len()),
        |at| format!("line {at}: {:?} is not {:?}", one[at], other[at]),
    )
}

/// A double click.
pub(crate) const DOUBLE: Click = Click {
    times: 2,
    button: "left",
    alt: false,
};

/// A double click with Alt.
pub(crate) const DIRECT: Click = Click {
    times: 2,
    button: "left",
    alt: true,
};

/// A click with the right button.
pub(crate) const RIGHT: Click = Click {
    times: 1,
    button: "right",
    alt: false,
};

/// A state as the address has it.
fn fragment(state: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => {
                    char::from(byte).to_string()
                }
                _ => format!("%{byte:02X}"),
            })
            .collect()
    };
    let pairs: Vec<_> = state
        .iter()
        .map(|(key, value)| format!("{key}={}", encoded(value)))
        .collect();
    format!("#{}", pairs.join("&"))
}

/// Compares two answers. Sums of REALs in another order differ by their rounding, and so may the order of rows.
#[track_caller]
pub(crate) fn are_equal(page: &Value, command: &Value, about: &str) {
    for name in [
        "schema_version",
        "report",
        "title",
        "run",
        "metric",
        "unit",
        "total",
        "selected",
        "exclusive_left",
        "callers",
    ] {
        assert!(
            is_near(&page[name], &command[name]),
            "{about}: {name}: {} is not {}",
            page[name],
            command[name]
        );
    }
    assert_eq!(page["shown"]["rows"], command["shown"]["rows"], "{about}");
    let [one, other] = [page, command].map(|answer| &answer["shown"]["exclusive"]);
    assert!(is_near(one, other), "{about}: shown: {one} is not {other}");
    let [page, command] = [page, command].map(|answer| {
        let mut rows = answer["rows"].as_array().expect("rows").clone();
        rows.sort_by_cached_key(key);
        rows
    });
    assert_eq!(page.len(), command.len(), "{about}: rows");
    for (row, expected) in page.iter().zip(&command) {
        let [row, expected] = [row, expected].map(|row| row.as_object().expect("an object"));
        assert!(row.keys().eq(expected.keys()), "{about}: {row:?}");
        for (name, value) in row {
            // The running sum is that of an order in which equal costs may change places.
            let is_equal = name == "cum_pct" || is_near(value, &expected[name]);
            assert!(is_equal, "{about}: {name}: {row:?} is not {expected:?}");
        }
    }
}

/// What tells a row from others: texts, counts, and then costs as far as they are told apart.
fn key(row: &Value) -> String {
    let row = row.as_object().expect("an object");
    let (costs, names): (Vec<_>, Vec<_>) = row.iter().partition(|(name, _)| {
        [
            "exclusive",
            "cumulative",
            "seen",
            "avg",
            "cum_pct",
            "callees",
        ]
        .contains(&name.as_str())
            || name.ends_with("_pct")
    });
    let costs: Vec<_> = costs
        .iter()
        .filter(|(name, _)| *name != "cum_pct")
        .map(|(_, value)| value.as_f64().map(|cost| format!("{cost:30.3}")))
        .collect();
    format!("{names:?} {costs:?}")
}

fn is_near(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        // Costs are in nanoseconds, bytes or counts.
        (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs().max(other.abs()) + 1e-9,
        _ => one == other,
    }
}
