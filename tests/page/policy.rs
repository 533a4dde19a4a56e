//! What a page lets in.

use std::fs;

use crate::shown::browser;

/// Scripts and styles are those of the page: their hashes are in its policy, and nothing else may be there.
#[test]
fn the_policy_lets_nothing_else_in() {
    let mut shown = browser("policy");
    let file = shown.folder.join("a.folded");
    fs::write(&file, "a;b 1\n").expect("a file");
    shown.import(&file, &[]);
    shown.write(&["--no-sql"]);
    shown.open(&[]);
    shown.was_quiet();
    let policy = "document.querySelector('meta[http-equiv]').content";
    let policy = shown.browser.value(policy);
    let policy = policy.as_str().expect("text");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    assert!(
        !policy.contains("unsafe") && !policy.contains("http"),
        "{policy}"
    );
    // The check can fail: what is put into the page from outside is refused, and complained of.
    let tries = "(() => {
        const script = document.createElement('script');
        try { script.textContent = 'document.title = \"in\"'; } catch { /* trusted types */ }
        document.body.append(script);
        const image = document.createElement('img');
        image.src = 'https://example.org/x.png';
        document.body.append(image);
        document.body.setAttribute('style', 'color: red');
        return document.title;
    })()";
    assert_ne!(shown.browser.value(tries), "in");
    shown.wait("true");
    let refused = shown.browser.complaints.join("\n");
    for directive in ["img-src", "style-src"] {
        assert!(
            refused.contains(directive) || refused.contains("default-src"),
            "{directive}: {refused}"
        );
    }
    assert!(!shown.browser.complaints.is_empty());
}
