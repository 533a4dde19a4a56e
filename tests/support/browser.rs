//! A browser without a window, Chromium, by the `DevTools` protocol: messages of JSON, ended by
//! zeros, through two pipes, so that no port is open and no message gets lost.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::tools;

/// A running browser with one page. It ends when this is dropped.
pub(crate) struct Browser {
    child: Child,
    /// To the browser, until it shall end.
    commands: Option<PipeWriter>,
    answers: BufReader<PipeReader>,
    last: u64,
    session: String,
    /// What the page has fetched.
    pub(crate) requests: BTreeSet<String>,
    /// What went wrong first in scripts of the page.
    pub(crate) fault: Option<String>,
    /// What the browser or scripts have complained of on the console.
    pub(crate) complaints: Vec<String>,
}

impl Browser {
    /// Starts the program, which keeps what it has to keep in a folder.
    pub(crate) fn start(program: &Path, folder: &Path) -> Self {
        let (commands_read, commands) = std::io::pipe().expect("a pipe");
        let (answers, answers_write) = std::io::pipe().expect("a pipe");
        // The protocol wants its pipes as the third and the fourth file.
        let mut shell = tools::shell();
        let child = shell
            .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>&2", "sh"])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe", "--disable-gpu"])
            // Containers have no right to make the namespaces of its sandbox, and little shared memory.
            .args(["--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", folder.display()))
            .arg("about:blank")
            .stdin(Stdio::from(commands_read))
            .stdout(Stdio::from(answers_write))
            .stderr(Stdio::null())
            .spawn()
            .expect("every Unix has a shell");
        let mut browser = Self {
            child,
            commands: Some(commands),
            answers: BufReader::new(answers),
            last: 0,
            session: String::new(),
            requests: BTreeSet::new(),
            fault: None,
            complaints: Vec::new(),
        };
        let page = browser.ask("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": page["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", &attach);
        session["sessionId"]
            .as_str()
            .expect("a session")
            .clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// The answer to a command.
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut command = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = self.session.clone().into();
        }
        let commands = self.commands.as_mut().expect("the browser has not ended");
        write!(commands, "{command}\0").expect("the browser runs");
        loop {
            let message = self.message();
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// The next message, which is noted if it tells of something.
    fn message(&mut self) -> Value {
        let mut message = Vec::new();
        self.answers
            .read_until(0, &mut message)
            .expect("the browser runs");
        assert_eq!(message.pop(), Some(0), "the browser has ended");
        let message: Value = serde_json::from_slice(&message).expect("JSON");
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().expect("a URL");
                self.requests.insert(url.to_owned());
            }
            Some("Runtime.exceptionThrown") => {
                let fault = parameters["exceptionDetails"].to_string();
                self.fault.get_or_insert(fault);
            }
            // Policies of content that are violated are said here.
            Some("Log.entryAdded") => self.complaints.push(parameters["entry"].to_string()),
            Some("Runtime.consoleAPICalled") => self.complaints.push(parameters.to_string()),
            _ => {}
        }
        message
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
        while self.message()["method"] != "Page.loadEventFired" {}
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
        let blank = self.ask("Page.navigate", &json!({"url": "about:blank"}));
        assert!(blank["errorText"].is_null(), "{blank}");
        while self.message()["method"] != "Page.loadEventFired" {}
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
        // It ends when nothing can come any more, and takes the processes that it has started with it.
        drop(self.commands.take());
        let _ = self.child.wait();
    }
}
