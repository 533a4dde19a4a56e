//! Pages in Chromium by the `DevTools` protocol: messages of JSON, each ended by a zero byte, through
//! two pipes, so that no port is open and no message gets lost.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, PipeWriter, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::tools;

/// Time after which a browser that sends no message has failed.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// Browsers that no test uses at the moment.
static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// Runs Chromium with a folder of its own, which is removed at the end, also after the test program
/// was killed. The protocol uses file descriptors 3 and 4. SIGUSR1 ends a browser that hangs.
const SCRIPT: &str = "
    exec 3<&0 4>&1 </dev/null >/dev/null
    folder=$(mktemp -d) || exit
    \"$@\" --user-data-dir=\"$folder\" &
    exec 3<&- 4>&-
    trap 'trap : USR2; kill -USR2 0' USR1
    wait || wait
    rm -rf \"$folder\"";

/// A Chromium process. It ends with this value, or with the test program.
struct Process {
    shell: Child,
    /// The pipe to the browser, which ends when this is closed.
    commands: Option<PipeWriter>,
    messages: Receiver<Vec<u8>>,
    /// The number of the last command.
    last: u64,
}

impl Process {
    /// Starts a browser without a page. Skips the test if Chromium is missing.
    fn start() -> Self {
        // It shows the same and needs half the processor time of the whole browser.
        let program = tools::find("chromium-headless-shell");
        let program = program.unwrap_or_else(|| tools::require("chromium"));
        let (commands_read, commands) = io::pipe().expect("pipes are available");
        let (answers, answers_write) = io::pipe().expect("pipes are available");
        let mut shell = tools::shell();
        shell
            .args(["-c", SCRIPT, "sh"])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe"])
            // Containers forbid the namespaces of the sandbox, and have little shared memory.
            .args(["--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--hide-scrollbars", "--force-color-profile=srgb"])
            .args(["--disable-gpu", "--no-startup-window"])
            .stdin(Stdio::from(commands_read))
            .stdout(Stdio::from(answers_write))
            .stderr(Stdio::null());
        // SIGUSR2 is for the shell and all that it starts.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            let messages = BufReader::new(answers).split(0);
            messages
                .map_while(Result::ok)
                .try_for_each(|message| sender.send(message))
        });
        Self {
            shell: shell.spawn().expect("every Unix has a shell"),
            commands: Some(commands),
            messages,
            last: 0,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without this pipe, the browser ends itself and the processes that it has started.
        drop(self.commands.take());
        loop {
            match self.messages.recv_timeout(TIME_LIMIT) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => drop(tools::kill(self.shell.id(), "USR1")),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let _ = self.shell.wait();
    }
}

/// Ends all browsers. To be called when all tests have ended.
pub(crate) fn end_all() {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// A page in a browser, with storage, cookies and settings of its own.
///
/// The browser serves one test at a time. The next test uses it again, unless a test failed in it.
pub(crate) struct Browser {
    process: Option<Process>,
    /// The browser context, which isolates the page from those of earlier tests.
    context: Value,
    /// The session of the protocol that is attached to the page.
    session: Value,
    /// URLs that the page has fetched.
    pub(crate) requests: BTreeSet<String>,
    /// The first exception in scripts of the page.
    pub(crate) fault: Option<String>,
    /// Messages of the browser and of scripts on the console.
    pub(crate) complaints: Vec<String>,
}

impl Browser {
    /// Opens an empty page. Skips the test if Chromium is missing.
    pub(crate) fn start() -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut browser = Self {
            process: Some(idle.unwrap_or_else(Process::start)),
            context: Value::Null,
            session: Value::Null,
            requests: BTreeSet::new(),
            fault: None,
            complaints: Vec::new(),
        };
        let context = browser.ask("Target.createBrowserContext", &json!({}));
        browser.context = context["browserContextId"].clone();
        let page = json!({"url": "about:blank", "browserContextId": browser.context});
        let page = browser.ask("Target.createTarget", &page);
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        browser.session = browser.ask("Target.attachToTarget", &attach)["sessionId"].clone();
        for domain in ["Inspector", "Page", "Runtime", "Network", "Log"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Returns the answer of the page to a command.
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let session = self.session.clone();
        self.ask_session(&session, method, parameters)
    }

    /// Returns the answer of a session to a command, or that of the browser if the session is null.
    fn ask_session(&mut self, session: &Value, method: &str, parameters: &Value) -> Value {
        let process = self.process.as_mut().expect("dropped last");
        process.last += 1;
        let number = process.last;
        let mut command = json!({"id": number, "method": method, "params": parameters});
        if !session.is_null() {
            command["sessionId"] = session.clone();
        }
        let commands = process.commands.as_mut().expect("dropped last");
        write!(commands, "{command}\0")
            .unwrap_or_else(|error| panic!("{method}: the browser has ended: {error}"));
        loop {
            let message = self.message(method);
            if message["id"] == number {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// Returns the next message, and keeps what it reports of the page.
    ///
    /// # Panics
    /// If the page or the browser has crashed or sends nothing, with the method that waits.
    fn message(&mut self, method: &str) -> Value {
        let process = self.process.as_ref().expect("dropped last");
        let message = match process.messages.recv_timeout(TIME_LIMIT) {
            Ok(message) => message,
            Err(RecvTimeoutError::Disconnected) => panic!("{method}: the browser has ended"),
            Err(RecvTimeoutError::Timeout) => {
                panic!("{method}: no message from the browser within {TIME_LIMIT:?}")
            }
        };
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        if message["sessionId"] != self.session {
            // From the page of an earlier test, or from the browser.
            return message;
        }
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Inspector.targetCrashed") => panic!("{method}: the page has crashed"),
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().expect("a URL");
                self.requests.insert(url.to_owned());
            }
            Some("Runtime.exceptionThrown") => {
                let fault = parameters["exceptionDetails"].to_string();
                self.fault.get_or_insert(fault);
            }
            // Violations of the content security policy are reported here.
            Some("Log.entryAdded") => self.complaints.push(parameters["entry"].to_string()),
            Some("Runtime.consoleAPICalled") => self.complaints.push(parameters.to_string()),
            _ => {}
        }
        message
    }

    /// Saves downloads of the page in a folder.
    pub(crate) fn save_into(&mut self, folder: &Path) {
        let behaviour = json!({
            "behavior": "allow",
            "browserContextId": self.context,
            "downloadPath": folder,
        });
        self.ask_session(&Value::Null, "Browser.setDownloadBehavior", &behaviour);
    }

    /// A window of this size.
    pub(crate) fn resize(&mut self, width: f64, height: f64) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Whether scripts of pages run.
    pub(crate) fn scripts(&mut self, are_off: bool) {
        self.ask(
            "Emulation.setScriptExecutionDisabled",
            &json!({"value": are_off}),
        );
    }

    /// Opens a file, and waits until it is there.
    pub(crate) fn open(&mut self, file: &Path) {
        self.open_at(file, "");
    }

    /// The same with a fragment, `#` included.
    pub(crate) fn open_at(&mut self, file: &Path, fragment: &str) {
        self.open_url(&format!("file://{}{fragment}", file.display()));
    }

    /// Opens an address, and waits until it is there.
    pub(crate) fn open_url(&mut self, url: &str) {
        let opened = self.ask("Page.navigate", &json!({"url": url}));
        assert!(opened["errorText"].is_null(), "{url}: {opened}");
        loop {
            let message = self.message(url);
            if message["method"] == "Page.loadEventFired" && message["sessionId"] == self.session {
                return;
            }
        }
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "returnByValue": true});
        let answer = self.ask("Runtime.evaluate", &ask);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// A click at a place of the window.
    pub(crate) fn click(&mut self, x: f64, y: f64) {
        self.click_as(x, y, Click::default());
    }

    /// A click of some sort.
    pub(crate) fn click_as(&mut self, x: f64, y: f64, click: Click) {
        for count in 1..=click.times {
            for kind in ["mousePressed", "mouseReleased"] {
                let event = json!({
                    "type": kind,
                    "x": x,
                    "y": y,
                    "button": click.button,
                    "clickCount": count,
                    "modifiers": u8::from(click.alt),
                });
                self.ask("Input.dispatchMouseEvent", &event);
            }
        }
    }

    /// Presses a key that writes nothing but, at most, its own text.
    pub(crate) fn key(&mut self, key: &str) {
        let down = if key.chars().count() == 1 {
            json!({"type": "keyDown", "key": key, "text": key})
        } else {
            json!({"type": "rawKeyDown", "key": key})
        };
        self.ask("Input.dispatchKeyEvent", &down);
        self.ask(
            "Input.dispatchKeyEvent",
            &json!({"type": "keyUp", "key": key}),
        );
    }

    /// Writes where the cursor is.
    pub(crate) fn write(&mut self, text: &str) {
        self.ask("Input.insertText", &json!({"text": text}));
    }

    /// What the window shows.
    pub(crate) fn screenshot(&mut self) -> Screenshot {
        let shot = self.ask("Page.captureScreenshot", &json!({"format": "png"}));
        Screenshot(shot["data"].as_str().expect("a picture").to_owned())
    }

    /// Which part of a picture has another colour than its paper. The browser counts: it knows best
    /// how to read what it has written. The page is closed for that.
    pub(crate) fn painted(&mut self, shot: &Screenshot, paper: [u8; 3]) -> f64 {
        self.scripts(false);
        self.open_url("about:blank");
        let script = format!(
            "(async () => {{
                const image = new Image();
                image.src = 'data:image/png;base64,{}';
                await image.decode();
                const canvas = document.createElement('canvas');
                [canvas.width, canvas.height] = [image.width, image.height];
                const context = canvas.getContext('2d');
                context.drawImage(image, 0, 0);
                const pixels = context.getImageData(0, 0, image.width, image.height).data;
                let painted = 0;
                for (let at = 0; at < pixels.length; at += 4)
                    painted += {paper:?}.some((part, which) => pixels[at + which] !== part);
                return painted / (pixels.length / 4);
            }})()",
            shot.0
        );
        let ask = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let answer = self.ask("Runtime.evaluate", &ask);
        answer["result"]["value"]
            .as_f64()
            .unwrap_or_else(|| panic!("{answer}"))
    }
}

/// How often is clicked, with which button and key.
#[derive(Clone, Copy)]
pub(crate) struct Click {
    pub(crate) times: u8,
    pub(crate) button: &'static str,
    pub(crate) alt: bool,
}

impl Default for Click {
    fn default() -> Self {
        Self {
            times: 1,
            button: "left",
            alt: false,
        }
    }
}

/// A picture of a window, PNG in base64.
pub(crate) struct Screenshot(String);

impl Screenshot {
    /// The bytes of the file.
    pub(crate) fn png(&self) -> Vec<u8> {
        BASE64_STANDARD.decode(&self.0).expect("base64")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // After a failure, nothing is known about the browser.
        if !thread::panicking() {
            let context = json!({"browserContextId": self.context});
            self.ask_session(&Value::Null, "Target.disposeBrowserContext", &context);
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            idle.extend(self.process.take());
        }
    }
}
